"""What is generated: message shapes, turns, faults, and the state machine that draws them.

All of it ends in scenarios, which are plain data. Of the folders below `cli` this is the only one that
may import Hypothesis.
"""
