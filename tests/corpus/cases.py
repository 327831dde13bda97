"""The public bugs, one row each: what to run, what must be found, and the smallest trigger known.

Names are those of the public numbers where there is one. `trigger` is the public report put into steps by
hand; what Sixfold finds may not have more steps or user turns than it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sixfold.harness.faults import Fault, FaultKind
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import (
    Configure,
    Continue,
    DeleteTurn,
    LoadTurn,
    Step,
    ToolCall,
    ToolRound,
    UserMessage,
    UserTurn,
)

TARGETS = "tests/corpus/targets"


@dataclass(frozen=True)
class Version:
    """What is run: a target, in the environment with `requirements` (none: the one at hand)."""

    target: str
    requirements: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """One public bug. Each of `codes` is enough; `fixed` is None while the bug is still open.

    `figure` names what is measured where no check judges: it must be above zero with the bug and zero
    without. `plain` names a module that is run instead of a search, where Sixfold cannot drive the version.
    `beside` are fault kinds, and `beside_steps` kinds of steps, under which the fixed version still does the
    same: another bug, not this one.
    """

    name: str
    about: str
    bug: Version
    fixed: Version | None
    codes: tuple[str, ...]
    trigger: Scenario
    plain: str = ""
    beside: frozenset[FaultKind] = frozenset()
    beside_steps: frozenset[str] = frozenset()
    figure: str = ""


def story(*steps: Step) -> Scenario:
    return Scenario(steps)


ROUND = ToolRound()
SKIPPED = (Fault("skip", "before_agent"),)
FAILING = (Fault("raise", "summariser"),)
AGAIN = ToolRound(calls=(ToolCall(repeated_id=True),))
TWO_TURNS = story(UserTurn(), UserTurn())


def local(name: str, about: str, bug: str, fixed: str, codes: tuple[str, ...], trigger: Scenario) -> Case:
    return Case(name, about, Version(bug), Version(fixed), codes, trigger)


LOCAL: tuple[Case, ...] = (
    local(
        "D1",
        "deer-flow #4667: the first injection attaches to the first user message",
        "deerflow-4667",
        "deerflow",
        ("2.reorder", "3.stale-question", "6.fold-incoherent"),
        story(UserTurn(faults=SKIPPED), UserTurn()),
    ),
    local(
        "D2",
        "deer-flow #3685: a reminder without a date hides the dated one",
        "deerflow-3685",
        "deerflow",
        ("3.attach-not-latest", "5.prefix-broken"),
        TWO_TURNS,
    ),
    local(
        "D3",
        "deer-flow #2823: a summary is taken for a user message and moved",
        "deerflow-2823",
        "deerflow",
        ("2.id-rewrite", "2.reorder"),
        story(UserTurn(messages=(UserMessage(name="summary"), UserMessage()))),
    ),
    local(
        "D4",
        "deer-flow #2939: a result that is not adjacent to its call is left there",
        "deerflow-2939",
        "deerflow.repair",
        ("4.orphan-result",),
        story(LoadTurn(calls=1, arrangement="human_between"), UserTurn()),
    ),
    local(
        "D5",
        "deer-flow #3143: the second result of a repeated call id is dropped",
        "deerflow-3143",
        "deerflow.repair",
        ("4.unanswered-call",),
        story(UserTurn(rounds=(AGAIN,)), UserTurn(rounds=(AGAIN,))),
    ),
    local(
        "D6",
        "deer-flow #4080: a result whose call was compacted away goes to the provider",
        "deerflow-4080",
        f"{TARGETS}/deerflow_4080.py:CANDIDATE",
        ("4.orphan-result",),
        story(UserTurn(rounds=(ToolRound(calls=(ToolCall(),) * 3),)), UserTurn()),
    ),
    local(
        "D7",
        "deer-flow #904: synthetic results are appended behind the new question",
        "deerflow-904",
        "deerflow.repair",
        # The synthetic result is nobody's utterance, so 2.reorder has nothing to say of it.
        ("4.orphan-result",),
        story(UserTurn(rounds=(ROUND,), stop="after_calls"), UserTurn()),
    ),
    local(
        "D8",
        "deer-flow, early uploads: what is inserted at 0 without an id lands behind the question",
        "deerflow-uploads",
        "deerflow.uploads",
        ("3.stale-question", "2.duplicate", "1.speaks-as-user"),
        TWO_TURNS,
    ),
    local(
        "D8-copy",
        "the same with the words of the first user message in what is inserted",
        "deerflow-uploads-copy",
        "deerflow.uploads",
        ("3.stale-question", "2.duplicate"),
        TWO_TURNS,
    ),
    local(
        "D9",
        "deer-flow #3887: the error text of a failed summary replaces history",
        "deerflow-3887",
        "deerflow.summarization",
        ("5.failed-summary-committed",),
        story(UserTurn(), UserTurn(faults=FAILING)),
    ),
)

_SUMMARIZATION = f"{TARGETS}/summarization.py:KEEPS_TWO"
_EDITING = f"{TARGETS}/context_editing.py:CANDIDATE"
_LIMIT = f"{TARGETS}/tool_call_limit.py:CANDIDATE"
_PATCH = f"{TARGETS}/patch_tool_calls.py:CANDIDATE"
_LANGMEM = Version(f"{TARGETS}/langmem_summarization.py:CANDIDATE", ("langmem==0.0.30", "langchain>=1.0"))


#: Releases before langgraph 1.1 take any later prebuilt package, and break with it.
_WITH_OLD_LANGGRAPH = ("langchain==1.0.", "langchain==1.1.")


def released(target: str, *pins: str) -> tuple[Version, Version]:
    """Return the version with the bug and the one without."""

    def version(pin: str) -> Version:
        old = pin.startswith(_WITH_OLD_LANGGRAPH)
        return Version(target, (pin, "langgraph-prebuilt==1.0.8") if old else (pin,))

    bug, fixed = map(version, pins)
    return bug, fixed


PACKAGES: tuple[Case, ...] = (
    Case(
        "L1",
        "langchain summarization: results without their call after many parallel calls",
        *released(_SUMMARIZATION, "langchain==1.1.1", "langchain==1.1.2"),
        ("4.orphan-result",),
        story(UserTurn(), UserTurn(rounds=(ToolRound(calls=(ToolCall(),) * 8),))),
        # Consecutive calls, and results told twice, part a result from its call to this day: see L3.
        beside_steps=frozenset({"load_turn", "late_results"}),
    ),
    Case(
        "L3",
        "langchain summarization: consecutive calls, one result survives without its call",
        Version(_SUMMARIZATION),
        None,
        ("4.orphan-result",),
        story(LoadTurn(calls=2, arrangement="consecutive_calls"), Continue()),
    ),
    Case(
        "L4",
        "langchain summarization: the error text is the summary",
        *released(_SUMMARIZATION, "langchain==1.3.14", "langchain==1.3.15"),
        ("5.failed-summary-committed",),
        story(UserTurn(), UserTurn(), UserTurn(faults=FAILING)),
        # 1.3.15 no longer takes an error for a summary; it still takes an empty answer for one.
        beside=frozenset({"bad_summary"}),
    ),
    Case(
        "L7",
        "langchain summarization: the question being worked on is summarised away",
        Version(_SUMMARIZATION),
        None,
        ("4.question-lost", "3.stale-question", "4.cut-inside-turn"),
        story(UserTurn(), UserTurn(rounds=(ROUND,))),
    ),
    Case(
        "L16",
        "langchain summarization: a reported usage from before keeps the trigger on",
        Version(f"{TARGETS}/summarization.py:KEEPS_REPORTED_USAGE"),
        None,
        ("5.thrash", "5.regenerated"),
        story(
            UserTurn(usage="high", rounds=(ROUND,)), UserTurn(faults=(Fault("raise", "model"),)), UserTurn()
        ),
    ),
    Case(
        "L44",
        "langchain summarization: an async model is called by a sync hook, the error text is the summary",
        *released(f"{TARGETS}/summarization.py:ASYNC_MODEL", "langchain==1.0.8", "langchain==1.1.0"),
        ("5.failed-summary-committed", "6.sync-async"),
        story(Configure(run_async=True), UserTurn(), UserTurn(), UserTurn()),
        beside=frozenset({"bad_summary", "raise", "timeout"}),
    ),
    Case(
        "L9",
        "langchain context editing: state is edited in place",
        *released(_EDITING, "langchain==1.0.8", "langchain==1.1.0"),
        ("2.mutated-in-place",),
        story(UserTurn(rounds=(ROUND, ROUND))),
    ),
    Case(
        "L10",
        "langchain context editing: each request breaks the prefix of the one before",
        Version(_EDITING),
        None,
        ("5.prefix-broken",),
        story(UserTurn(rounds=(ROUND,) * 6)),
    ),
    Case(
        "L13",
        "langchain tool call limit: the first of three calls is never answered",
        *released(_LIMIT, "langchain==1.3.14", "langchain==1.3.15"),
        ("4.unanswered-call",),
        story(UserTurn(rounds=(ToolRound(calls=(ToolCall(),) * 3),)), UserTurn()),
    ),
    Case(
        "L20",
        "deepagents patch tool calls: a result without id gets another one at each load",
        *released(_PATCH, "deepagents==0.6.10", "deepagents==0.6.11"),
        ("5.replay-differs", "2.id-rewrite"),
        story(UserTurn(rounds=(ROUND,), stop="after_calls"), UserTurn()),
    ),
    Case(
        "L26",
        "deepagents patch tool calls: the whole history is rewritten at each run",
        *released(_PATCH, "deepagents==0.5.3", "deepagents==0.5.4"),
        # Every message comes back as it was, so nothing is violated; what it costs is measured.
        (),
        TWO_TURNS,
        figure="needless_rewrites",
    ),
    Case(
        "L27",
        "langmem summarization: a result without its call",
        _LANGMEM,
        None,
        ("4.orphan-result",),
        story(UserTurn(rounds=(ToolRound(calls=(ToolCall(words=30), ToolCall())),)), UserTurn()),
    ),
    Case(
        "L30",
        "langmem summarization: the last summarised message is removed, and the thread is bricked",
        _LANGMEM,
        None,
        ("6.hook-error",),
        story(
            UserTurn(),
            UserTurn(messages=(UserMessage(), UserMessage()), rounds=(ROUND,)),
            DeleteTurn(),
            UserTurn(),
        ),
    ),
    Case(
        "L35",
        "langgraph add_messages: an object that is returned twice is replaced in the past",
        Version(f"{TARGETS}/shared_message.py:CANDIDATE"),
        None,
        ("3.attach-not-latest",),
        TWO_TURNS,
    ),
    Case(
        "L31",
        "langgraph add_messages: two messages with one id in one update both stay",
        *released("", "langgraph==0.2.69", "langgraph==0.2.70"),
        ("2.duplicate",),
        story(UserTurn()),
        plain="tests.corpus.add_messages_case",
    ),
)

CASES: dict[str, Case] = {case.name: case for case in (*LOCAL, *PACKAGES)}

# deer-flow cuts by count, as LangChain does, and keeps the latest message of a request only (rule D8).
_CUTS_AS_LANGCHAIN = frozenset({"4.cut-inside-turn", "4.question-lost", "4.orphan-result", "5.regenerated"})

#: Correct by their own rules: a finding on one of these is a false alarm. Codes in brackets are what the
#: list itself excepts.
CORRECT: tuple[tuple[str, frozenset[str]], ...] = (
    ("deerflow", frozenset()),
    ("deerflow.repair", frozenset()),
    ("deerflow.summarization", _CUTS_AS_LANGCHAIN),
    ("deerflow.uploads", frozenset()),
    ("deerflow.stack", _CUTS_AS_LANGCHAIN),
    ("langchain.context_editing", frozenset({"5.prefix-broken"})),
    (f"{TARGETS}/correct.py:IDLE", frozenset()),
    (f"{TARGETS}/correct.py:PROMPT_ONLY", frozenset()),
)
