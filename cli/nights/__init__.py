"""Nights on the command line: `sixfold nightly`, `findings` and `trend`.

A coordinator hands shards to pytest-xdist workers, or to a cluster, and enters what comes back in the
ledger. It may import everything of Sixfold.
"""
