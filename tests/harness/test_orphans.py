"""A worker does not outlive the process that started it."""

import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

CHILD = """
from sixfold.harness.orphans import end_with_parent
import time
{call}
print("ready", flush=True)
time.sleep(60)
"""
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdout=subprocess.PIPE, text=True)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(60)
"""


def is_running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def outlives(call: str) -> bool:
    """Kill a process whose child made `call`; tell whether the child goes on."""
    command = [sys.executable, "-c", textwrap.dedent(PARENT), CHILD.format(call=call)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    end = time.monotonic() + 5
    while is_running(child) and time.monotonic() < end:
        time.sleep(0.05)
    running = is_running(child)
    if running:
        subprocess.run(["kill", "-KILL", str(child)], check=True)
    return running


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has ended")
def test_a_process_ends_with_its_parent() -> None:
    assert not outlives("end_with_parent()")
    assert outlives("None")
