"""What pgBackRest's words about backups mean: the facts of a backup, what is wrong with it, why a run failed. Pure functions."""
import json
import re
import time

from store_faults import Fault, reason_of

#: By this annotation a backup is found again whose run was lost.
UID = "sampledb-uid"
#: When a backup was found good. One without it counts for nothing, and nothing is built on it.
VERIFIED = "sampledb-verified"
#: The spec of the SampleDB when the backup began, as the operator packed it. It goes with the backup, and is encrypted as the repository is.
SPEC = "sampledb-spec"
#: `info` ends with 0 also where it could read nothing.
UNREADABLE = 99
NOT_ARCHIVED = 82
LOCKED = 50
#: There is no primary. Why, pgBackRest says only in a warning.
NO_PRIMARY = 56
#: The replica that is to be copied has not come to where the backup begins. One that was promoted never does.
LEFT_BEHIND = "timeout before standby replayed"
#: A process at the other end of a connection has gone. pgBackRest may stumble over its own state after that, and say nothing else.
BROKEN_OFF = (
    r"TLS error \[\d+:\d+\]|unexpected eof|Connection reset|Broken pipe|timeout after \d+ms waiting|terminating connection|server closed the connection"
    r"|client state is '\w+' but expected"
)


def stanza_of(text):
    """The part of `info` about the stanza that was asked for; fails where the repository could not be read."""
    told = (json.loads(text) or [{}])[0]
    for repository in told.get("repo", []):
        status = repository.get("status", {})
        if status.get("code") == UNREADABLE:
            raise Fault(reason_of(status.get("message", "")), status.get("message", ""))
    return {"backup": [], "db": [], "status": {}, **told}


def backup_with(stanza, uid):
    """The last one: a run that was resumed has one backup."""
    found = [each for each in stanza["backup"] if (each.get("annotation") or {}).get(UID) == uid]
    return found[-1] if found else None


def facts_of(stanza, backup):
    database = next(each for each in stanza["db"] if each["id"] == backup["database"]["id"])
    return {
        "label": backup["label"],
        "type": backup["type"],
        "startTime": moment(backup["timestamp"]["start"]),
        "stopTime": moment(backup["timestamp"]["stop"]),
        "databaseBytes": backup["info"]["size"],
        "copiedBytes": backup["info"]["delta"],
        "repositoryBytes": backup["info"]["repository"]["delta"],
        "startLSN": backup["lsn"]["start"],
        "stopLSN": backup["lsn"]["stop"],
        "firstWAL": backup["archive"]["start"],
        "lastWAL": backup["archive"]["stop"],
        "timeline": int(backup["archive"]["stop"][:8], 16),
        # As text: it has 64 bits, and JSON's numbers have 53 for many readers.
        "systemIdentifier": str(database["system-id"]),
        "postgresVersion": database["version"],
    }


def moment(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def is_good(backup):
    return VERIFIED in (backup.get("annotation") or {})


def type_to_make(stanza, asked):
    """pgBackRest builds on the newest full backup or the newest one at all, good or not. The type that builds on nothing but good ones."""
    good = [is_good(each) for each in stanza["backup"]]
    good_fulls = [is_good(each) for each in stanza["backup"] if each["type"] == "full"]
    if asked == "incr" and good and good[-1]:
        return "incr"
    return "diff" if asked != "full" and good_fulls and good_fulls[-1] else "full"


def dependents_of(stanza, label):
    """The backups that can't be restored without this one."""
    return {each["label"] for each in stanza["backup"] if label in (each.get("reference") or [])}


def why_needed(stanza, label, going, known, is_current):
    """Why this one must stay; None where it may go. The operator judges by its objects, and the repository may hold more than those tell."""
    unknown = sorted(each["label"] for each in stanza["backup"] if each["label"] in going - known - {label} and is_good(each))
    if unknown:
        return f"these build on {label} and are not to go: {', '.join(unknown)}"
    left = [each for each in stanza["backup"] if each["label"] not in going]
    takes_good = any(is_good(each) for each in stanza["backup"] if each["label"] in going)
    if is_current and takes_good and not any(is_good(each) for each in left):
        return f"{label} is the last good backup in the repository"
    if is_current and not left:
        return f"{label} is all that the repository has, and pgBackRest does not remove that"
    return None


def count_of_fulls(stanza, labels):
    return sum(each["type"] == "full" and each["label"] in labels for each in stanza["backup"])


def progress_of(stanza):
    """Bytes that are copied, and all of them; None while nobody knows."""
    lock = stanza["status"].get("lock", {}).get("backup", {})
    return (lock.get("size-cplt", 0), lock["size"]) if lock.get("size") else None


def bad_pages(manifest):
    """The files in which pages have a bad checksum, and the numbers of those pages, as far as pgBackRest tells them."""
    found = {}
    for line in manifest.splitlines():
        name, _, value = line.partition("={")
        if '"checksum-page":false' in value:
            told = json.loads(f"{{{value}").get("checksum-page-error", [])
            found[name.removeprefix("pg_data/")] = ["-".join(map(str, each)) if isinstance(each, list) else str(each) for each in told]
    return found


def words_for_pages(found):
    name, pages = next(iter(found.items()))
    where = f" at page{'s' if len(pages) > 1 or '-' in ''.join(pages) else ''} {', '.join(pages)}" if pages else ""
    others = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"bad page checksum in file {name}{where}{others}"


def is_copied_from_standby(manifest):
    return "\noption-backup-standby=true" in manifest


def fault_in_verification(text, told, label):
    """None where `verify` has found everything good. It ends with 0 whatever it finds, and names files beside its output."""
    bad = [*dict.fromkeys(re.findall(r"^(?:INFO: )?((?:invalid |file missing|unable ).*)$", told, re.MULTILINE))]
    of_backup = rf"^  backup: {re.escape(label)}, status: (.*), total files checked: (\d+), total valid files: (\d+)$"
    verified = re.search(of_backup, text, re.MULTILINE)
    segments = [(int(checked), int(valid)) for checked, valid in re.findall(r"total WAL checked: (\d+), total valid WAL: (\d+)", text)]
    all_good = verified and verified[1] == "valid" and verified[2] == verified[3] and all(checked == valid for checked, valid in segments)
    if re.search(r"^status: ok$", text, re.MULTILINE) and all_good and not bad:
        return None
    reason = next((found for found in map(reason_of, bad) if found != "StoreFailed"), "RepositoryFileBad")
    return Fault(reason, "; ".join([*bad[:3], *([f"and {len(bad) - 3} more"] if len(bad) > 3 else [])]) or text or "verify said nothing")


def is_broken_off(fault):
    """Whether a connection ended in the middle of a copy: that of an instance, or that of the store. A full or forbidden store breaks connections off too."""
    if fault.reason == "InstanceUnreachable":
        return fault.code != NO_PRIMARY
    return fault.reason in ("StoreUnreachable", "BackupFailed") and re.search(BROKEN_OFF, fault.text) is not None


def is_left_behind(fault):
    return LEFT_BEHIND in fault.text


def broken_off(host, fault):
    happened = "has not followed the primary in time, as after a failover" if is_left_behind(fault) else "ended during the backup, or was cut off"
    return f"{host} {happened}: make another Backup, which works as soon as the SampleDB has a primary ({fault.message})"


def fault_of_run(fault, hosts):
    """The same failure with a reason of a backup. The words about instances come first: an instance is cut off in the same words as a store."""
    text = fault.text
    if LEFT_BEHIND in text:  # with the same code as a segment that is not archived
        reason = "InstanceUnreachable"
    elif fault.code == NOT_ARCHIVED or "was not archived before" in text:
        reason = "WALNotArchived"
    elif fault.code == LOCKED or re.search("LockAcquireError|unable to acquire lock", text):
        reason = "BackupRunning"
    elif re.search("unable to check pg|unable to find (a )?primary|access denied", text) or any(f"'{host}" in text for host in hosts):
        reason = "InstanceUnreachable"
    elif fault.reason == "StoreFailed":
        reason = "BackupFailed"
    else:
        reason = fault.reason
    return Fault(reason, fault.message, text=text, code=fault.code)
