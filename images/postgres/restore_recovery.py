"""Copies a backup and replays the log up to the target: from an empty data directory, or one that is replaced, to one that was stopped on a timeline of its own."""
import contextlib
import datetime
import json
import os
import shutil
import threading
import time

import restore_volume as volume
from archive_segments import SEGMENT_SIZE, history_paths, number_of
from backup_report import fault_in_verification, stanza_of
from repository_probe import connect
from restore_end import known_until, refuse_lost_commits
from restore_plan import Archive, checksums, fault_behind, plan, told
from restore_server import WORK, Server
from store_faults import Fault

SECONDS_FOR_A_LOOK = 60
SECONDS_FOR_A_LISTING = 600
SECONDS_BETWEEN_LOOKS = float(os.environ.get("SECONDS_BETWEEN_LOOKS", 1))
#: How much of the log PostgreSQL keeps on the volume while it replays: `max_wal_size` by its default.
LOG_KEPT = int(os.environ.get("LOG_KEPT", 64 * SEGMENT_SIZE))
#: `verify` names a damaged file only in its log.
WITH_NAMES = {"PGBACKREST_LOG_LEVEL_STDERR": "info"}
TOO_LATE = {
    "Time": "the archive has no commit after the asked time: restored to its end",
    "LSN": "the archive has nothing after the asked place: restored to its end",
}


class Recovery:
    def __init__(self, store, asked, progress):
        self.store = store
        self.asked = asked
        self.stanza = asked["stanza"]
        self.target = asked["target"]
        self.in_place = asked.get("inPlace", False)
        self.progress = progress

    def pgbackrest(self, *arguments, seconds, settings=None):
        return self.store.run_and_listen(*arguments, stanza=self.stanza, seconds=seconds, settings=settings)[1]

    def run(self):
        self.progress.begin("Preparing")
        stanza, archive = self.look()
        self.plan = plan(stanza, archive, self.asked.get("label"), self.target)
        self.archive = archive
        self.backups = stanza["backup"]
        backup = self.plan.way.backup
        major = next(each["version"] for each in stanza["db"] if each["id"] == backup["database"]["id"])
        self.server = Server(major)
        room = (backup["info"]["size"], min(LOG_KEPT, SEGMENT_SIZE * len(self.plan.way.segments)))
        if self.in_place:
            volume.take_over(self.asked["uid"], *room)
        else:
            volume.claim(self.asked["uid"])
            volume.check_room(*room)

        began = time.monotonic()
        self.copy(backup)
        copied = time.monotonic()
        note = self.replay()
        return {**self.facts(backup, major), "copySeconds": round(copied - began, 1), "recoverySeconds": round(time.monotonic() - copied, 1), **note}

    def look(self):
        """What the repository has. Within seconds, where it can't be reached: pgBackRest would say so after minutes."""
        connect(self.store.settings())
        directories = self.listing(f"archive/{self.stanza}", "--output=json")
        stanza = stanza_of(self.pgbackrest("info", "--output=json", seconds=SECONDS_FOR_A_LOOK))
        newest = max((each["id"] for each in stanza["db"]), default=None)
        directory = next((name for name in directories if newest is not None and name.endswith(f"-{newest}")), None)
        if directory is None:
            raise Fault("BackupMissing", f"the repository has no archive {self.stanza}")
        place = f"archive/{self.stanza}/{directory}"
        files = {path: file for path, file in self.listing(place, "--recurse", "--output=json").items() if file["type"] == "file"}
        self.history_files = history_paths(files)
        histories = {timeline: self.read(f"{place}/{path}") for timeline, path in self.history_files.items()}
        backups = [each for each in stanza["backup"] if each["database"]["id"] == newest]
        return {**stanza, "backup": backups}, Archive(files, histories)

    def listing(self, *arguments):
        return json.loads(self.pgbackrest("repo-ls", *arguments, seconds=SECONDS_FOR_A_LISTING))

    def read(self, path):
        return self.pgbackrest("repo-get", path, seconds=SECONDS_FOR_A_LOOK).decode("utf-8", "replace")

    def copy(self, backup):
        self.progress.begin("Copying")
        ended = threading.Event()
        if not self.in_place:  # where files are only compared, their bytes do not tell how far it is
            threading.Thread(target=self.watch_copying, args=(ended, volume.used(), backup["info"]["size"]), daemon=True).start()
        settings = {"PGBACKREST_PG1_PATH": volume.DATA}
        # What pgBackRest writes for the recovery goes: those settings are ours. But it looks whether the backup leads to this timeline.
        arguments = (f"--set={backup['label']}", f"--target-timeline={self.plan.way.timeline}", *self.tablespaces(backup["label"]))
        by_delta = ("--delta",) if self.in_place else ()
        try:
            self.pgbackrest("restore", *arguments, *by_delta, seconds=None, settings=settings)
        except Fault as fault:
            raise self.fault_of_copy(fault, backup["label"]) from fault
        finally:
            ended.set()

    def tablespaces(self, label):
        """Onto this volume, by number: a name can have a path in it, and the former place leads out of the volume."""
        backup = stanza_of(self.pgbackrest("info", "--output=json", f"--set={label}", seconds=SECONDS_FOR_A_LOOK))["backup"][0]
        numbers = [int(each["oid"]) for each in backup.get("tablespace") or []]
        return [f"--tablespace-map={number}={volume.TABLESPACES}/{number}" for number in numbers]

    def fault_of_copy(self, fault, label):
        """The same failure with a reason of a restore. pgBackRest does not say which file is damaged, and no word of a full volume."""
        if is_full() or fault.reason == "RepositoryFull":
            return Fault("VolumeTooSmall", "the volume was full before the backup was copied")
        if fault.reason in ("StoreFailed", "StoreUnreachable"):  # half a file looks like a connection that was cut off
            with contextlib.suppress(Fault):
                connect(self.store.settings())
                return self.damage(label) or fault
        return fault

    def damage(self, label):
        arguments = ("verify", f"--set={label}", "--output=text", "--verbose")
        _, text, told = self.store.run_and_listen(*arguments, stanza=self.stanza, seconds=SECONDS_FOR_A_LISTING, settings=WITH_NAMES)
        return fault_in_verification(text.decode("utf-8", "replace"), told, label)

    def watch_copying(self, ended, before, total):
        while not ended.wait(SECONDS_BETWEEN_LOOKS):
            self.progress.reached("Copying", max(0, volume.used() - before), total)

    def replay(self):
        """A note for people, where it ended elsewhere than asked."""
        self.progress.begin("Recovering")
        ended = threading.Event()
        threading.Thread(target=self.watch_replaying, args=(ended,), daemon=True).start()
        try:
            if self.recover(self.plan.settings):
                return {}
            self.check_end()
            if not self.plan.may_end_before:
                raise self.not_found()
            if self.target["type"] == "Time":
                refuse_lost_commits(self.target["value"], known_until(self.plan.way, self.backups, self.server.last_commit))
            # It goes on from its last restartpoint.
            timeline = {"recovery_target_timeline": self.plan.settings["recovery_target_timeline"]}
            if not self.recover(timeline):
                raise Fault("RecoveryFailed", "PostgreSQL missed a target that it was not given")
            return {"note": TOO_LATE[self.target["type"]]} if self.target["type"] in TOO_LATE else {}
        finally:
            ended.set()

    def recover(self, settings):
        self.write_plan()
        is_promoted = False
        try:
            is_promoted = self.server.recover(settings)
        except Fault as fault:
            failure = volume.note(f"{WORK}/failure.json")
            if is_full():
                raise Fault("VolumeTooSmall", "the volume was full before the end of the recovery") from fault
            if failure is None:
                raise
            raise Fault("ArchiveCutShort", f"{failure['name']} could not be read: {failure['message']}") from fault
        if is_promoted and not any(name.startswith("recovery_target") and name != "recovery_target_timeline" for name in settings):
            self.check_end()
        return is_promoted

    def write_plan(self):
        """Only now: nothing that came out of the repository may have written here."""
        shutil.rmtree(WORK, ignore_errors=True)
        os.makedirs(WORK, mode=0o700)
        known = checksums(self.archive.files)
        content = {
            "stanza": self.stanza,
            "checksums": {name: known[name] for name in self.plan.way.segments},
            "histories": [path.rpartition("/")[2] for path in self.history_files.values()],
        }
        with open(f"{WORK}/plan.json", "w", encoding="utf-8") as opened:
            json.dump(content, opened)

    def asked_for(self):
        with contextlib.suppress(FileNotFoundError), open(f"{WORK}/asked", encoding="utf-8") as opened:
            return [name for name in opened.read().split() if len(name) == len(self.plan.way.segments[-1])]
        return []

    def check_end(self):
        """PostgreSQL has come to the end of the archive only if it asked for more. Otherwise it took something for the end of the log."""
        last = self.plan.way.segments[-1]
        if not any(number_of(name)[1] > number_of(last)[1] for name in self.asked_for()):
            reached = (self.asked_for() or ["the first one"])[-1]
            raise Fault("ArchiveCutShort", f"recovery ended in segment {reached}, and the archive goes on to {last}")

    def not_found(self):
        fault = fault_behind(self.plan.way, self.archive)
        if fault:
            return fault
        begin, end = self.plan.way.backup["label"], self.plan.way.segments[-1]
        kind = {"TransactionID": "transaction", "RestorePoint": "restore point"}.get(self.target["type"], "target")
        return Fault("TargetNotFound", f"the archive has no {kind} {self.target.get('value')} between backup {begin} and segment {end}")

    def watch_replaying(self, ended):
        way = self.plan.way.segments
        places = {name: index for index, name in enumerate(way, start=1)}
        while not ended.wait(SECONDS_BETWEEN_LOOKS):
            reached = max((places.get(name, 0) for name in self.asked_for()), default=0)
            self.progress.reached("Recovering", reached * SEGMENT_SIZE, len(way) * SEGMENT_SIZE)

    def facts(self, backup, major):
        control = self.server.control()
        timeline = int(control["Latest checkpoint's TimeLineID"])
        # The last line of its history tells where the new timeline has left the former one.
        with open(f"{volume.DATA}/pg_wal/{timeline:08X}.history", encoding="utf-8") as opened:
            reached = opened.read().strip().splitlines()[-1].split()[1]
        return {
            "label": backup["label"],
            "reachedTime": moment_of(self.server.last_commit) or told(backup["timestamp"]["stop"]),
            "reachedLSN": reached,
            "timeline": timeline,
            "systemIdentifier": control["Database system identifier"],
            "postgresVersion": major,
            "databaseBytes": sum(map(volume.bytes_of, (f"{volume.DATA}/base", f"{volume.DATA}/global", volume.TABLESPACES))),
        }


def moment_of(text):
    """The time of a commit as PostgreSQL's log has it, to the microsecond: a later restore may ask for it."""
    return text and datetime.datetime.fromisoformat(text).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def is_full():
    return volume.available() < SEGMENT_SIZE
