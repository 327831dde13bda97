"""The ledger as plain data: saved with each history, so that both can be judged again from disk."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

from .ledger import Absence, Ledger, Utterance


def ledger_data(ledger: Ledger) -> dict[str, Any]:
    """Return the ledger as plain data; equal ledgers give equal data."""
    return {
        "utterances": [utterance._asdict() for utterance in ledger.utterances.values()],
        "turn_words": [[turn, list(words)] for turn, words in ledger.turn_words.items()],
        "states": [list(state) for state in ledger.states],
        "absences": [[token, list(map(astuple, spans))] for token, spans in ledger.absences.items()],
        "irregular": dict(ledger.irregular),
    }


def ledger_from(data: dict[str, Any]) -> Ledger:
    """Return the ledger that `ledger_data` wrote down. Raises `KeyError` or `TypeError` on damage."""
    utterances = (Utterance(**{**entry, "order": tuple(entry["order"])}) for entry in data["utterances"])
    return Ledger(
        {utterance.token: utterance for utterance in utterances},
        {turn: tuple(words) for turn, words in data["turn_words"]},
        [(at, token) for at, token in data["states"]],
        {token: [Absence(*span) for span in spans] for token, spans in data["absences"]},
        dict(data["irregular"]),
    )
