"""The corpus of public bugs: `python -m tests.corpus [CASE …] [--local] [--correct]`.

Each case must be found with default settings, in a scenario no longer than its public trigger, and the
fixed version must be clean of it. Prints a line for each case and a summary; the exit code is 1 when a
case fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from statistics import median
from typing import Any

from .cases import CASES, CORRECT, LOCAL, Case, Version
from .environments import ROOT, EnvironmentFailed, environment_variables, python_of
from .hunt import CLEAN_HISTORIES, MOST_HISTORIES, seen, size_of

#: Seconds that one case may take at one version.
TIME_LIMIT = 600

#: Histories that each correct candidate plays.
CORRECT_HISTORIES = 5000


class CaseFailed(Exception):
    """The case could not be run to its end."""


def work(case: Case, which: str, version: Version) -> dict[str, Any]:
    """Run the case in its own process and return what it reports. Raises `CaseFailed`."""
    python, variables = sys.executable, dict(os.environ)
    try:
        if version.requirements:
            python = str(python_of(version.requirements[0].replace("==", "-"), version.requirements))
            variables = environment_variables()
        module = [case.plain] if case.plain else ["tests.corpus.worker", case.name, which]
        done = subprocess.run(
            [python, "-m", *module],
            cwd=ROOT,
            env=variables,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )
    except (EnvironmentFailed, subprocess.TimeoutExpired) as error:
        raise CaseFailed(f"{type(error).__name__}: {str(error)[-300:]}") from error
    if done.returncode:
        raise CaseFailed((done.stderr.strip().splitlines() or ["no output"])[-1][:300])
    report: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return report


def judge_bug(case: Case) -> tuple[str, list[str], int | None]:
    """Return a text, what is wrong, and the histories needed, for the version with the bug."""
    report = work(case, "bug", case.bug)
    if case.plain:
        return f"{report['code']} (plain Python)", [] if report["code"] in case.codes else ["not found"], None
    if report["code"] is None:
        shows = ", ".join(report["trigger_shows"]) or "not even by its trigger"
        return f"not found in {report['histories']} histories (shown: {shows})", ["not found"], None
    steps, turns = size_of(case.trigger)
    wrong = []
    if report["steps"] > steps or report["turns"] > turns:
        wrong.append(f"larger than its trigger ({steps}, {turns})")
    if report["histories"] > MOST_HISTORIES:
        wrong.append(f"needs more than {MOST_HISTORIES} histories")
    size = f"({report['steps']}, {report['turns']})"
    return f"{report['code']}, size {size}, history {report['histories']}", wrong, report["histories"]


def judge_fixed(case: Case) -> tuple[str, list[str]]:
    """Return a text and what is wrong, for the version without the bug."""
    if case.fixed is None:
        return "still open", []
    report = work(case, "fixed", case.fixed)
    codes = [report["code"]] if case.plain and report["code"] else list(report.get("codes", ()))
    return (
        ("fixed: clean", []) if not codes else (f"fixed: {', '.join(codes)}", ["shown by the fixed version"])
    )


def run_cases(cases: list[Case]) -> int:
    """Run cases one after the other, print them, and return the exit code."""
    needed: list[int] = []
    failed = 0
    for case in cases:
        try:
            text, wrong, histories = judge_bug(case)
            fixed_text, fixed_wrong = judge_fixed(case)
        except CaseFailed as error:
            text, wrong, histories, fixed_text, fixed_wrong = "cannot be run", [str(error)], None, "-", []
        problems = wrong + fixed_wrong
        failed += bool(problems)
        needed += [] if histories is None else [histories]
        verdict = f"FAILED: {'; '.join(problems)}" if problems else "ok"
        print(f"{case.name:8} {text}; {fixed_text}; {verdict}", flush=True)
    if needed:
        print(f"histories needed: median {median(needed):g}, max {max(needed)}")
    print(f"{len(cases) - failed} of {len(cases)} cases ok")
    return int(failed > 0)


def run_correct(histories: int) -> int:
    """Play the correct candidates, print what is wrongly found, and return the exit code."""
    from sixfold.models.resolve import resolve

    failed = 0
    for target, excepted in CORRECT:
        found = {c: s for c, s in seen(resolve(target), histories=histories).items() if c not in excepted}
        failed += bool(found)
        print(f"{target}: {'FALSE ALARM' if found else 'clean'} in {histories} histories", flush=True)
        for code, scenario in sorted(found.items()):
            print(f"  {code}: {scenario.steps}")
    return int(failed > 0)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description="Find the public bugs again.")
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--local", action="store_true", help="only what is re-created in models/")
    parser.add_argument("--correct", action="store_true", help="play the correct candidates instead")
    parser.add_argument("--histories", type=int, default=CORRECT_HISTORIES, help="for --correct")
    options = parser.parse_args()
    if options.correct:
        return run_correct(options.histories)
    chosen = [CASES[name] for name in options.cases] or list(LOCAL if options.local else CASES.values())
    print(f"default settings; fixed versions are clean of the code in {CLEAN_HISTORIES} histories")
    return run_cases(chosen)


if __name__ == "__main__":
    sys.exit(main())
