"""Scenarios in one line, for tables."""

from sixfold.reports.plan import in_one_line as short

__all__ = ["short"]
