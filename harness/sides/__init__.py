"""Sides: two or more builds of one middleware, each in a process of its own, on the same scenarios.

A side differs from another in its source, its Python environment, its environment variables or its target.
What is compared is what the checks say of each history, and what the model is sent. Imports the harness only.
"""
