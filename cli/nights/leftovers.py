"""What nights left behind whose coordinator was killed, or had no room to write: it is entered late."""

from __future__ import annotations

import shutil
from pathlib import Path

from ...harness.nights.ledger import FindingsLedger
from ...harness.nights.shard import result_from_json
from .spool import Spool


def enter_leftovers(base: Path, ledger: FindingsLedger) -> int:
    """Enter the results in the spools below `base` of nights that never ended; return how many were new.

    A spool goes when all in it is entered. Spools of nights that go on, or were kept on purpose, stay.
    """
    open_nights = {night.number for night in ledger.nights() if night.ended is None}
    entered = 0
    for folder in sorted(base.glob("night-*")):
        spool = Spool(folder)
        owner = spool.owner()
        if owner is None or owner.ledger != ledger.path.name or owner.night not in open_nights:
            continue
        if not spool.take_over():
            continue
        before = ledger.shards_of(owner.night)
        for path in spool.handed_in():
            try:
                result = result_from_json(path.read_text(encoding="utf-8"))
            except ValueError:
                # Only a machine that lost its power leaves such a file: nobody can read it any more.
                continue
            ledger.record(owner.night, result)
        entered += len(ledger.shards_of(owner.night) - before)
        shutil.rmtree(folder, ignore_errors=True)
    return entered


def fresh_spool(base: Path, number: int) -> Spool:
    """Return a spool below `base` that nobody has used, named after the night."""
    base.mkdir(parents=True, exist_ok=True)
    path, again = base / f"night-{number}", 1
    while True:
        try:
            path.mkdir()
        except FileExistsError:
            again += 1
            path = base / f"night-{number}-{again}"
        else:
            return Spool(path)
