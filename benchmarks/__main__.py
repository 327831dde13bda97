"""Run the benchmarks and print one table. The exit code is 1 when a target is missed or not measured."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator

from . import endurance, fleet, lanes, length, machine, marks, nights, search, sides, start
from .targets import Result

BENCHMARKS: dict[str, Callable[[], Iterator[Result]]] = {
    "lanes": lanes.run,
    "machine": machine.run,
    "length": length.run,
    "search": search.run,
    "fleet": fleet.run,
    "start": start.run,
    "sides": sides.run,
}

#: Those that take a quarter of an hour and more: run by name only.
LONG: dict[str, Callable[[], Iterator[Result]]] = {
    "endurance": endurance.run,
    "marks": marks.run,
    "nights": nights.run,
}

ALL = BENCHMARKS | LONG

#: With less than this share of a core for the run, other work disturbed it too much.
BUSY_SHARE = 0.8


def table(results: list[Result]) -> str:
    """Return the results as aligned columns."""
    rows = [("what", "measured", "target", "", "details")]
    for result in results:
        verdict = "" if result.target is None else "NOT MET" if result.missed else "met"
        rows.append((result.name, result.measured(), str(result.target or ""), verdict, result.note))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = []
    for name, measured, target, verdict, note in rows:
        cells = (
            name.ljust(widths[0]),
            measured.rjust(widths[1]),
            target.rjust(widths[2]),
            verdict.ljust(widths[3]),
        )
        lines.append("  ".join((*cells, note)).rstrip())
    return "\n".join(lines)


def computing_time() -> float:
    """Return the processor time of this process and of those that it has waited for, in seconds."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def main() -> int:
    """Run the benchmarks named on the command line, by default all that are not long."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "name", nargs="*", help=f"benchmarks to run: {', '.join(ALL)} (default: all but {', '.join(LONG)})"
    )
    names: list[str] = parser.parse_args().name or list(BENCHMARKS)
    if unknown := [name for name in names if name not in ALL]:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(ALL)}")
    busy = os.getloadavg()[0]
    started, computed = time.perf_counter(), computing_time()
    results: list[Result] = []
    broken: list[str] = []
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        try:
            for result in ALL[name]():
                results.append(result)
        except Exception as error:  # noqa: BLE001  the other benchmarks are still worth their numbers
            broken.append(f"{name} could not be measured: {type(error).__name__}: {error}")
    print(table(results))
    lasted = time.perf_counter() - started
    share = (computing_time() - computed) / lasted
    print(
        f"\nPython {platform.python_version()}, {os.cpu_count()} cores, load {busy:.1f} before the run, "
        f"{lasted:.0f} s with {share:.0%} of a core. Ratios are medians of blocks measured in alternation."
    )
    if share < BUSY_SHARE:
        print("Other work disturbed the run: the ratios are rough, those of the lanes most of all.")
    missed = sum(result.missed for result in results)
    if missed:
        print(f"{missed} target{'s' * (missed > 1)} missed.")
    for line in broken:
        print(line)
    return 1 if missed or broken else 0


if __name__ == "__main__":
    sys.exit(main())
