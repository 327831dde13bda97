"""One real run for all tests of reports, and one for each hostile text."""

from pathlib import Path

import pytest

from sixfold.reports.stored_run import StoredRun, load_run

from .runs import HOSTILE, made_hostile, saved


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("reports"))


@pytest.fixture(scope="session")
def real_run(run_folder: Path) -> StoredRun:
    return load_run(run_folder)


@pytest.fixture(scope="session", params=HOSTILE)
def hostile_text(request: pytest.FixtureRequest) -> str:
    text: str = HOSTILE[request.param]
    return text


@pytest.fixture(scope="session")
def hostile_run(run_folder: Path, hostile_text: str, tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return load_run(made_hostile(run_folder, hostile_text, tmp_path_factory.mktemp("hostile") / "run"))
