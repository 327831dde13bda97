"""The stream: listeners only listen. One that breaks is left out, remembered, and changes nothing."""

from sixfold.harness.campaign import Campaign
from sixfold.harness.events import Event, Found, Options, RunFinished, RunStarted, Stage, Stream

from ..helpers import explore
from ..planted import PLANTED

OPTIONS = Options(seed=1, max_histories=30)
FLAWED = PLANTED["2.duplicate"].flawed


class Broken:
    """Breaks at the first finding."""

    def __init__(self) -> None:
        self.heard = 0

    def __call__(self, event: Event) -> None:
        self.heard += 1
        if isinstance(event, Found):
            raise OSError("disk full")


def test_broken_listener_is_left_out_and_changes_nothing() -> None:
    heard: list[Event] = []
    broken = Broken()
    disturbed = Campaign([FLAWED], OPTIONS, [broken, heard.append])
    result = disturbed.run(explore)
    assert result == Campaign([FLAWED], OPTIONS).run(explore)
    assert result.findings
    [(name, error)] = disturbed.stream.broken
    assert (name, str(error)) == ("Broken", "disk full")
    # The other listener goes on to the end; the broken one hears nothing more.
    assert isinstance(heard[-1], RunFinished)
    assert broken.heard < len(heard)


def test_events_tell_the_run_from_start_to_end() -> None:
    heard: list[Event] = []
    result = Campaign([FLAWED], OPTIONS, [heard.append]).run(explore)
    assert heard[0] == RunStarted(OPTIONS, ("control", FLAWED.name), result.versions)
    assert heard[-1] == RunFinished(result)
    assert [event.finding for event in heard if isinstance(event, Found)] == list(result.findings)
    assert {event.name for event in heard if isinstance(event, Stage)} >= {"generating", "comparing lanes"}


def test_events_reach_listeners_in_order() -> None:
    heard: list[tuple[int, Event]] = []
    stream = Stream.to([lambda event: heard.append((1, event)), lambda event: heard.append((2, event))])
    stream.emit(Stage("a"))
    stream.emit(Stage("b"))
    assert heard == [(1, Stage("a")), (2, Stage("a")), (1, Stage("b")), (2, Stage("b"))]
