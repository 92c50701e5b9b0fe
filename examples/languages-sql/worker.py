"""A worker in Python over HTTP, with nothing but the standard library: claims tasks by the names of its actions, keeps them
alive while it works, completes or fails them. What a lapsed lease reports changes nothing, and the answer says so."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import urllib.request
from collections.abc import Callable

URL = os.environ.get("LOCKSTEP_URL", "http://127.0.0.1:6632")
LEASE_MS = int(os.environ.get("LEASE_MS", "10000"))


class Permanent(Exception):
    """A failure that no further attempt would heal."""


def call(verb: str, body: dict) -> dict:
    request = urllib.request.Request(
        f"{URL}/api/v1/tasks/{verb}",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def keep_alive(node: str, lease: dict, done: threading.Event, lost: threading.Event) -> None:
    """A third of the lease apart, until the work is done."""
    beats = 0
    while not done.wait(LEASE_MS / 3000):
        try:
            if not call("heartbeat", {**lease, "leaseMs": LEASE_MS})["results"][0]["held"]:
                lost.set()
                return
            beats += 1
            if beats == 1:
                print("kept", node, flush=True)
        except OSError:
            continue  # the next beat may get through while the lease lives


def run_task(task: dict, actions: dict[str, Callable[[dict], object]]) -> None:
    lease = {name: task[name] for name in ("runId", "ordinal", "leaseId")}
    done, lost = threading.Event(), threading.Event()
    beat = threading.Thread(target=keep_alive, args=(task["node"], lease, done, lost), daemon=True)
    beat.start()
    try:
        output = actions[task["action"]](task)
    except Exception as error:  # whatever the action throws is a failure of its attempt
        done.set()
        retry = not isinstance(error, Permanent)
        answer = call("fail", {**lease, "error": str(error), "code": type(error).__name__, "retry": retry})
        print("failed", task["node"], task["attempt"], answer["results"][0], flush=True)
        return
    done.set()
    if lost.is_set():
        print("lost", task["node"], flush=True)
        return
    answer = call("complete", {**lease, "output": output})
    print("completed", task["node"], task["attempt"], answer["results"][0], flush=True)


def work(actions: dict[str, Callable[[dict], object]], stop: threading.Event) -> None:
    while not stop.is_set():
        claimed = call("claim", {"actions": sorted(actions), "max": 1, "leaseMs": LEASE_MS, "waitMs": 1_000})
        for task in claimed["tasks"]:
            run_task(task, actions)


def reserve(task: dict) -> object:
    return {"reservation": f"R-{task['input']['orderId']}"}


def charge(task: dict) -> object:
    if task["attempt"] == 1:
        raise RuntimeError("the bank is asleep")
    return {"receipt": f"{task['input']['reservation']}/{task['idempotencyKey'].split(':')[1]}"}


def ship(task: dict) -> object:
    time.sleep(float(os.environ.get("SHIPPING_SECONDS", "0")))  # longer than a lease, if you like
    return f"shipped with {task['input']['receipt']}"


def main() -> int:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    print("ready", flush=True)
    work({"reserve": reserve, "charge": charge, "ship": ship}, stop)
    return 0


if __name__ == "__main__":
    sys.exit(main())
