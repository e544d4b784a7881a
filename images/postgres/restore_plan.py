"""From which backup to where: what a restore needs from the repository, and whether its target can be reached. Pure functions.

A target is refused here, before a byte is written, where it can be known: with the window in the message, and with the missing segment
where there is a gap. docs/designs/0008-restores.md has the reasons.
"""
import datetime
import re
from typing import NamedTuple

from archive_segments import (
    SEGMENT_SIZE,
    STORED,
    examine,
    first_missing,
    gap_of,
    left_timelines,
    name_of,
    number_of,
    position,
    stretches,
    whole_segments,
)
from backup_report import VERIFIED
from store_faults import Fault

UTC = datetime.timezone.utc
#: PostgreSQL compares the low 32 bits of a transaction's number.
TRANSACTION_BITS = (1 << 32) - 1
FIRST_TRANSACTION = 3


class Archive(NamedTuple):
    """`files` are the files of one archive by their path, as `repo-ls` tells them; `histories` the contents by timeline."""

    files: dict
    histories: dict


class Way(NamedTuple):
    """The segments from the beginning of a backup to the last one without a gap, and what is missing after that."""

    backup: dict
    timeline: int
    segments: list
    gaps: list
    #: Where the newest timeline has no segment yet: the position at which the former one was left. The last segment goes beyond it.
    fork: int | None


class Plan(NamedTuple):
    way: Way
    settings: dict
    #: Whether "nothing came after the target" is an answer. With a gap behind the way nobody knows.
    may_end_before: bool


def told(seconds):
    return datetime.datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def lsn(place):
    return f"{place >> 32:X}/{place & 0xFFFFFFFF:X}"


def moment(text):
    """A time with its zone, such as 2026-11-16T03:00:00Z."""
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise Fault("TargetOutsideWindow", f"{text} is no time") from error
    if found.tzinfo is None:
        raise Fault("TargetOutsideWindow", f"{text} has no zone")
    return found.astimezone(UTC)


def checksums(files):
    """The checksum of each whole segment, which pgBackRest has in its name."""
    names = (path.rpartition("/")[2] for path in files)
    return {each[1]: name[len(each[1]) + 1 :][:40] for name in names if (each := STORED.fullmatch(name)) and not each[2]}


def closed_at(files):
    """When each whole segment reached the archive."""
    names = ((path.rpartition("/")[2], file) for path, file in files.items())
    return {each[1]: file["time"] for name, file in names if (each := STORED.fullmatch(name)) and not each[2]}


def good_backups(stanza, label):
    """Oldest first. One that was never found good is used on a person's word only; one with a damaged page never."""
    whole = [each for each in stanza["backup"] if not each.get("error")]
    there = [each for each in whole if VERIFIED in (each.get("annotation") or {})]
    if label is not None:
        there = [each for each in whole if each["label"] == label]
        if not there:
            raise Fault("BackupMissing", f"the repository has no good backup {label}")
    if not there:
        raise Fault("BackupMissing", "the repository has no good backup")
    return sorted(there, key=lambda each: each["timestamp"]["stop"])


def stop_of(backup):
    return position(backup["lsn"]["stop"])


def timeline_of(backup):
    return number_of(backup["archive"]["stop"])[0]


def newest_timeline(backups, archive):
    """Of the whole archive. A backup that ended after its timeline was left leads to an older one, and to rows that nobody has any more."""
    return max([*map(timeline_of, backups), *archive.histories, *(number_of(name)[0] for name in whole_segments(archive.files))])


def on_timeline(backups, histories, timeline):
    """The backups from which a restore can reach this timeline: it has left theirs after their end, or is theirs."""
    left = dict(left_timelines(histories.get(timeline, "")))
    found = [each for each in backups if timeline_of(each) == timeline or left.get(timeline_of(each), -1) >= stop_of(each)]
    if not found:
        raise Fault("TargetNotFound", f"no backup leads to timeline {timeline} of this archive")
    return found


def way_from(backup, archive, timeline):
    """Fails where a segment is missing without which the backup itself is not consistent."""
    first, last = backup["archive"]["start"], backup["archive"]["stop"]
    found = examine(whole_segments(archive.files), archive.histories, first, timeline, stop_of(backup))
    if found.newest is None or number_of(found.newest)[1] < number_of(last)[1]:
        missing = first_missing(found, first, last)
        raise Fault("TargetAcrossGap", f"segment {missing} is missing, without which the backup {backup['label']} is not consistent")
    parts = stretches(first, found.timeline, archive.histories)
    end_timeline, end = number_of(found.newest)
    names = [
        name_of(on, number)
        for on, begin, until in parts
        if on <= end_timeline
        for number in range(begin, end + 1 if on == end_timeline else until)
    ]
    left_at = next(until for on, _, until in parts if on == end_timeline)
    fork = dict(left_timelines(archive.histories[found.timeline]))[end_timeline] if left_at == end else None
    return Way(backup, found.timeline, names, found.gaps or behind(end_timeline, end, left_at), fork)


def behind(timeline, end, left_at):
    """A history tells up to where its timeline follows the former one: more segments than the archive may have yet."""
    return [gap_of(timeline, end + 1, left_at - 1, SEGMENT_SIZE)] if left_at is not None and end + 1 < left_at else []


class Window:
    """From when to when a backup leads, as times and as places in the log."""

    def __init__(self, way, archive):
        # pgBackRest tells whole seconds: a target within the last one may be before the backup's end.
        self.begin = way.backup["timestamp"]["stop"] + 1
        self.end = closed_at(archive.files)[way.segments[-1]]
        self.first = stop_of(way.backup)
        self.last = way.fork or (number_of(way.segments[-1])[1] + 1) * SEGMENT_SIZE


def choose(backups, archive, timeline, allows):
    """The newest backup that the target allows, and its way; None where there is no such backup."""
    allowed = [each for each in backups if allows(each)]
    return way_from(allowed[-1], archive, timeline) if allowed else None


def across_gap(way, archive):
    gap = way.gaps[0]
    before = closed_at(archive.files)[way.segments[-1]]
    more = f" and {gap.count - 1} more are" if gap.count > 1 else " is"
    return Fault("TargetAcrossGap", f"segment {gap.first}{more} missing: from backup {way.backup['label']} nothing after {told(before)} can be restored")


def just_begun(way):
    """The first segment of a timeline has all that the former one had in it. Until it comes, PostgreSQL can read those rows for few targets."""
    more = f"try again in a minute, or ask for Latest or for an LSN up to {lsn(way.fork)}"
    return Fault("TargetOutsideWindow", f"timeline {way.timeline} has no segment in the archive yet, as right after a failover: {more}")


def fault_behind(way, archive):
    """Why nobody knows what came after the end of this way; None where that is the end of the archive."""
    if way.gaps:
        return across_gap(way, archive)
    return None if way.fork is None else just_begun(way)


def refused(what, backups, archive, timeline, form):
    """Outside of everything that the repository can give: from the first backup's end to the end of the archive."""
    oldest, newest = (Window(way_from(each, archive, timeline), archive) for each in (backups[0], backups[-1]))
    begin, end = (told(oldest.begin), told(newest.end)) if form == "time" else (lsn(oldest.first), lsn(newest.last))
    return Fault("TargetOutsideWindow", f"{what} can't be restored: from {begin} to {end} can")


def plan(stanza, archive, label, target):
    """What to do, or a Fault that says why it can't be done."""
    backups = good_backups(stanza, label)
    timeline = target.get("timeline")
    if timeline is None and label is None and target["type"] != "Immediate":
        timeline = newest_timeline(backups, archive)
    if timeline is not None:
        backups = on_timeline(backups, archive.histories, timeline)
    return PLANS[target["type"]](backups, archive, {**target, "timeline": timeline})


def plan_latest(backups, archive, target):
    way = choose(backups, archive, target["timeline"], lambda _: True)
    if way.gaps:
        raise across_gap(way, archive)
    # PostgreSQL would go on with what the former timeline had after it was left: rows that the newer one never had.
    settings = {} if way.fork is None else {"recovery_target_lsn": lsn(way.fork), "recovery_target_inclusive": "off"}
    return finished(way, settings, may_end_before=True)


def plan_time(backups, archive, target):
    timeline, asked = target["timeline"], moment(target["value"])
    way = choose(backups, archive, timeline, lambda each: each["timestamp"]["stop"] + 1 <= asked.timestamp())
    if way is None:
        raise refused(target["value"], backups, archive, timeline, "time")
    way = without_fork(way)
    fault = fault_behind(way, archive)
    if asked.timestamp() > Window(way, archive).end:
        raise fault or refused(target["value"], backups, archive, timeline, "time")
    return finished(way, {"recovery_target_time": f"{asked:%Y-%m-%d %H:%M:%S.%f}+00"}, may_end_before=fault is None)


def plan_lsn(backups, archive, target):
    timeline, asked = target["timeline"], position(target["value"])
    way = choose(backups, archive, timeline, lambda each: stop_of(each) <= asked)
    if way is None or asked > Window(way, archive).last:
        raise across_gap(way, archive) if way and way.gaps else refused(target["value"], backups, archive, timeline, "lsn")
    settings = {"recovery_target_lsn": lsn(asked)}
    if way.fork is not None:
        # With the record at this place, and none behind the fork: from a place in the middle of the last one, PostgreSQL would go on to the next.
        settings = {"recovery_target_lsn": lsn(min(asked + 1, way.fork)), "recovery_target_inclusive": "off"}
    return finished(way, settings, may_end_before=not way.gaps)


def plan_search(setting):
    """Nobody knows where a transaction or a restore point is. So from the oldest backup on whose way nothing is missing."""

    def made(backups, archive, target):
        ways = [way_from(each, archive, target["timeline"]) for each in backups[-1:]]
        for each in reversed(backups[:-1]):
            try:
                earlier = way_from(each, archive, target["timeline"])
            except Fault:
                break
            if earlier.gaps and not ways[-1].gaps:
                break
            ways.append(earlier)
        value = transaction(target["value"]) if setting == "recovery_target_xid" else target["value"]
        return finished(without_fork(ways[-1]), {setting: value}, may_end_before=False)

    return made


def transaction(text):
    number = int(text) & TRANSACTION_BITS
    if number < FIRST_TRANSACTION:
        raise Fault("TargetNotFound", f"{text} is no transaction")
    return str(number)


def plan_immediate(backups, archive, target):
    timeline = target["timeline"] or timeline_of(backups[-1])
    return finished(way_from(backups[-1], archive, timeline), {"recovery_target": "immediate"}, may_end_before=False)


def without_fork(way):
    """PostgreSQL knows one target at a time, so it can't stop at the fork as well: without the segment in which the timeline was left."""
    if way.fork is None:
        return way
    if way.segments[-1][8:] <= way.backup["archive"]["stop"][8:]:
        raise just_begun(way)
    return way._replace(segments=way.segments[:-1])


def finished(way, settings, may_end_before):
    return Plan(way, {**settings, "recovery_target_timeline": str(way.timeline)}, may_end_before)


PLANS = {
    "Latest": plan_latest,
    "Time": plan_time,
    "LSN": plan_lsn,
    "TransactionID": plan_search("recovery_target_xid"),
    "RestorePoint": plan_search("recovery_target_name"),
    "Immediate": plan_immediate,
}
