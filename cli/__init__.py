"""The roof: the command line.

Here the harness, the strategies, the models and the reports are wired together; no other folder
imports this one.
"""
