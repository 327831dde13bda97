"""Text of candidates and models for a page: nothing invisible in it, and never too long."""

from __future__ import annotations

import unicodedata

from ..harness.harmless import harmless

#: Control, format (bidirectional ones too), surrogate, private, unassigned; line and paragraph separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_BLANKS = "\n\t\r"


def shown(text: str, limit: int = 200) -> str:
    """Return `text` on one line of at most `limit` characters, what cannot be seen as `⟨U+202E⟩`."""
    return harmless("".join(map(_seen, text[: limit * 2])), limit)


def _seen(char: str) -> str:
    unseen = char not in _BLANKS and unicodedata.category(char) in _UNSEEN
    return f"⟨U+{ord(char):04X}⟩" if unseen else char


def wrapped(text: str, width: int, most: int) -> tuple[str, ...]:
    """Return `text` as at most `most` lines of at most `width` characters, broken at blanks if possible."""
    lines: list[str] = []
    rest = text.strip()
    while rest and len(lines) < most:
        if len(rest) <= width:
            return (*lines, rest)
        cut = rest.rfind(" ", width // 2, width + 1)
        cut = width if cut < 0 else cut
        lines.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    if rest and lines:
        lines[-1] = lines[-1][: width - 1] + "…"
    return tuple(lines)
