"""Benchmarks: ratios of two measurements in one run, so that they mean the same on every machine.

`make bench` runs them all; `make bench ARGS="lanes search"` runs some.
"""
