"""The workflows: YAML that can be run; the one that the documentation shows is the one that is run here."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from sixfold.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OURS = ROOT / ".github" / "workflows" / "sixfold.yml"


def loaded(path: Path) -> dict[Any, Any]:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    return data


def steps_in(workflow: dict[Any, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


def step_named(name: str) -> dict[str, Any]:
    return next(step for step in steps_in(loaded(OURS)) if step.get("name", "").startswith(name))


def test_the_workflow_in_the_documentation_is_the_one_that_is_run() -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert shown == OURS.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_can_be_run(path: Path) -> None:
    workflow = loaded(path)
    # YAML 1.1 reads the key `on` as true.
    assert workflow[True]
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["runs-on"]
        assert set(job.get("needs", "").split()) <= set(workflow["jobs"])
    for step in steps_in(workflow):
        assert ("uses" in step) != ("run" in step)
        assert re.fullmatch(r"actions/[\w/-]+@v\d+", step.get("uses", "actions/checkout@v4"))
        script = step.get("run", "")
        # What others may write (titles, names of branches) reaches a shell as a variable, or not at all.
        assert "${{" not in script
        done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        for target in re.findall(r"^make ([\w-]+)", script, re.MULTILINE):
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_workflow_uses_commands_and_options_that_there_are() -> None:
    commands_of: Any = typer.main.get_command(app)
    script = "\n".join(step.get("run", "") for step in steps_in(loaded(OURS))).replace("\\\n", " ")
    commands = re.findall(r"\bsixfold (pr|nightly|trend)\b([^|\n]*)", script)
    assert {name for name, _ in commands} == {"pr", "nightly", "trend"}
    for name, arguments in commands:
        known = {option for parameter in commands_of.commands[name].params for option in parameter.opts}
        assert set(re.findall(r"--[\w-]+", arguments)) <= known
    for target in loaded(OURS)["env"]["TARGETS"].split():
        assert (ROOT / target.partition(":")[0]).is_file()


@pytest.mark.parametrize(
    ("ids", "method", "place"),
    [("", "POST", "repos/a/b/issues/7/comments"), ("31\n32\n", "PATCH", "repos/a/b/issues/comments/31")],
    ids=["first", "again"],
)
def test_the_comment_is_written_once_and_edited_in_place(
    tmp_path: Path, ids: str, method: str, place: str
) -> None:
    (tmp_path / "comment.md").write_text("<!-- sixfold-pr 0123456789ab -->\n\n## Sixfold\n")
    (tmp_path / "ids").write_text(ids)
    fake = tmp_path / "gh"
    fake.write_text(
        '#!/bin/bash\n[ "$2" = --paginate ] || exec echo "$@" >> calls\necho "$MARKER" > marker; cat ids\n'
    )
    fake.chmod(0o755)
    script = step_named("Write the comment")["run"]
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "REPOSITORY": "a/b", "NUMBER": "7"}
    subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=tmp_path, env=environment, check=True, timeout=30
    )
    assert (tmp_path / "marker").read_text() == "<!-- sixfold-pr 0123456789ab -->\n"
    [call] = (tmp_path / "calls").read_text().splitlines()
    assert call == f"api --silent --method {method} {place} -F body=@comment.md"


def test_a_job_without_a_comment_writes_none(tmp_path: Path) -> None:
    script = step_named("Write the comment")["run"]
    environment = {"PATH": os.environ["PATH"], "REPOSITORY": "a/b", "NUMBER": "7"}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=tmp_path, env=environment, check=False, timeout=30
    )
    assert done.returncode == 0
