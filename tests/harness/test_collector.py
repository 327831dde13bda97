"""What is not needed any more is given back, however many agents a process builds."""

import gc

from sixfold.harness.agent import build_agent
from sixfold.harness.collector import relaxed_collector
from sixfold.models.catalogue import CATALOGUE


def objects() -> int:
    """Return how many objects the collector knows of once all garbage is gone."""
    gc.collect()
    return gc.get_freeze_count() + len(gc.get_objects())


def test_agents_that_nobody_needs_leave_nothing_behind() -> None:
    candidate = CATALOGUE["langchain.summarization"]()
    build_agent(candidate, direct=True)
    before = objects()
    for _ in range(10):
        build_agent(candidate, direct=True)
    assert objects() - before < 10


def test_collector_is_as_before_behind_the_block() -> None:
    before = gc.get_threshold()
    with relaxed_collector():
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before
