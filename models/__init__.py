"""What is run: one file for each reviewed system, and adapters for installed packages.

The catalogue gives them their names on the command line. A module here may import the harness, and
neither how scenarios are generated nor how results are reported.
"""
