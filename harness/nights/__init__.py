"""Nights: long runs in shards, and the ledger that knows from night to night what is new.

A shard is a seed and a number of histories: it can be played anywhere, again if it is lost, and its result
is counted once. It may import the harness.
"""
