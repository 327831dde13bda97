"""An environment outside of any history: for tests that call hooks themselves."""

from __future__ import annotations

from .chat_model import FakeChatModel
from .clock import VirtualClock
from .environment import SMALL_WINDOW, Environment
from .session import Session


def loose_environment() -> Environment:
    """Return an environment whose summariser, state, clock and token counter answer, and never fail.

    Its model is made to be called by a middleware. An agent needs a script, which only a history has.
    """
    model = FakeChatModel.create(max_input_tokens=SMALL_WINDOW)
    session = Session("tests", "reducer", model, frozenset(), clock=VirtualClock(), hooked=True)
    model.attach(session)  # it keeps the session alive, to which the environment only points
    return session.environment
