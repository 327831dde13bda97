"""Ctrl-C: the user's ends the run, whatever a candidate does; a candidate's own is its failure."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware

from sixfold.harness.candidate import Candidate
from sixfold.harness.history import TurnEnded
from sixfold.harness.interrupts import is_the_users, noticed
from sixfold.harness.play import play
from sixfold.harness.steps import UserTurn

from ..helpers import agent_of, scenario_of


def hook_that(act: Any) -> Candidate:
    """Return a candidate whose hook does nothing but `act`."""
    cls = type("Acts", (AgentMiddleware,), {"before_model": lambda self, state, runtime: act()})
    return Candidate(name="acts", build=lambda _environment: [cls()])


def raises() -> None:
    raise KeyboardInterrupt


def presses() -> None:
    signal.raise_signal(signal.SIGINT)


def presses_and_swallows() -> None:
    try:
        presses()
    except KeyboardInterrupt:
        return


TWO_TURNS = scenario_of(UserTurn(), UserTurn())


def test_a_hook_that_raises_it_has_failed() -> None:
    candidate = hook_that(raises)
    with noticed():
        ended = [r for r in play(agent_of(candidate), TWO_TURNS).history.records if isinstance(r, TurnEnded)]
    assert [record.error for record in ended] == ["KeyboardInterrupt: "] * 2
    assert ended[0].by == "Acts.before_model"


@pytest.mark.parametrize("act", [presses, presses_and_swallows])
def test_the_users_ends_everything(act: Any) -> None:
    agent = agent_of(hook_that(act))
    with noticed(), pytest.raises(KeyboardInterrupt):
        play(agent, TWO_TURNS)


def test_every_one_is_the_users_where_nobody_notes_it() -> None:
    with pytest.raises(KeyboardInterrupt):
        play(agent_of(hook_that(raises)), TWO_TURNS)


def test_the_handler_is_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with noticed():
        assert signal.getsignal(signal.SIGINT) is not before
        assert not is_the_users(KeyboardInterrupt())
    assert signal.getsignal(signal.SIGINT) is before
    assert is_the_users(KeyboardInterrupt())


def test_a_thread_that_may_not_set_it_leaves_it_alone() -> None:
    seen: list[bool] = []

    def run() -> None:
        with noticed():
            seen.append(is_the_users(KeyboardInterrupt()))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [True]
