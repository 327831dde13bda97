"""What `sixfold explain` says of each check beyond its title: a picture, a way out, public bugs."""

from __future__ import annotations

from typing import NamedTuple

from ..harness.comparisons import Comparison
from ..harness.faults import PACKAGES
from ..harness.invariants.checks import Check, Rule
from ..harness.invariants.registry import INVARIANTS
from ..harness.rules import RULES


class Explanation(NamedTuple):
    """The smallest picture of a violation, how systems avoid it, and public bugs that had it."""

    picture: str
    avoid: str
    bugs: str


_REQUEST_ONLY = (
    "Put state into the system prompt of each request, from its source of truth; never into history."
)
_TAIL = "Look for the attach point from the tail: the latest user message, or nothing."
_BOUNDARY = "Walk backwards to the start of a turn, and always keep the turn that is being worked on."
_STRICT = "Cut before the message that calls; repair what is left per request, before it is sent."
_STORE = "Store the summary once; when it fails, leave the history as it was."

EXPLANATIONS: dict[str, Explanation] = {
    "1.state-in-history": Explanation(
        "[u1] [memory: state 1] [a1]", _REQUEST_ONLY, "deer-flow, by design (waived)"
    ),
    "1.stale-state": Explanation(
        "state is 2; the model sees [memory: state 1] [u2]", _REQUEST_ONLY, "none on record"
    ),
    "1.state-missing": Explanation(
        "state is 1; the model sees [u1]",
        "Say that the state could not be read, and show the last good one.",
        "none on record",
    ),
    "1.speaks-as-user": Explanation(
        "[u1] [files: state 1, as a user message]", _REQUEST_ONLY, "deer-flow, early uploads middleware"
    ),
    "2.reorder": Explanation(
        "[reminder id=u1] [a1] [u2] [u1__user]   ← u1 moved to the end",
        "Replace under the same id; give a new id only to the latest user message.",
        "deer-flow #4667, #2823, #904; LangGraph add_messages with a shared message object",
    ),
    "2.id-rewrite": Explanation(
        "[u1 id=u1] becomes [u1 id=u1__user]",
        "Never give old words a new id.",
        "deer-flow #4667, #2823; deepagents",
    ),
    "2.duplicate": Explanation(
        "[u1] [a1] [u1 id=copy]",
        "Write a message once, under the id it has.",
        "deer-flow, early uploads; LangGraph 0.2.69",
    ),
    "2.content-changed": Explanation(
        "[u1 'please…'] becomes [u1 '[removed]']",
        "Return what was there, with name and metadata.",
        "deepagents 0.5.3",
    ),
    "2.mutated-in-place": Explanation(
        "hook: message.content = '[cleared]'; return None",
        "Copy before you edit; return the copy.",
        "LangChain 1.0.8 context editing",
    ),
    "2.id-growth": Explanation(
        "u1 → u1__user → u1__user__user", "Recognise your own ids and leave them.", "none on record"
    ),
    "3.stale-question": Explanation(
        "turn 2; the model sees … [u2] [u1]", _TAIL, "deer-flow #4667; LangChain summarization"
    ),
    "3.attach-not-latest": Explanation(
        "[reminder] [u1] [a1] [u2]   in turn 2", _TAIL, "deer-flow #4667, #3685"
    ),
    "4.cut-inside-turn": Explanation(
        "[summary: u1] [a1 calls] [result]", _BOUNDARY, "LangChain summarization"
    ),
    "4.question-lost": Explanation(
        "turn 1; the model sees [summary: u1] [a1 calls] [result]",
        _BOUNDARY,
        "LangChain summarization; deer-flow #4882",
    ),
    "4.orphan-result": Explanation(
        "[summary] [result of c1]", _STRICT, "LangChain 1.1.1; langmem 0.0.30; deer-flow #2939, #4080"
    ),
    "4.unanswered-call": Explanation(
        "[a1 calls c1] [u2]", _STRICT, "LangChain 1.3.14 tool-call limit; deer-flow #3143"
    ),
    "4.duplicate-result": Explanation(
        "[a1 calls c1] [result of c1] [result of c1]", _STRICT, "none on record"
    ),
    "4.hole": Explanation(
        "[u1] [a1] [u3]   u2 and a2 are gone", "Cut from the front; what stays is the end.", "none on record"
    ),
    "4.system-lost": Explanation(
        "[system] [u1] … becomes [summary] …", "Keep system messages out of what you cut.", "none on record"
    ),
    "5.failed-summary-committed": Explanation(
        "[Error generating summary: …] [u2]", _STORE, "LangChain 1.3.14; deer-flow #3887"
    ),
    "5.regenerated": Explanation("summary of [summary: u1 a1]", _STORE, "LangChain summarization"),
    "5.summary-rewritten": Explanation(
        "[summary A] becomes [summary B], same span", _STORE, "none on record"
    ),
    "5.thrash": Explanation(
        "turns 3, 4 and 5 each summarise, and nothing gets shorter",
        "Stop when a compaction gave no relief.",
        "LangChain summarization",
    ),
    "5.prefix-broken": Explanation(
        "request 2 = [u1] [a1] [result]; request 3 = [u1] [a1] [cleared] …",
        "Change earlier bytes only when you compact, once, and store it.",
        "LangChain context editing",
    ),
    "6.fold-incoherent": Explanation(
        "update [reminder, words]; state [reminder] [a1] [u2] [words]", _TAIL, "deer-flow #4667"
    ),
    "6.recall": Explanation(
        "u1 is in no message and in no summary",
        "Give the summariser all that you remove.",
        "LangChain summarization",
    ),
    "6.hook-error": Explanation(
        "ValueError at every further turn",
        "Expect ids that are gone, and messages of any shape.",
        "langmem 0.0.30",
    ),
    "6.ends-silently": Explanation(
        "[u1] [a1 calls] and the turn is over", "Say why you stop, as an answer.", "none on record"
    ),
    "6.leaked-words": Explanation(
        "thread of another user: [system: they asked u1 before] [u901]",
        "Keep nothing of a conversation on the instance: state and store know their thread.",
        "none on record",
    ),
    "3.head-dependent": Explanation(
        "alone: … [reminder] [u1]; behind two turns: [reminder] [a1] [u2] [a2] [u3]", _TAIL, "deer-flow #4667"
    ),
    "4.rejected-request": Explanation(
        "[system] [u1] [a1] [system: date] [u2]   Anthropic: multiple non-consecutive system messages",
        "Send what every provider takes: system messages in front, no empty text, call ids that are unique.",
        "deer-flow #1299, #3707",
    ),
    "5.replay-differs": Explanation(
        "in one process: [note] [u1] [u2]; after a restart: [note] [u1] [note] [u2]",
        "Keep nothing on the instance: read from the state what was done; give each message an id.",
        "deepagents 0.6.10",
    ),
    "6.sync-async": Explanation(
        "before_model and abefore_model return different updates",
        "Let both forms call one function; test both.",
        "LangChain 1.0.8 summarization",
    ),
    "6.reducers": Explanation(
        "update [remove note] [note]: add_messages leaves it where it is, a DeltaChannel moves it",
        "Write each id once in an update, and remove only ids that are there.",
        "none on record",
    ),
    "6.lanes": Explanation(
        "reducer lane [u1] [a1]; graph lane [u1]", "Report it: it is a bug of Sixfold.", "none on record"
    ),
}


def _judged(rule: Rule) -> str:
    match rule:
        case Check():
            text = rule.judge.__doc__
        case Comparison():
            text = rule.compare.__doc__
        case _:
            text = "Yield histories that the reducer lane and the real graph record differently."
    return " ".join((text or "").split("\n\n")[0].split())


def explain(check: Rule) -> str:
    """Return everything there is to say about a check, as plain text."""
    more = EXPLANATIONS[check.code]
    return "\n".join(
        (
            f"{check.code}: {check.title}",
            "",
            f"invariant {check.invariant}   {INVARIANTS[check.invariant]}",
            f"judged         {_judged(check)}",
            f"why            {check.why}",
            f"picture        {more.picture}",
            f"way out        {more.avoid}",
            f"public bugs    {more.bugs}",
        )
    )


def reference() -> str:
    """Return `docs/faults-and-invariants.md`: all faults and checks, as Markdown."""
    lines = [
        "# Faults and invariants",
        "",
        "Made from the code; `sixfold explain CODE` prints one check.",
        "",
        "## Faults",
        "",
        "A fault is planned in a turn of the scenario and reported only when it struck. A kind outside a",
        "candidate's declared world (`Contract.suffers`) never strikes it.",
        "",
        "| fault | where | meaning |",
        "|---|---|---|",
    ]
    lines += [f"| {p.kind} | {', '.join(p.places)} | {p.meaning} |" for p in PACKAGES.values()]
    for number, rule in INVARIANTS.items():
        lines += ["", f"## {number}. {rule}", ""]
        for check in RULES:
            if check.invariant == number:
                more = EXPLANATIONS[check.code]
                lines += [
                    f"### `{check.code}`: {check.title}",
                    "",
                    check.why,
                    "",
                    f"    {more.picture}",
                    "",
                    f"{more.avoid} Public bugs: {more.bugs}.",
                    "",
                ]
    return "\n".join(lines).rstrip() + "\n"
