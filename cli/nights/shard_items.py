"""A pytest plugin: each shard of a spool is a test item, so that pytest-xdist shares them out.

Only `sixfold nightly` loads it (`-p sixfold.cli.nights.shard_items`).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the end of the night."""
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
