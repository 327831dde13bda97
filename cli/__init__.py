"""The roof: the command line and the pytest plugin.

Here the harness, the strategies, the models and the reports are wired together; no other folder
imports this one.
"""
