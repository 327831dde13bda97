"""Settings of the suite: `slow` tests run only when asked for, and nothing generated is left behind."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from sixfold.harness import on_wire

from .helpers import serialisers_for

settings.register_profile(
    "sixfold",
    database=None,
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: minutes, not seconds; run with -m 'slow or not slow'")
    if not config.option.markexpr:
        config.option.markexpr = "not slow"
    settings.load_profile("sixfold")


@pytest.fixture(scope="session", autouse=True)
def without_serialisers() -> Iterator[None]:
    """Runs find the same whether the extra `providers` is installed or not; its own tests switch it on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_wire, "installed", lambda: ())
        yield


@pytest.fixture(autouse=True)
def serialisers_for_their_flaw(request: pytest.FixtureRequest) -> Iterator[None]:
    """Switch the serialisers on for the planted flaw that only they show."""
    parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    with serialisers_for(getattr(parameters.get("item"), "code", "")):
        yield


# A shell that runs the tests in the background has Ctrl-C ignored, and some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
