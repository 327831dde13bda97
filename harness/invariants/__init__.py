"""The six invariants, as checks that can be executed.

Each is a pure function of the ledger and a history: it judges the folded history and the model
requests after every step, never the shape of an update.
"""
