"""What a Job's program tells the operator: how far it is, by port 8434, and in the end its outcome, as the termination message."""
import json
import os
import signal
import sys
import threading

from intake_server import Answer, Certificates, serve
from repository_store import MOUNTED
from store_faults import Fault

PORT = int(os.environ.get("PORT", 8434))
TERMINATION_LOG = os.environ.get("TERMINATION_LOG", "/dev/termination-log")
LARGEST_MESSAGE = 4000


class Ended(BaseException):
    """Somebody has told this program to end."""


def run_and_tell(work, store, otherwise, interrupted=None, about_failure=dict):
    """
    Does the work, and ends the program with the outcome told. `otherwise`: the reason of failures that have none of their own.
    `interrupted`: the reason where somebody tells the program to end; `otherwise` where there is none. `about_failure`: what is told beside a failure.
    """

    def end(*_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Ended

    signal.signal(signal.SIGTERM, end)
    try:
        outcome = outcome_of(work, store, otherwise)
    except Ended:
        outcome = failed(interrupted or otherwise, "its Pod was told to end before it was done")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if outcome["outcome"] != "succeeded":
        outcome = {**outcome, **about_failure()}
    write_message(outcome)
    sys.exit(outcome["outcome"] != "succeeded")


def outcome_of(work, store, otherwise):
    try:
        return {"outcome": "succeeded", **work()}
    except Fault as fault:
        return failed(fault.reason, store.tell(fault.message))
    except Exception as error:  # whatever it is, the outcome has to be told
        return failed(otherwise, store.tell(repr(error)))


def failed(reason, message):
    return {"outcome": "failed", "reason": reason, "message": message}


class Progress:
    def __init__(self):
        self.told = {"phase": "Preparing"}

    def begin(self, phase):
        self.told = {"phase": phase}
        print(phase, file=sys.stderr, flush=True)

    def reached(self, phase, done, total):
        """A share of the bytes of this phase."""
        if self.told["phase"] == phase and total > 0:
            done = min(done, total)
            self.told = {"phase": phase, "percent": 100 * done // total, "bytesDone": done, "bytesTotal": total}

    def serve(self, operator):
        """For the operator alone; never returns by itself, so in a thread of its own."""

        def handle(request):
            if request.client != operator:
                raise Answer(403, "this certificate may do nothing here")
            if request.path != "/progress":
                raise Answer(404, "there is nothing here")
            if request.method != "GET":
                raise Answer(405, "this can't be done here")
            return Answer(200, json.dumps(self.told).encode(), "application/json")

        threading.Thread(target=serve, args=(PORT, Certificates(f"{MOUNTED}/tls"), handle), daemon=True).start()


def write_message(outcome):
    """The kubelet cuts a message off after 4,096 bytes, and half a JSON is none."""
    while len(text := json.dumps(outcome, ensure_ascii=False).encode()) > LARGEST_MESSAGE:
        outcome = {**outcome, "message": outcome["message"][: len(outcome["message"]) // 2]}
    with open(TERMINATION_LOG, "wb") as opened:
        opened.write(text)
    print(text.decode(), file=sys.stderr, flush=True)
