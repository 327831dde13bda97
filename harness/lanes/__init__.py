"""The two ways in which one scenario is played.

The reducer lane folds each update with the channels that the graph really builds, and is fast; the
graph lane runs the same steps through the real agent and a checkpointer, and confirms what was found.
"""
