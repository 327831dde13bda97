"""The core: what a history is, how it is played, and how it is judged.

Scenarios go in and verdicts come out. Nothing here knows how scenarios are generated, which systems
there are to run, or who reads the result, so this folder imports none of its siblings.
"""
