"""What the findings on re-created systems are worth: each minimal scenario was looked at by hand, once."""

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
}
