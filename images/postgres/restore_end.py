"""Whether a restore to a time that found no later commit has every commit before it. Pure functions."""
import datetime

from restore_plan import UTC, moment
from store_faults import Fault

#: By `archive_timeout` a segment is closed within a minute of a commit in it.
LONGEST_SILENCE = datetime.timedelta(minutes=2)


def known_until(way, backups, last_commit):
    """Up to when the log of this way surely has every commit: to its last one, or to the end of a later backup in it.

    Its last segment does not tell that. When a segment arrived is known, and that may be hours after it was closed: the store was away, or is a copy.
    """
    segments = set(way.segments)
    stops = [each["timestamp"]["stop"] for each in backups if each["archive"]["stop"] in segments]
    # pgBackRest tells whole seconds. The next one is within what the backup's own window has.
    backed_up = datetime.datetime.fromtimestamp(max([way.backup["timestamp"]["stop"], *stops]) + 1, UTC)
    return max(backed_up, moment(last_commit)) if last_commit else backed_up


def refuse_lost_commits(asked, known):
    if moment(asked) - known > LONGEST_SILENCE:
        end = f"the last commit or backup in the archive is of {known:%Y-%m-%dT%H:%M:%S.%fZ}, and later commits may be missing"
        raise Fault("TargetOutsideWindow", f"{asked} can't be restored: {end}. Choose a time up to that, or Latest, which gives all that is there")
