"""A comparison as one comment of a pull request, which is edited in place: a hidden marker finds it again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ..harness.scenario import to_json
from ..harness.sides.result import KINDS, ComparisonResult, Difference, SideResult
from .comparison_words import TITLES, elsewhere, heading, packages, played, sureness, title_of, verdict
from .markdown import code_span, fenced
from .plan import in_one_line
from .side_by_side import Parting, parting, shown_later

#: Characters that a comment of GitHub may have, less what a workflow may put around it.
_LONGEST = 60_000


def marker(targets: Sequence[str]) -> str:
    """Return the hidden first line of the comment: the same for the same targets."""
    digest = hashlib.sha256("\0".join(targets).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"<!-- sixfold-pr {digest} -->"


def comment(
    results: Sequence[ComparisonResult], known: Sequence[str] = (), limit: int | None = _LONGEST
) -> str:
    """Return the comment, of at most `limit` characters. `known` are lines about accepted findings."""
    parts = [marker([side.target for result in results for side in result.sides[-1:]])]
    for result in results:
        parts.append(f"## Sixfold: {verdict(result)}")
        base, *heads = result.sides
        lines = [_side("base", base), *(_side("head", head) for head in heads)]
        lines += [
            f"- inconclusive: {code_span(trouble, 400)}" for side in result.sides for trouble in side.troubles
        ]
        noted = dict.fromkeys(remark for side in result.sides for remark in side.remarks)
        lines += [f"- note: {code_span(remark, 400)}" for remark in noted]
        lines.append(f"- {played(result)}")
        parts.append("\n".join(lines))
        for kind in KINDS:
            found = result.of_kind(kind)
            if found:
                parts.append(f"### {TITLES[kind]}")
                parts += [_told(difference, result) for difference in found]
    if known:
        parts += ["### Accepted findings", "\n".join(f"- {code_span(line, 400)}" for line in known)]
    text = "\n\n".join(parts) + "\n"
    if limit is not None and len(text) > limit:
        return _cut(parts, limit)
    return text


def _side(role: str, side: SideResult) -> str:
    known = packages(side)
    return f"- {role}: {code_span(side.label)}" + (f" {code_span(known)}" if known else "")


def _cut(parts: Sequence[str], limit: int) -> str:
    """Return as many whole parts as fit: what is cut inside a block would swallow what follows."""
    rest = "The rest is in the job summary.\n"
    room = limit - len(rest)
    kept: list[str] = []
    for part in parts:
        room -= len(part) + 2
        if room < 0:
            break
        kept.append(part)
    return "\n\n".join([*kept, rest])


def _told(difference: Difference, result: ComparisonResult) -> str:
    name = f"`{difference.code}`, {title_of(difference)}" if difference.code else title_of(difference)
    in_part = f"{heading(difference, result).lower()}: " if result.in_part(difference) else ""
    lines = [f"<details><summary>{in_part}{name.replace('`', '')}</summary>", ""]
    if difference.detail:
        lines += [f"{code_span(difference.by)}: {code_span(difference.detail, 300)}", ""]
    lines += [
        f"{sureness(difference)}{elsewhere(difference, result)}.",
        "",
        f"Plays: {code_span(in_one_line(difference.scenario), 600)}",
        "",
    ]
    parted = None
    if difference.kind != "still violated":
        parted = parting(difference.before, difference.after)
    if parted is not None:
        lines += _seen("What the model sees", parted)
        later = shown_later(difference)
        lines += [] if later is None else _seen("The check fails later, where the model sees", later)
    lines += ["The scenario, for `sixfold replay FILE TARGET`:", ""]
    lines += [fenced(to_json(difference.scenario).splitlines(), "json"), "", "</details>"]
    return "\n".join(lines)


def _seen(what: str, parted: Parting) -> list[str]:
    lines = [f"{what} in call {parted.call} of turn {parted.turn}:", ""]
    for side, rows in (("base", parted.before), ("head", parted.after)):
        lines += [fenced([f"{side}:", *rows], "text"), ""]
    return lines
