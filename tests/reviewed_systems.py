"""What the findings on re-created systems are worth: each minimal scenario was looked at by hand, once."""

_STACK: dict[str, str] = {
    "4.cut-inside-turn": (
        "Real, by rule D8: the cut is made by count, as in LangChain's middleware, and the running turn is "
        "cut in two."
    ),
    "4.question-lost": (
        "Real, by rule D8: of a request in two messages only the latest is kept by its id; the first is "
        "summarised away while the model works on it."
    ),
    "4.rejected-request": (
        "Arguable, by rule D11: a call that only the raw view of a message names gets a result of its own, "
        "and the serialiser of another provider drops the call. It takes a thread that changes its provider."
    ),
    "5.regenerated": (
        "Real, by rule D8, and minor: when all that is new before the cut is an answer without words, the "
        "summary is summarised again."
    ),
}

#: By candidate and check: of which rule it is the consequence, and what it means.
REVIEWED: dict[tuple[str, str], str] = {
    # Hermes Agent: where the rule is that of 0.19.0, the real compressor does the same (docs/hermes.md).
    ("hermes", "3.stale-question"): (
        "Real, by H3 and H4: the head slid past tool results up to the new question, which the rule for a "
        "pair at the edge then summarises; the user's last words in sight are those of the turn before."
    ),
    ("hermes", "4.cut-inside-turn"): (
        "Real, by H3 and H4: the head may end behind the question of the running turn, and the tail is "
        "counted in tokens and messages; what lies between is summarised wherever the turn stands."
    ),
    ("hermes", "4.question-lost"): (
        "Real, by H4: only the last message of the user is kept in the tail, so of a question in two "
        "messages the first is summarised while the model works on it."
    ),
    ("hermes", "5.failed-summary-committed"): (
        "Real, by H7: the fallback keeps the last eight messages and clipped requests; what is older is "
        "removed and not recorded. With `abort_on_summary_failure` nothing is."
    ),
    ("hermes", "5.regenerated"): (
        "Real, by H3 and H6: when nothing but the head of the first compaction is left to remove, the "
        "summariser gets the earlier summary and no turn at all."
    ),
    ("hermes", "6.hook-error"): (
        "Real in 0.19.0: a head that slides past tool results to the end of the history puts the tail "
        "behind the last message, and the search for an earlier summary there ends in an IndexError."
    ),
    ("hermes", "6.recall"): (
        "Real, by H3 and H6: the second compaction removes the head that the first one kept, and the "
        "words under which a summary was merged; neither reaches the summariser."
    ),
    ("hermes.mended", "4.cut-inside-turn"): (
        "Real, by H3 and H4, which are not mended here: head and tail are counted in messages and tokens."
    ),
    ("hermes.micro", "4.orphan-result"): (
        "Arguable: a client loaded a user message between a call and its results; the exchange that is "
        "folded ends there, and micro compaction does not match what it leaves."
    ),
    ("hermes.micro", "5.regenerated"): (
        "Real, and small: an exchange without words, an empty answer, is folded like any other, and costs "
        "a model call that has nothing to add."
    ),
    # ------------------------------------------------------------ Codex, Gemini CLI
    ("codex", "2.content-changed"): (
        "Real, by rule C4: the user message that overflows the budget is truncated, and stays as the user's "
        "words. When little room is left, nothing of them can be read."
    ),
    ("codex", "4.cut-inside-turn"): (
        "Real, by rules C4 and C5: a compaction within a turn drops the turn's own answers and tool results, "
        "and keeps its question; what was done so far is in the summary only."
    ),
    ("codex", "5.failed-summary-committed"): (
        "Real, by rule C4: an empty answer of the model is committed as `(no summary available)`, and all "
        "that is left of the conversation is what the user said. Errors change nothing (C7)."
    ),
    ("codex", "5.regenerated"): (
        "Real, by rule C9, and rare: when what a compaction keeps is over the limit by itself, the next turn "
        "summarises the summary again. It takes a limit near the 20,000 tokens that are kept."
    ),
    ("codex", "6.recall"): (
        "Real, by rule C7: a history that exceeds the window loses its oldest items before it is summarised, "
        "and they are in no summary. It takes a turn that goes far over the limit in one step."
    ),
    ("gemini", "3.head-dependent"): (
        "Real, by rule G1: the environment context is the first message of the session, also where finished "
        "turns are there already, as in a session that is resumed."
    ),
    ("gemini", "4.cut-inside-turn"): (
        "Arguable: a client loaded a user message between a call and its results; it counts as a prompt, "
        "where the history may be cut (rule G4)."
    ),
    ("gemini", "4.orphan-result"): (
        "Arguable: the same cut parts the call from its results. No provider takes what was loaded either, "
        "but before the cut the call was there."
    ),
    ("gemini", "5.regenerated"): (
        "Real, by rules G2 and G4: a turn that is over the threshold by itself is never cut, so the snapshot "
        "before it is summarised again for every request, with two calls of the model each."
    ),
    ("gemini.rolling", "2.reorder"): (
        "Real: a fold parts a call from its result, and the request is repaired by putting the result in "
        "front of all that stands before the next answer, earlier questions included."
    ),
    ("gemini.rolling", "3.stale-question"): (
        "Real: only the last item is safe from ageing out. During a long tool loop the question is folded, "
        "and the last message in the user's role is a summary."
    ),
    ("gemini.rolling", "4.cut-inside-turn"): (
        "Real, by rule R2: nodes are folded one by one, whatever turn they belong to, the running one, too."
    ),
    ("gemini.rolling", "4.question-lost"): (
        "Real: the question ages out during a long tool loop. Rule R1 keeps the first prompt of the session, "
        "not the current one."
    ),
    ("gemini.rolling", "5.regenerated"): (
        "Arguable: a client delivered a result twice, and the second copy is folded into the summary of the "
        "first."
    ),
    ("gemini.rolling", "5.failed-summary-committed"): (
        "Real, by rule R5: an empty summary replaces the nodes as it comes."
    ),
    # ------------------------------------------------------------ deer-flow
    **{("deerflow.stack", code): words for code, words in _STACK.items()},
    **{("deerflow.delegating", code): words for code, words in _STACK.items()},
    ("deerflow.delegating", "5.prefix-broken"): (
        "Real, by rule D9: the record of delegations stands in front of the history, so each delegation "
        "makes the cached prefix useless."
    ),
    ("deerflow.delegating", "6.recall"): (
        "Real, by rule D9: delegations are kept by the id of their call. When a provider uses an id again, "
        "the later one takes the place of the earlier one, and its result is lost."
    ),
}
