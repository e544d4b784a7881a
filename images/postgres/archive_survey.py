"""Looks at the archive now and then, and tells what can be restored from it.

A million segments must not hurt. pgBackRest keeps them in folders of 256. Of each folder its segments are remembered, so a look lists the
folders themselves, those that are not full, and some of the full ones: what somebody removes from a store is found within some looks.
"""
import json
import os
import sys
import threading
import time

from archive_histories import archive_directory, listing
from backup_report import stanza_of
from recovery_window import MISSING, folder_of, is_needed, window_of
from repository_probe import now
from restore_plan import good_backups
from store_faults import Fault

SECONDS_BETWEEN_LOOKS = float(os.environ.get("SECONDS_BETWEEN_SURVEYS", 300))
#: While something is missing, or nothing can be restored yet. A segment that is on its way arrives within this time.
SECONDS_UNTIL_SURE = float(os.environ.get("SECONDS_FOR_A_GAP", 60))
SECONDS_FOR_A_COMMAND = 60
FULL_FOLDERS_LOOKED_AT_AGAIN = 64
FOLDER_NAME_LENGTH = 16


class Survey:
    def __init__(self, store, stanza, histories):
        self.store = store
        self.stanza = stanza
        self.histories = histories
        self.of = None
        self.forget(None)

    def forget(self, stanza):
        self.of, self.folders, self.seen, self.last, self.failure = stanza, {}, {}, None, None
        self.looked_again = time.monotonic()

    def told(self, stanza):
        """The last look at this archive; None before there is one."""
        if self.of != stanza or (self.last is None and self.failure is None):
            return None
        return {**(self.last or {}), **({"failure": self.failure} if self.failure else {})}

    def look(self):
        """Whether the next look can wait: nothing is on its way, and nothing that a person would be waiting for."""
        stanza = self.stanza()
        if self.of != stanza:
            self.forget(stanza)
        try:
            found = self.examine(stanza)
            self.last, self.failure = {"at": now(), **found}, None
        except Fault as fault:
            if not fault.stanza_missing:
                self.failure = {"reason": fault.reason, "message": self.store.tell(fault.message), "at": now()}
            return False
        return found["complete"] and len(self.seen) == found["gapCount"]

    def examine(self, stanza):
        text = self.store.run("info", "--output=json", stanza=stanza, seconds=SECONDS_FOR_A_COMMAND)[1]
        try:
            backups = good_backups(stanza_of(text), None)
        except Fault as fault:
            if fault.reason != "BackupMissing":
                raise
            backups = []
        directory = archive_directory(self.store, stanza, SECONDS_FOR_A_COMMAND) if backups else None
        if directory is None:
            self.folders, self.seen = {}, {}
            return {"complete": False, "backupCount": 0, "gaps": [], "gapCount": 0}
        self.list_folders(directory, stanza, [each["archive"]["start"] for each in backups])
        histories = {int(name[:8], 16): content.decode("utf-8", "replace") for name, content in self.histories.all_stored().items()}
        before, self.seen = self.seen, {}

        def is_lasting(gap):
            self.seen[gap.first] = before.get(gap.first, time.monotonic())
            return time.monotonic() - self.seen[gap.first] >= SECONDS_UNTIL_SURE

        return window_of(backups, self.folders, histories, is_lasting)

    def list_folders(self, directory, stanza, starts):
        names = [name for name in listing(self.store, directory, stanza, SECONDS_FOR_A_COMMAND) if len(name) == FOLDER_NAME_LENGTH]
        needed = {name for name in names if any(is_needed(name, start) for start in starts)}
        # In the order of the last look, so that those that were not looked at for the longest time come first.
        self.folders = {name: folder for name, folder in self.folders.items() if name in needed}
        full = [name for name, folder in self.folders.items() if MISSING not in folder]
        is_time = time.monotonic() - self.looked_again >= SECONDS_BETWEEN_LOOKS
        again = full[:FULL_FOLDERS_LOOKED_AT_AGAIN] if is_time else []
        if is_time:
            self.looked_again = time.monotonic()
        for name in sorted(needed - set(full)) + again:
            self.folders.pop(name, None)
            self.folders[name] = self.list_folder(f"{directory}/{name}", stanza)

    def list_folder(self, path, stanza):
        return folder_of(json.loads(self.store.run("repo-ls", path, "--output=json", stanza=stanza, seconds=SECONDS_FOR_A_COMMAND)[1]))

    def keep_looking(self):
        while True:
            try:
                is_well = self.look()
            except Exception as error:  # whatever it is, the next look must come
                print(f"the archive can't be looked at: {self.store.tell(repr(error))}", file=sys.stderr, flush=True)
                is_well = False
            time.sleep(SECONDS_BETWEEN_LOOKS if is_well else SECONDS_UNTIL_SURE)

    def start(self):
        threading.Thread(target=self.keep_looking, daemon=True).start()
