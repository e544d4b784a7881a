"""Which segments of the write-ahead log an archive has, along the timelines: the newest one that a restore reaches, and gaps. Pure functions.

PostgreSQL reads a segment from the newest timeline that has it. So the segment in which a timeline begins is needed on that timeline. The
former timeline may have it too: whole, as `.partial`, or not at all.
"""
import re
from typing import NamedTuple

SEGMENT_SIZE = 16 * 1024 * 1024
#: pgBackRest adds the checksum, and the suffix of the compression: NAME-CHECKSUM.zst.
STORED = re.compile(r"([0-9A-F]{24})(\.partial)?-[0-9a-f]{40}(\.[a-z0-9]+)?")
HISTORY = re.compile(r"([0-9A-F]{8})\.history")
#: A line of a history: the timeline that was left, and where.
LEFT = re.compile(r"\s*(\d+)\s+([0-9A-Fa-f]+/[0-9A-Fa-f]+)(\s.*)?")


class Gap(NamedTuple):
    """Segments that are missing although later ones are there."""

    first: str
    last: str
    count: int


class Found(NamedTuple):
    """`newest` is the last segment before the first gap; None where already the first segment is missing."""

    newest: str | None
    gaps: list[Gap]
    timeline: int


class Stretch(NamedTuple):
    """The numbers of the segments that are needed on one timeline. The last timeline has no end."""

    timeline: int
    begin: int
    end: int | None


def whole_segments(paths):
    """The segments among the paths of an archive, as pgBackRest stores them. Partial ones and labels are not among them."""
    stored = (STORED.fullmatch(path.rpartition("/")[2]) for path in paths)
    return {each[1] for each in stored if each and not each[2]}


def history_paths(paths):
    return {int(each[1], 16): path for path in paths if (each := HISTORY.fullmatch(path.rpartition("/")[2]))}


def position(text):
    """An LSN as a number."""
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


def left_timelines(history):
    """The timelines before the one that this history is of, oldest first, and the position at which each was left."""
    found = (LEFT.fullmatch(line) for line in history.splitlines() if not line.lstrip().startswith("#"))
    return [(int(each[1]), position(each[2])) for each in found if each]


def number_of(name, size=SEGMENT_SIZE):
    """Timeline and number of a segment."""
    return int(name[:8], 16), int(name[8:16], 16) * (0x100000000 // size) + int(name[16:], 16)


def name_of(timeline, number, size=SEGMENT_SIZE):
    high, low = divmod(number, 0x100000000 // size)
    return f"{timeline:08X}{high:08X}{low:08X}"


def newest_timeline(first, histories, after=None, size=SEGMENT_SIZE):
    """The newest timeline that goes through this segment, and leaves its timeline not before the position `after`."""
    timeline, number = number_of(first, size)

    def goes_through(history):
        left = dict(left_timelines(history))
        if timeline not in left:
            return False
        return left[timeline] >= after if after is not None else left[timeline] // size >= number

    return max([timeline, *(each for each, history in histories.items() if goes_through(history))])


def stretches(first, timeline, histories, size=SEGMENT_SIZE):
    """The way from a segment to a timeline."""
    from_timeline, begin = number_of(first, size)
    way = []
    if timeline != from_timeline:
        left = left_timelines(histories.get(timeline, ""))
        if from_timeline not in dict(left):
            raise ValueError(f"the history of timeline {timeline} does not go through timeline {from_timeline}")
        for each, at in left:
            if each >= from_timeline:
                end = max(begin, at // size)
                way.append(Stretch(each, begin, end))
                begin = end
    return [*way, Stretch(timeline, begin, None)]


def runs_of(numbers):
    """The segments as stretches without a gap, by their timeline: a million of them in a row are one pair."""
    runs = {}
    for timeline, number in numbers:
        known = runs.setdefault(timeline, [])
        if known and number == known[-1][1] + 1:
            known[-1] = known[-1][0], number
        else:
            known.append((number, number))
    return runs


def examine(segments, histories, first, timeline=None, after=None, size=SEGMENT_SIZE):
    """The same as examine_runs, for the names of the segments."""
    return examine_runs(runs_of(sorted(number_of(name, size) for name in segments)), histories, first, timeline, after, size)


def examine_runs(runs, histories, first, timeline=None, after=None, size=SEGMENT_SIZE):
    """What a restore finds that begins with the segment `first` and goes on to a timeline, the newest one unless told.

    `runs` are those of all segments, `histories` the contents by the number of their timeline. `after` is a position that has to be reached
    on the timeline of `first`, as the end of a backup: a timeline that begins before it in the same segment is another branch.
    """
    wanted = newest_timeline(first, histories, after, size) if timeline is None else timeline
    way = stretches(first, wanted, histories, size)
    newest, gaps, missing = None, [], []
    for on, begin, end in way:
        for since, until in runs.get(on, []):
            since, until = max(since, begin), until if end is None else min(until, end - 1)
            if since > until:
                continue
            if since > begin:
                missing.append(gap_of(on, begin, since - 1, size))
            gaps, missing = [*gaps, *missing], []  # missing segments are a gap once a later one is there
            newest = newest if gaps else (on, until)
            begin = until + 1
        if end is not None and begin < end:
            missing.append(gap_of(on, begin, end - 1, size))
    newest = switch_on_former(way, runs, newest) or newest
    return Found(newest and name_of(*newest, size), gaps, wanted)


def first_missing(found, first, last, size=SEGMENT_SIZE):
    """The first segment that a restore from `first` lacks: before a gap, or on the way to `last`. None where it lacks none."""
    if found.gaps:
        return found.gaps[0].first
    if found.newest is None:
        return first
    timeline, number = number_of(found.newest, size)
    return name_of(timeline, number + 1, size) if number < number_of(last, size)[1] else None


def gap_of(timeline, first, last, size):
    return Gap(name_of(timeline, first, size), name_of(timeline, last, size), last - first + 1)


def switch_on_former(way, runs, newest):
    """Where a new timeline has no segment yet, the former one may have the whole segment in which it was left."""
    following = way[0].begin if newest is None else newest[1] + 1
    return next(((on, end) for on, _, end in reversed(way) if end == following and has(runs, on, end)), None)


def has(runs, timeline, number):
    return any(since <= number <= until for since, until in runs.get(timeline, []))
