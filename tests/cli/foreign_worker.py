#!/usr/bin/env python3
"""A worker written from docs/protocol.md alone: it imports nothing but the standard library.

Its middleware is bad at `FLAW` user turns and more. `MODE` makes it misbehave, for the tests of that.
"""

import json
import os
import signal
import subprocess
import sys
import time

FLAW = int(os.environ.get("FLAW", "1000"))
MODE = os.environ.get("MODE", "")
EMPTY = {"utterances": [], "turn_words": [], "states": [], "absences": [], "irregular": {}}


def turns_of(question):
    return sum(step["kind"] == "user_turn" for step in json.loads(question["scenario"])["steps"])


def introduction(question):
    return {
        "protocol": 99 if MODE == "future" else question["protocol"],
        "name": question["target"],
        "target": question["target"],
        "source": "",
        "wiring": "",
        "contract": {},
        "plain": None,
        "places": [],
        "remark": "",
        "forms": [False, True, False],
        "virtual_datetime": True,
        "versions": {"foreign": "1"},
    }


def answer(question):
    what = question.get("ask")
    if what is None:
        return introduction(question)
    if what == "warnings":
        return []
    bad = turns_of(question) >= FLAW
    seen = {"code": "2.duplicate", "place": "Foreign.hook", "detail": "the words are there twice"}
    history = {"sixfold_history": 1, "candidate": "foreign", "lane": question.get("lane", ""), "records": []}
    violation = {"code": seen["code"], "record": 0, "by": seen["place"], "detail": seen["detail"]}
    if what == "look":
        return {"violated": [seen] if bad else [], "sees": str(turns_of(question))}
    if what == "trial":
        judged = [{"violation": violation, "ruling": "violated"}] if bad else []
        return {"history": json.dumps(history), "ledger": EMPTY, "judged": judged}
    if what == "lanes":
        return {"difference": None, "violated": [[seen["code"], seen["place"]]] if bad else []}
    return True if what == "deterministic" else None


def misbehave(line, seal):
    if "ASKED" in os.environ:
        open(os.environ["ASKED"], "w").close()
    if MODE == "import":
        sys.exit("ImportError: no module named nowhere")
    elif MODE == "hang":
        time.sleep(600)
    elif MODE == "exit":
        os._exit(7)
    elif MODE == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif MODE == "text":
        line = "hello\n"
    elif MODE == "shape":
        line = json.dumps({"seal": seal, "ok": {"violated": 5}, "printed": "x"}) + "\n"
    elif MODE == "code":
        line = json.dumps(
            {"seal": seal, "ok": {"violated": [{"code": "<b>", "place": "", "detail": ""}]}, "printed": 0}
        )
        line += "\n"
    elif MODE == "list":
        line = "[]\n"
    elif MODE == "stale":
        line = line.replace(seal, "0" * len(seal))
    elif MODE == "endless":
        line = "x" * 3_000_000
    elif MODE == "deep":
        line = "[" * 100_000 + "\n"
    return line


def main():
    # What it starts must not outlive it, wherever that hides: in its group, and in a session of its own.
    if "PIDS" in os.environ:
        children = [
            subprocess.Popen(["sleep", "600"], start_new_session=own, stdout=subprocess.DEVNULL)
            for own in (False, True)
        ]
        with open(os.environ["PIDS"], "a") as file:
            file.write("".join(f"{pid}\n" for pid in (os.getpid(), *(child.pid for child in children))))
    when = os.environ.get("WHEN", "look")
    for line in sys.stdin:
        question = json.loads(line)
        reply = json.dumps({"seal": question["seal"], "ok": answer(question), "printed": 0}) + "\n"
        if question.get("ask", "first") == when:
            reply = misbehave(reply, question["seal"])
        sys.stdout.write(reply)
        sys.stdout.flush()


main()
