"""The backups of one stanza: asks pgBackRest about them, and checks whether one can be restored."""
import json
import os
import time

from archive_histories import archive_directory
from archive_segments import examine, first_missing, history_paths, position, whole_segments
from backup_report import VERIFIED, bad_pages, facts_of, fault_in_verification, fault_of_run, stanza_of, words_for_pages
from repository_probe import now
from store_faults import Fault

ROOM_FOR_A_SEGMENT = 16 * 1024 * 1024
SECONDS_FOR_A_LOOK = 60
SECONDS_FOR_A_LISTING = 600
#: After a change of the leader, the former primary's last segments come later than those of the next one.
SECONDS_FOR_A_GAP = float(os.environ.get("SECONDS_FOR_A_GAP", 60))
#: An instance whose node is lost says nothing any more: the connection is given up after 30 s.
KEEP_ALIVE = {"PGBACKREST_TCP_KEEP_ALIVE_IDLE": "15", "PGBACKREST_TCP_KEEP_ALIVE_INTERVAL": "5", "PGBACKREST_TCP_KEEP_ALIVE_COUNT": "3"}
#: `verify` names a bad file only in its log.
WITH_NAMES = {"PGBACKREST_LOG_LEVEL_STDERR": "info"}


class Backups:
    def __init__(self, store, stanza, hosts):
        self.store = store
        self.stanza = stanza
        self.hosts = hosts
        self.settings = dict(KEEP_ALIVE)

    def pgbackrest(self, *arguments, seconds, settings=None):
        """Exit code, output, and what was told beside it; a failure has the reason of a run."""
        try:
            return self.store.run_and_listen(*arguments, stanza=self.stanza, seconds=seconds, settings={**self.settings, **(settings or {})})
        except Fault as fault:
            told = fault_of_run(fault, self.hosts)
            if told.reason == "BackupFailed" and self.is_full():
                told.reason = "RepositoryFull"
            raise told from fault

    def is_full(self):
        """Of a full volume pgBackRest only says that it was unable to write."""
        volume = self.store.volume()
        if volume is None:
            return False
        found = os.statvfs(volume)
        return found.f_bavail * found.f_frsize < ROOM_FOR_A_SEGMENT

    def info(self, *arguments):
        return stanza_of(self.pgbackrest("info", "--output=json", *arguments, seconds=SECONDS_FOR_A_LOOK)[1])

    def manifest(self, label):
        return self.content(f"backup/{self.stanza}/{label}/backup.manifest")

    def content(self, path):
        return self.pgbackrest("repo-get", path, seconds=SECONDS_FOR_A_LISTING)[1].decode("utf-8", "replace")

    def verify(self, label):
        """The facts of a backup that passed every check. No exit code is one: `backup`, `info` and `verify` end with 0 whatever they find."""
        began = time.monotonic()
        stanza = self.info(f"--set={label}")
        backup = stanza["backup"][0]
        if backup["error"]:
            found = bad_pages(self.manifest(label))
            raise Fault("PageChecksumsBad", self.store.tell(words_for_pages(found) if found else ", ".join(backup["error-list"])))
        _, text, told = self.pgbackrest("verify", f"--set={label}", "--output=text", "--verbose", seconds=None, settings=WITH_NAMES)
        fault = fault_in_verification(text.decode("utf-8", "replace"), told, label)
        if fault:
            raise Fault(fault.reason, self.store.tell(fault.message))
        self.look_for_gaps(backup)
        verification = {"time": now(), "walComplete": True, "checksumsGood": True, "seconds": round(time.monotonic() - began, 1)}
        self.pgbackrest("annotate", f"--set={label}", f"--annotation={VERIFIED}={verification['time']}", seconds=SECONDS_FOR_A_LOOK)
        return {**facts_of(stanza, backup), "verification": verification}

    def expire(self, label, fulls):
        """
        `fulls`: how many full backups are left, good or not, known to the operator or not. The log is kept from the oldest of them on:
        a smaller number would cut holes into what can be restored, and without one no log would ever go.
        """
        retention = ("--repo1-retention-archive-type=full", f"--repo1-retention-archive={fulls}")
        self.pgbackrest("expire", f"--set={label}", *retention, seconds=None)

    def remove_stanza(self):
        """An earlier archive with all of its log. pgBackRest wants to hear first that nobody works on it."""
        self.pgbackrest("stop", seconds=SECONDS_FOR_A_LOOK)
        self.pgbackrest("stanza-delete", "--force", "--pg1-path=/nonexistent", seconds=None)

    def look_for_gaps(self, backup):
        """pgBackRest itself has no eye for a missing segment, neither in `verify` nor in `info`."""
        deadline = time.monotonic() + SECONDS_FOR_A_GAP
        while True:
            found = self.examine(backup)
            missing = first_missing(found, backup["archive"]["start"], backup["archive"]["stop"])
            if missing is None:
                return
            if time.monotonic() > deadline:
                count = sum(gap.count for gap in found.gaps) - 1
                more = f" and {count} more are" if count > 0 else " is"
                raise Fault("WALIncomplete", f"the segment {missing}{more} missing in the archive")
            time.sleep(min(5, SECONDS_FOR_A_GAP))

    def examine(self, backup):
        directory = archive_directory(self.store, self.stanza, SECONDS_FOR_A_LOOK)
        if directory is None:
            return examine(set(), {}, backup["archive"]["start"])
        _, text, _ = self.pgbackrest("repo-ls", directory, "--recurse", "--output=json", seconds=SECONDS_FOR_A_LISTING)
        paths = list(json.loads(text))
        histories = {timeline: self.content(f"{directory}/{path}") for timeline, path in history_paths(paths).items()}
        return examine(whole_segments(paths), histories, backup["archive"]["start"], after=position(backup["lsn"]["stop"]))
