"""`sixfold explain`: what a check judges and why."""

from __future__ import annotations

from difflib import get_close_matches

import typer

from ..harness.errors import SixfoldError
from ..harness.rules import RULES, rule_by_code
from ..reports.explanations import explain


def explain_command(code: str | None) -> None:
    """Print what there is to say about a check, or about all of an invariant; list the codes without.

    Raises `SixfoldError` for an unknown code.
    """
    if code is None:
        for check in RULES:
            typer.echo(f"{check.code:<28}{check.title}")
        return
    if code.isdigit() and any(check.invariant == int(code) for check in RULES):
        typer.echo("\n\n".join(explain(check) for check in RULES if check.invariant == int(code)))
        return
    found = rule_by_code(code)
    if found is None:
        close = get_close_matches(code, [check.code for check in RULES], n=1)
        hint = f"Did you mean {close[0]}?" if close else "`sixfold explain` lists all codes."
        raise SixfoldError(f"there is no check {code!r}", place="command line", remedy=hint)
    typer.echo(explain(found))
