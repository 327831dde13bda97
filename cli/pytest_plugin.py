"""The pytest plugin: `--sixfold`, scenario files as tests, the fixtures, and `--sixfold-audit`.

Every pytest run in an environment with Sixfold imports this module. So it imports nothing but pytest, and
loads the rest when a run asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..harness.environment import Environment
    from ..harness.folded import Folded

#: How the names of scenario files end that are collected as tests.
SCENARIO_FILES = ".sixfold.json"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("sixfold", "Sixfold: fuzzing of context middleware")
    group.addoption(
        "--sixfold",
        action="append",
        default=[],
        metavar="TARGET",
        dest="sixfold_targets",
        help="fuzz this target in a test of its own, and play scenario files on it; may be repeated",
    )
    group.addoption(
        "--sixfold-max-histories",
        type=int,
        default=200,
        metavar="N",
        help="histories to play on each --sixfold target (default: 200)",
    )
    group.addoption(
        "--sixfold-seed", type=int, default=0, metavar="N", help="seed of --sixfold targets (default: 0)"
    )
    group.addoption(
        "--sixfold-database",
        metavar="WHERE",
        help="keep the examples of Hypothesis here: redis://HOST:PORT/0 for a fleet, or a folder",
    )
    group.addoption(
        "--sixfold-audit",
        action="store_true",
        help="say of each test that calls a middleware hook whether the update went through a real reducer",
    )
    group.addoption(
        "--sixfold-audit-report",
        type=Path,
        metavar="FILE",
        help="write what the audit saw to this file, as JSON; switches the audit on",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin an audit before anything of the project is imported: what it imports must be what is watched."""
    options = early_config.known_args_namespace
    if options.sixfold_audit or options.sixfold_audit_report:
        from .pytest_audit import Audit

        early_config.pluginmanager.register(Audit(early_config), "sixfold-audit")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Open the example database, once Hypothesis has chosen its profile."""
    if config.option.sixfold_database is None:
        return
    from ..harness.errors import SixfoldError
    from .example_database import use_database

    try:
        use_database(config.option.sixfold_database)
    except SixfoldError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a scenario file: a test for each target."""
    if not file_path.name.endswith(SCENARIO_FILES):
        return None
    from .pytest_items import ScenarioFile

    return ScenarioFile.from_parent(parent, path=file_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each `--sixfold` target."""
    if config.option.sixfold_targets:
        from .pytest_items import campaigns

        items += campaigns(session, config)


@pytest.fixture
def sixfold_environment() -> Environment:
    """Give an `Environment` outside of any history: clock, state, summariser and token counter answer."""
    from ..harness.loose import loose_environment

    return loose_environment()


@pytest.fixture
def fold(request: pytest.FixtureRequest) -> Callable[..., Folded]:
    """Give `sixfold.harness.fold`; where the test fails, what was folded is printed with it."""
    from ..harness.folding import fold as fold_it

    def folded(middleware: Any, history: Any, **options: Any) -> Folded:
        result = fold_it(middleware, history, **options)
        request.node.add_report_section("call", "folded by sixfold", result.picture)
        return result

    return folded
