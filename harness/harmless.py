"""Text of candidates, files and errors, made harmless for terminals and reports."""

from __future__ import annotations

import unicodedata


def harmless(text: str, limit: int = 400) -> str:
    """Return `text` on one line, without control, bidirectional and surrogate characters."""
    clean = "".join(
        " "
        if char in "\n\t\r\u2028\u2029"
        else "�"
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn")
        else char
        for char in text[: limit * 2]
    )
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
