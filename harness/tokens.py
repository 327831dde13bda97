"""Lineage tokens: unique marks in every utterance and state version.

A token survives any rewriting of the text around it, so the harness can tell which words of which
turn a message carries, whoever wrote the message.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

#: One token, and whether the words that the harness wrote behind it still follow ("⟦u1⟧ ask:").
TOKEN = re.compile(r"⟦([uats])(\d+(?:\.\w+)*)⟧( [a-z]+:)?")

_QUOTE_WORD = {"u": "ask", "a": "say", "t": "got", "s": "now"}

#: Filler words of a state version.
_STATE_WORDS = 2

_FILLER = ("harbour", "lantern", "meadow", "copper", "orchard", "signal", "window", "river")


class Mentions(NamedTuple):
    """What a text mentions: utterance tokens, the ones quoted with their words, state tokens."""

    utterances: tuple[str, ...]
    quoted: tuple[str, ...]
    states: tuple[str, ...]


_NOTHING = Mentions((), (), ())


@lru_cache(maxsize=4_096)
def token_text(token: str, words: int) -> str:
    """Return the full text of the utterance or state version `token`.

    `words` is the number of filler words, which scales the length (about seven characters a word).
    The word behind the token ("ask:", "say:", "got:", "now:") tells a quotation from a bare mention
    in a summary.
    """
    start = int("".join(c for c in token if c.isdigit()) or "0")
    filler = " ".join(_FILLER[(start + i) % len(_FILLER)] for i in range(words))
    return f"⟦{token}⟧ {_QUOTE_WORD[token[0]]}: {filler}".rstrip()


def state_text(token: str) -> str:
    """Return the text of the state version `token`, as its source gives it."""
    return token_text(token, _STATE_WORDS)


def bare(token: str) -> str:
    """Return the bare mention of `token`, as a summary would keep it."""
    return f"⟦{token}⟧"


@lru_cache(maxsize=4_096)
def mentions(text: str) -> Mentions:
    """Find the tokens in `text`, each once, in order of appearance."""
    if "⟦" not in text:
        return _NOTHING
    utterances: dict[str, None] = {}
    quoted: dict[str, None] = {}
    states: dict[str, None] = {}
    for kind, number, words in TOKEN.findall(text):
        token = kind + number
        if kind == "s":
            states[token] = None
            continue
        utterances[token] = None
        if words:
            quoted[token] = None
    return Mentions(tuple(utterances), tuple(quoted), tuple(states))


def unescaped(text: str) -> str:
    """Return `text` with the brackets of tokens restored where JSON escaped them."""
    return text.replace("\\u27e6", "⟦").replace("\\u27e7", "⟧")
