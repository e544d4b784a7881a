"""From when to when an archive can be restored, and what is missing in it. Pure functions.

The window reaches from the end of a good backup to the last segment that follows without a gap, along the newest timeline. There may be
several, with gaps between them: the newest one is told, and the gaps.
"""
from array import array
from typing import NamedTuple

from archive_segments import STORED, Found, examine_runs, number_of, runs_of
from restore_plan import on_timeline, stop_of, timeline_of, told
from store_faults import Fault

SEGMENTS_IN_A_FOLDER = 256
#: So many are told: the last ones.
LARGEST_NUMBER_OF_GAPS = 10
#: In place of the time at which a segment reached the archive.
MISSING = 0


class Reach(NamedTuple):
    backup: dict
    found: Found


def folder_of(files):
    """When each segment of a folder reached the archive: 2 kB for 256 of them, so that a million do not hurt."""
    closed = array("q", [MISSING]) * SEGMENTS_IN_A_FOLDER
    for path, file in files.items():
        name = STORED.fullmatch(path.rpartition("/")[2])
        if name and not name[2] and int(name[1][16:], 16) < SEGMENTS_IN_A_FOLDER:
            closed[int(name[1][16:], 16)] = max(file["time"], MISSING + 1)
    return closed


def is_needed(folder, first):
    """Whether a restore that begins with the segment `first` may read this folder: it goes forward, in the log and in timelines."""
    return folder[:8] >= first[:8] and folder[8:] >= first[8:16]


def numbers_in(folders):
    for name in sorted(folders):
        timeline, begin = number_of(f"{name}00000000")
        yield from ((timeline, begin + low) for low, at in enumerate(folders[name]) if at != MISSING)


def closing_time(folders, timeline, number):
    """Of this segment, on this timeline or on the one before that has it. None where nobody has it."""
    log, low = divmod(number, SEGMENTS_IN_A_FOLDER)
    there = [name for name, folder in folders.items() if name <= f"{timeline:08X}{log:08X}" and name[8:] == f"{log:08X}" and folder[low]]
    return folders[max(there)][low] if there else None


def window_of(backups, folders, histories, is_lasting):
    """`backups` are the good ones, oldest first. `is_lasting` says of a gap whether it is one, or its segments are merely on their way."""
    timeline = max([*map(timeline_of, backups), *histories, *(int(name[:8], 16) for name in folders)])
    try:
        leading = on_timeline(backups, histories, timeline)
    except Fault:
        return {"timeline": timeline, "complete": False, "backupCount": 0, "gaps": [], "gapCount": 0}
    runs = runs_of(numbers_in(folders))
    reaches = [Reach(each, examine_runs(runs, histories, each["archive"]["start"], timeline, stop_of(each))) for each in leading]
    gaps = [each for each in reaches[0].found.gaps if is_lasting(each)]
    whole = [each for each in reaches if is_consistent(each)]
    told_gaps = [gap_told(each, folders) for each in gaps[-LARGEST_NUMBER_OF_GAPS:]]
    window = {"timeline": timeline, "complete": False, "backupCount": len(leading), "gaps": told_gaps, "gapCount": len(gaps)}
    if not whole:
        return window
    end = whole[-1].found.newest
    first = next(each.backup for each in whole if each.found.newest == end)
    return {
        **window,
        "complete": not any(is_lasting(each) for each in whole[-1].found.gaps),
        "oldest": backup_told(whole[0].backup),
        "first": backup_told(first),
        "last": {"name": end, "at": told(closing_time(folders, *number_of(end)))},
    }


def is_consistent(reach):
    """Without a segment that was written while it was made, a backup leads nowhere."""
    return reach.found.newest is not None and number_of(reach.found.newest)[1] >= number_of(reach.backup["archive"]["stop"])[1]


def backup_told(backup):
    return {"label": backup["label"], "at": told(backup["timestamp"]["stop"])}


def gap_told(gap, folders):
    timeline, number = number_of(gap.first)
    before = closing_time(folders, timeline, number - 1)
    return {"first": gap.first, "last": gap.last, "count": gap.count, **({"before": told(before)} if before else {})}
