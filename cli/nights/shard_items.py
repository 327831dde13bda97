"""A pytest plugin: each shard of a spool is a test item, so that pytest-xdist shares them out.

Only `sixfold nightly` loads it (`-p sixfold.cli.nights.shard_items`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from ...harness.orphans import end_with_parent


def pytest_configure(config: pytest.Config) -> None:
    """End with the coordinator, or as a worker with pytest-xdist: nobody would take what is played then."""
    coordinator = config.getoption("--sixfold-coordinator")
    if coordinator is None:
        return
    end_with_parent()
    # It may have gone before the kernel was told to watch it. A worker sees that in its pipe.
    if not hasattr(config, "workerinput") and os.getppid() != coordinator:
        pytest.exit("the coordinator has gone", returncode=pytest.ExitCode.INTERRUPTED)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the end of the night, and the process that coordinates it."""
    parser.addoption("--sixfold-coordinator", type=int, default=None, help="The process to end with.")
    parser.addoption("--sixfold-until", type=float, default=None, help="The end, in seconds since the epoch.")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect shards."""
    if not file_path.name.endswith(".shard.json"):
        return None
    collector: pytest.Collector = ShardFile.from_parent(parent, path=file_path)
    return collector


class ShardFile(pytest.File):
    """A file that holds a shard."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield its one item."""
        yield ShardItem.from_parent(self, name=self.path.name.partition(".")[0])


class ShardItem(pytest.Item):
    """A shard to be played. It passes when it was played, whatever it found."""

    def runtest(self) -> None:
        """Play the shard and hand in its result."""
        from .spool import Spool
        from .worker import play_file

        result = play_file(Spool(self.path.parent), self.path, self.config.getoption("--sixfold-until"))
        if result is None:
            pytest.skip("the night is over")

    def reportinfo(self) -> tuple[Path, None, str]:
        """Name the shard."""
        return self.path, None, f"shard {self.name}"
