"""What the article on the direction of context injection claims of each system, as data.

A claim names the checks whose violation would contradict it. Section 3 of the article for the reviewed
systems, section 4 for its own.
"""

from __future__ import annotations

from dataclasses import dataclass

ANCHORED = ("3.stale-question", "3.attach-not-latest", "3.head-dependent")
CUT_AT_TURNS = ("4.cut-inside-turn", "4.orphan-result", "4.question-lost")
ORDERED = ("2.reorder", "2.duplicate", "6.fold-incoherent")
CURRENT = ("1.stale-state", "1.state-missing")
STORED = ("5.regenerated", "5.summary-rewritten", "5.replay-differs")


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of the article on one system, in our words, and the checks that would contradict it."""

    system: str
    claim: str
    codes: tuple[str, ...]


CLAIMS: tuple[Claim, ...] = (
    Claim("deerflow", "attaches at the latest user message, found from the tail", ANCHORED),
    Claim("deerflow", "after the fold the order of the conversation is right", ORDERED),
    Claim("deerflow", "a reminder never changes, so the cached prefix stays", ("5.prefix-broken",)),
    Claim("deerflow", "the middleware for dynamic context does not compact", CUT_AT_TURNS),
    Claim("deerflow.stack", "the same in the stack that really runs", (*ANCHORED, *ORDERED)),
    Claim("deerflow.stack", "the system does not compact (its row: no cut, no summary)", CUT_AT_TURNS),
    Claim("codex", "initial context stands before the latest real user message", ANCHORED),
    Claim("codex", "compaction cuts land on boundaries, never inside a turn", CUT_AT_TURNS),
    Claim("codex", "each compacted window is stored and replayed as it is", STORED),
    Claim("gemini", "cuts only at messages of the user, never inside a turn", CUT_AT_TURNS),
    Claim("gemini", "the current question stays the last one", ANCHORED),
    Claim("gemini.rolling", "cuts at messages of the user (one row for both)", CUT_AT_TURNS),
    Claim("gemini.rolling", "the id of a summary follows from what it replaces: safe to replay", STORED),
    Claim("claude-code", "a summary replaces old history, at a threshold", ("5.regenerated", "5.thrash")),
    Claim("claude-code", "prompt caching keeps requests cheap", ("5.prefix-broken",)),
    Claim("hermes", "anchors are the last ones", ANCHORED),
    Claim("hermes", "the cached prefix is broken by compaction alone", ("5.prefix-broken",)),
    Claim("hermes", "what a batch compaction holds is never lost to a later one", ("6.recall",)),
    Claim("letta", "nothing is injected into the history", ("1.state-in-history", "1.speaks-as-user")),
    Claim("letta", "the history is never reordered", (*ORDERED, "2.id-rewrite", "2.content-changed")),
    Claim("letta", "memory is compiled where it is current", CURRENT),
    Claim("production", "state is rebuilt each turn, never in history", (*CURRENT, "1.state-in-history")),
    Claim("production", "events attach to the message that is being written", ANCHORED),
    Claim("production", "corrections keep id and place", (*ORDERED, "2.id-rewrite", "2.content-changed")),
    Claim("production", "the fold walks back to the start of a turn", CUT_AT_TURNS),
    Claim("production", "the folded record is stable, byte for byte", (*STORED, "5.prefix-broken")),
)
