"""The witness: `python -m tests.witness [--histories N] [--seed N] [--own-words]`.

Plays hermes-agent's own `ContextCompressor` and the re-created one on the same histories, which Sixfold's
generator makes, and compares outcome, cut, what the summariser is shown, and every message that is kept.
hermes-agent lives in an environment of its own, below .witness/. The exit code is 1 when the two disagree
on a history.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from sixfold.harness.agent import build_agent
from sixfold.harness.candidate import CONTROL
from sixfold.harness.play import play
from sixfold.harness.scenario import Scenario
from sixfold.models.hermes import threshold_of
from sixfold.models.hermes_messages import END, MERGED, PREFIX, PRIOR
from sixfold.strategies.scenarios import explore

from .ours import Ours, as_dict

VERSION = "0.19.0"
ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".witness" / f"hermes-agent-{VERSION}"

WINDOWS = ((160, 0), (64_000, 0), (80_000, 0), (200_000, 0), (200_000, 40_000), (512_000, 0), (1_000_000, 0))
FAILURES = ("",) * 5 + ("error", "network", "empty")

#: The words around a summary, by their names in hermes-agent.
MARKS = {
    "SUMMARY_PREFIX": PREFIX,
    "_SUMMARY_END_MARKER": END,
    "_MERGED_PRIOR_CONTEXT_HEADER": PRIOR,
    "_MERGED_SUMMARY_DELIMITER": MERGED,
}

#: Differences that are shown in full.
SHOWN = 5

Compared = dict[str, Any]


def python() -> Path:
    """Return the interpreter of hermes-agent's environment; make it when need be."""
    ready = HOME / "ready"
    if not ready.exists():
        print(f"Installing hermes-agent {VERSION} into {HOME.relative_to(ROOT)} ...")
        shutil.rmtree(HOME, ignore_errors=True)
        pip = [str(HOME / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
        for command in (
            [sys.executable, "-m", "venv", str(HOME)],
            [*pip, "install", f"hermes-agent=={VERSION}"],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"cannot install hermes-agent: {(done.stderr or done.stdout).strip()[-800:]}")
        ready.touch()
    return HOME / "bin" / "python"


class Real:
    """The worker that plays the real compressor."""

    def __init__(self, *, own_words: bool) -> None:
        keep = ("PATH", "LANG", "TMPDIR")
        variables = {key: value for key, value in os.environ.items() if key in keep}
        variables |= {"HOME": str(HOME), "HERMES_HOME": str(HOME / "home")}
        self._process = subprocess.Popen(
            [str(python()), str(Path(__file__).with_name("hermes_worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=variables,
        )
        self._say({} if own_words else MARKS)

    def _say(self, line: Compared) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def ask(self, question: Compared) -> Compared:
        """Return the worker's answer."""
        self._say(question)
        assert self._process.stdout is not None
        answer: Compared = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """Let the worker end."""
        self._process.communicate()


def histories(count: int, seed: int) -> Iterator[list[BaseMessage]]:
    """Yield the messages of the last request of each generated history, as control sends it."""
    scenarios: list[Scenario] = []
    explore(scenarios.append, seed=seed, count=count)
    agent = build_agent(CONTROL, direct=True)
    for scenario in scenarios:
        seen: list[list[BaseMessage]] = [[]]
        play(agent, scenario, on_request=lambda _record, messages, seen=seen: seen.append(list(messages)))
        yield [message.model_copy(deep=True) for message in seen[-1]]


def named(messages: list[BaseMessage], prefix: str) -> list[BaseMessage]:
    """Return the messages with names and call ids that no other part of the session has."""
    for number, message in enumerate(messages):
        message.id = f"{prefix}{number}"
        if isinstance(message, ToolMessage):
            message.tool_call_id = f"{prefix}{message.tool_call_id}"
        if isinstance(message, AIMessage):
            for call in (*message.tool_calls, *message.invalid_tool_calls):
                call["id"] = f"{prefix}{call['id']}"
    return messages


def rounds(count: int, seed: int) -> Iterator[tuple[Compared, str, list[list[BaseMessage]]]]:
    """Yield options, what becomes of the auxiliary model, and the messages of each round.

    The second round continues the first with the history after it, so that there is an earlier summary.
    """
    random = Random(seed)
    drawn = list(histories(count, seed))
    for number, first in enumerate(drawn):
        second = [m.model_copy(deep=True) for m in drawn[(number + 1) % len(drawn)]]
        options = {
            "config_context_length": random.choice((160, 400, 1_000)),
            "protect_first_n": random.choice((3, 3, 0)),
            "protect_last_n": random.choice((20, 20, 4)),
            "abort_on_summary_failure": random.choice((False, True)),
        }
        parts = [named([m.model_copy(deep=True) for m in first], "m"), named(second, "n")]
        yield options, random.choice(FAILURES), parts


def compare(count: int, seed: int, *, own_words: bool = False) -> Counter[str]:
    """Play both on all histories; return how many agree and in what the others differ.

    With `own_words` hermes-agent puts its own words around a summary. They are longer, so that the tail
    begins elsewhere where a summary stands in it.
    """
    real = Real(own_words=own_words)
    told: Counter[str] = Counter()
    for window, output in WINDOWS:
        answer = real.ask({"window": window, "output": output})
        agree = answer["threshold"] == threshold_of(window, output=output)
        told["thresholds agree" if agree else "thresholds differ"] += 1
    for options, failure, parts in rounds(count, seed):
        ours = Ours(options, failure)
        difference = ""
        for number, part in enumerate(parts):
            question: Compared = {"messages": [as_dict(m) for m in part], "name": f"s{number}"}
            if not number:
                question |= {"options": options, "failure": failure}
            theirs, mine = real.ask(question), ours.play(part, f"s{number}")
            told[f"round {number + 1} {theirs['outcome']}"] += 1
            told.update(
                f"kept {m['role']} message {'merged' if m['marked'] else 'shortened'}"
                for m in theirs["kept"]
                if m["content"] == "changed"
            )
            difference = next((f for f in ("outcome", "asked", "kept") if theirs[f] != mine[f]), "")
            if difference:
                if sum(n for key, n in told.items() if key.startswith("differ")) < SHOWN:
                    print(
                        json.dumps({"options": options, "failure": failure, "theirs": theirs, "mine": mine})
                    )
                break
            if theirs["outcome"] not in ("compacted", "unchanged"):
                break
        told[f"differ in {difference}" if difference else "histories agree"] += 1
    real.close()
    return told


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.witness", description=__doc__)
    parser.add_argument("--histories", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--own-words", action="store_true")
    given = parser.parse_args()
    told = compare(given.histories, given.seed, own_words=given.own_words)
    for what, number in sorted(told.items()):
        print(f"{number:6} {what}")
    return 1 if any("differ" in what for what in told) else 0


if __name__ == "__main__":
    sys.exit(main())
