"""The worker: loads one candidate, and answers what a watchdog in another process asks about it.

Nothing here is trusted by the other side: the candidate shares the process, and may end it at any time.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import select
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

from langchain_core.messages import HumanMessage

from .agent import build_agent
from .candidate import Candidate, Middleware
from .collector import relaxed_collector
from .errors import ExitCode, SixfoldError
from .history import history_to_json
from .introduction import as_declared, introduce
from .ledger_file import ledger_data
from .messages import data_of, line_of, message_in, trial_data
from .play import after_play, play
from .providers import answers_of
from .scenario import Scenario, from_json
from .session import Session
from .stack_room import with_room
from .steps import ToolRound, UserTurn
from .subject import Key, LanesCompared, Local, Outcome
from .telling import telling
from .undisturbed import stopwatch
from .whole.trying import before_trial
from .wire_rules import Answer

_CHUNK = 1 << 16

#: An address space so many times the memory that a history may use is never needed to use so much.
_ADDRESSES = 8

#: A worker whose watchdog has gone ends itself in a history after so many times the limit of one.
_ORPHANED = 5.0


class Pipes:
    """The two ends of the pipes to the watchdog. Kept as numbers: a candidate may patch everything else."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._rest = b""
        self._seal = ""
        self._read, self._write, self._select = os.read, os.write, select.select

    def is_quiet(self, seconds: float) -> bool:
        """Tell whether nothing comes within `seconds`."""
        return not self._rest and not self._select([self._reading], [], [], seconds)[0]

    def receive(self) -> dict[str, Any] | None:
        """Return the next question; None when the watchdog has gone."""
        while b"\n" not in self._rest:
            chunk = self._read(self._reading, _CHUNK)
            if not chunk:
                return None
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        question = message_in(line)
        self._seal = str(question["seal"])
        return question

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        line = memoryview(line_of({**message, "seal": self._seal}))
        while line:
            line = line[self._write(self._writing, line) :]


class _Idle(Middleware):
    """Has a hook, and does nothing."""

    def before_model(self, state: Any, runtime: Any) -> None:
        """Do nothing."""


def warm_up() -> None:
    """Play once without a candidate: imports and caches of libraries are no part of any history's time."""
    idle = Local(build_agent(Candidate(name="idle", build=lambda _environment: [_Idle()]), direct=True))
    scenario = Scenario((UserTurn(rounds=(ToolRound(),)),))
    idle.look(scenario, invariants=(), comparing=True)
    idle.compare_lanes(scenario, invariants=(), comparing=True)
    answers_of([HumanMessage("ready?")])


def serve(load: Callable[[str], Candidate], pipes: Pipes, printed: Callable[[], int]) -> None:
    """Answer questions until the watchdog has gone. `printed` counts lines that the candidate printed."""
    first = pipes.receive()
    if first is None:
        return
    with relaxed_collector():
        before_trial.append(lambda: pipes.send({"trying": True}))
        try:
            subject = Local(build_agent(as_declared(load(first["target"]), first), direct=True))
        except SixfoldError as error:
            pipes.send({"refused": [error.cause, error.place, error.remedy], "code": int(error.exit_code)})
            return
        before_trial.clear()
        _limit_addresses(int(first["memory"]) * _ADDRESSES)
        pipes.send({"ok": introduce(subject), "printed": printed()})
        with_room(_answer_all, subject, pipes, printed, float(first["seconds"]) * _ORPHANED)


class _Leash:
    """Ends the process when it has not come back from one history for `patience` seconds.

    It is let go while nobody asks: then the end of the pipe tells that the watchdog has gone.
    """

    def __init__(self, patience: float, nowhere: IO[str]) -> None:
        self._patience = patience
        self._nowhere = nowhere
        self._since: float | None = None
        #: Each renewal starts a thread, so it waits for so many seconds.
        self.renewed_every = patience / 8

    def hold(self) -> None:
        """Begin to wait anew."""
        if self._since is None or stopwatch() - self._since > self.renewed_every:
            self._since = stopwatch()
            faulthandler.dump_traceback_later(self._patience, exit=True, file=self._nowhere)

    def let_go(self) -> None:
        """Do not wait."""
        self._since = None
        faulthandler.cancel_dump_traceback_later()


def _answer_all(subject: Local, pipes: Pipes, printed: Callable[[], int], patience: float) -> None:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        leash = _Leash(patience, nowhere)
        after_play.extend((leash.hold, lambda: pipes.send({"beat": True})))
        while True:
            leash.hold()
            if pipes.is_quiet(leash.renewed_every):
                leash.let_go()
            question = pipes.receive()
            leash.hold()
            if question is None:
                return
            try:
                answer = _answer(subject, question, pipes)
            except SixfoldError as error:
                code = int(error.exit_code)
                pipes.send({"refused": [error.cause, error.place, error.remedy], "code": code})
            except MemoryError:
                pipes.send({"dead": ["memory", "there was none left for the harness"]})
            except Exception as error:  # noqa: BLE001  a failure of the harness must not look like the candidate's
                pipes.send({"refused": _failure(error), "code": int(ExitCode.BROKEN_HARNESS)})
            except BaseException as error:  # noqa: BLE001  nobody else would tell the watchdog
                pipes.send({"dead": ["exit", f"{type(error).__name__} was raised"]})
            else:
                pipes.send({"ok": answer, "printed": printed()})


def _failure(error: Exception) -> list[str]:
    """Return cause, place and remedy of a failure of the harness."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return [
        f"the harness failed on this candidate: {type(error).__name__}: {error}",
        f"{Path(last.filename).name}:{last.lineno}",
        "Please report this as a bug of Sixfold.",
    ]


def _limit_addresses(more: int) -> None:
    """Let a single huge allocation fail at once; what grows step by step is the watchdog's business."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return
    if soft == resource.RLIM_INFINITY or soft > used + more:
        resource.setrlimit(resource.RLIMIT_AS, (used + more, hard))


def _answer(subject: Local, question: dict[str, Any], pipes: Pipes) -> Any:
    """Return the answer to one question as plain data."""
    what = question["ask"]
    if what == "warnings":
        return list(subject.warnings())
    scenario = from_json(question["scenario"])
    how: dict[str, Any] = {
        "invariants": tuple(question.get("invariants", ())),
        "comparing": bool(question.get("comparing")),
    }
    match what:
        case "look":
            return data_of(subject.look(scenario, **how, seeing=bool(question.get("seeing"))), Outcome)
        case "trial":
            return trial_data(subject.trial(scenario, lane=question["lane"], **how))
        case "tell":
            agent = subject.agent_in(question["lane"])
            make = partial(telling(agent.session_type), partial(_tell, pipes))
            play(agent, scenario, lane=question["lane"], make=make)
            return None
        case "deterministic":
            return subject.is_deterministic(scenario)
        case "lanes":
            return data_of(subject.compare_lanes(scenario, **how), LanesCompared)
        case "members":
            return list(subject.needed_members(scenario, Key(question["code"], question["place"])))
        case "providers":
            answers = subject.provider_answers(scenario, question["code"], question["record"])
            return data_of(answers, tuple[Answer, ...])
    raise ValueError(f"unknown question {what!r}")


def _tell(pipes: Pipes, session: Session, by: str) -> None:
    told = {
        "history": history_to_json(session.history),
        "ledger": ledger_data(session.ledger),
        "turn": session.turn,
        "by": by,
    }
    pipes.send({"told": told})
