"""The faults of a stand-alone file in plain code: plans of what becomes of the next calls of a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..harness.dependencies import badly, recap_of
from ..harness.faults import HOOKS, PACKAGES, Fault, FaultKind
from ..harness.history import FaultFired, Record, Summarised
from .standalone_text import comment, literal

#: What a hook's plan holds for a kind of fault; others need a clock of their own.
_ACTS: dict[FaultKind, str] = {
    "skip": "skip",
    "lose": "lose",
    "twice": "twice",
    "crash": "crash",
    "cancel": "cancel",
    "partial_compaction": "partial",
}

#: Calls that a fault for good outlasts.
_FOR_GOOD = 20


class UnplannableFault(Exception):
    """A fault that plain code cannot bring about; the text says which."""


@dataclass(slots=True)
class Faults:
    """The plans that a file needs: hooks by (member, hook) with what may become of a call, and places."""

    hooks: dict[tuple[int, str], set[str]] = field(default_factory=dict)
    summariser: bool = False
    source: bool = False
    tool: bool = False
    token_counter: bool = False
    _lasting: list[str] = field(default_factory=list)

    def planned(self, faults: Sequence[Fault], first: int, records: Sequence[Record]) -> list[str]:
        """Return the lines that plan those of `faults`, numbered from `first`, which struck in `records`."""
        lines = [f"{plan}.clear()" for plan in self._lasting]
        self._lasting.clear()
        struck = {record.fault for record in records if isinstance(record, FaultFired)}
        for number, fault in enumerate(faults, first):
            if number not in struck or fault.at == "model":
                continue
            plan = self._plan_of(fault)
            lines += [
                comment(f"The fault: {PACKAGES[fault.kind].meaning}."),
                f"{plan}[:] = {self._calls(fault, records)}",
            ]
            if _lasts(fault):
                self._lasting.append(plan)
        return lines

    def _plan_of(self, fault: Fault) -> str:
        if fault.at in HOOKS:
            if fault.kind not in _ACTS:
                raise UnplannableFault(f"the fault {fault.kind} needs a clock that the file does not have")
            self.hooks.setdefault((fault.member, fault.at), set()).add(_ACTS[fault.kind])
            return plan_name(fault.member, fault.at)
        if fault.at == "summariser":
            self.summariser = True
            return "summary_model.failures"
        if fault.at == "source":
            self.source = True
            return "source_failures"
        if fault.at == "tool":
            self.tool = True
            return "lookup_failures"
        if fault.at == "token_counter":
            self.token_counter = True
            return "count_failures"
        raise UnplannableFault(f"the {fault.at} fails")

    def _calls(self, fault: Fault, records: Sequence[Record]) -> str:
        hook = fault.at in HOOKS
        before = [literal("run" if hook else None)] * fault.nth
        act = self._act(fault, records)
        if _lasts(fault):
            whole = f"[{act}] * {_FOR_GOOD}"
            return f"[{', '.join(before)}] + {whole}" if before else whole
        return f"[{', '.join([*before, act])}]"

    @staticmethod
    def _act(fault: Fault, records: Sequence[Record]) -> str:
        if fault.at in HOOKS:
            return str(fault.keep) if fault.kind == "partial_compaction" else literal(_ACTS[fault.kind])
        if fault.kind == "timeout":
            return f"TimeoutError({literal(f'the {fault.at} did not answer in time')})"
        if fault.kind == "bad_summary":
            tokens: tuple[str, ...] = ()
            for record in records:
                if isinstance(record, Summarised):
                    tokens = record.tokens
                if isinstance(record, FaultFired) and record.kind == "bad_summary":
                    break
            return literal(badly(fault.summary, recap_of(tokens)))
        place = fault.at.replace("_", " ")
        what = "the process died" if fault.kind == "crash" else f"the {place} failed"
        return f"RuntimeError({literal(what)})"

    @staticmethod
    def of_model(record: Record) -> str | None:
        """Return the exception that the model raises, when `record` is a fault of the model."""
        if not isinstance(record, FaultFired) or record.at != "model":
            return None
        return (
            f"RuntimeError({literal('the process died' if record.kind == 'crash' else 'the model failed')})"
        )

    @staticmethod
    def kinds_in(records: Sequence[Record]) -> frozenset[FaultKind]:
        """Return the kinds of the faults that struck."""
        return frozenset(record.kind for record in records if isinstance(record, FaultFired))


def _lasts(fault: Fault) -> bool:
    """Tell whether every further call of the run fails, too: a tool that has failed goes on failing."""
    return fault.for_good or fault.at == "tool"


def plan_name(member: int, hook: str) -> str:
    """Return what the plan of a hook is called."""
    return f"{hook}_plan" if member == 0 else f"{hook}_plan_of_member_{member + 1}"
