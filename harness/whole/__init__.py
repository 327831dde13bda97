"""Whole agents: compiled graphs that somebody else built, run as they are.

A stack of middleware is put into an agent of ours; a whole agent brings its own nodes, tools and prompts.
Sixfold gives it a scripted model and a checkpointer, and reads everything else from the outside.
"""
