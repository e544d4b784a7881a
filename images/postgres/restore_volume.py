"""The volume that a restore fills: whose data is on it, what is left of an interrupted try, and which files of a backup may stay."""
import contextlib
import errno
import fcntl
import json
import os
import re
import shutil
import time

from store_faults import Fault

VOLUME = os.environ.get("VOLUME", "/var/lib/postgresql")
DATA = f"{VOLUME}/data"
TABLESPACES = f"{VOLUME}/tablespaces"
#: There while a restore works, and after one that was cut short. The entrypoint starts no server beside it.
MARK = f"{VOLUME}/restoring"
#: What became of a restore whose message was lost.
RESULT = f"{VOLUME}/restored.json"
LOCK = f"{VOLUME}/server.lock"
SECONDS_FOR_THE_LOCK = float(os.environ.get("SECONDS_FOR_THE_LOCK", 30))
OURS = {"data", "tablespaces", "restoring", "restored.json", "restored.json.new", "restoring.new", "server.lock", "lost+found"}

#: Everything that PostgreSQL itself has in a data directory. What else is there was put there by somebody.
OF_POSTGRESQL = {
    *("PG_VERSION", "base", "global", "pg_commit_ts", "pg_dynshmem", "pg_logical", "pg_multixact", "pg_notify", "pg_replslot", "pg_serial"),
    *("pg_snapshots", "pg_stat", "pg_stat_tmp", "pg_subtrans", "pg_tblspc", "pg_twophase", "pg_wal", "pg_xact"),
}
#: By these recovery knows where it begins.
FOR_RECOVERY = {"backup_label", "tablespace_map"}
#: What initdb has found out about the locale, where it is what the image knows. The operator sets the rest.
LOCALE_SETTINGS = {
    **dict.fromkeys(("lc_messages", "lc_monetary", "lc_numeric", "lc_time"), r"C|POSIX|C\.UTF-?8"),
    "default_text_search_config": r"pg_catalog\.[a-z]+",
    "datestyle": r"[a-z]+, *[a-z]+",
    "timezone": r"[\w+/-]+",
}


#: This process has the volume for itself.
is_taken = False


def take():
    """At most one container works on a volume, as entrypoint.sh has it. Kept until this process ends."""
    global is_taken
    wait_for_lock()
    is_taken = True


def wait_for_lock():
    taken = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o660)
    deadline = time.monotonic() + SECONDS_FOR_THE_LOCK
    while True:
        try:
            return fcntl.flock(taken, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise Fault("RecoveryFailed", "another container works on this volume") from error
            time.sleep(0.2)
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                raise
            return None


def note(path):
    try:
        with open(path, encoding="utf-8") as opened:
            return json.load(opened)
    except (OSError, ValueError):
        return None


def write_note(path, content):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{path}.new")  # it may be a link
    with open(os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
        json.dump(content, opened)
        opened.flush()
        os.fsync(opened.fileno())
    os.replace(f"{path}.new", path)
    sync(VOLUME)


def sync(directory):
    opened = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def claim(uid):
    """An empty data directory for this restore. Data that is not of this restore is never touched."""
    begun = note(MARK)
    if begun is None or begun.get("uid") != uid:
        refuse_foreign()
        write_note(MARK, {"uid": uid})
    empty(DATA)
    shutil.rmtree(TABLESPACES, ignore_errors=True)
    os.makedirs(DATA, exist_ok=True)
    os.chmod(DATA, 0o700)


def take_over(uid, data_bytes, log_bytes):
    """
    For a restore in place: what is there may stay, because only what differs is copied. Up to the mark nothing is changed, so that a
    failure by then takes nothing away.
    """
    begun = note(MARK)
    if begun is None or begun.get("uid") != uid:
        check_room(data_bytes, log_bytes, replaced=bytes_of(DATA) + bytes_of(TABLESPACES))
        write_note(MARK, {"uid": uid})
    remove_links(VOLUME)
    for entry in os.scandir(VOLUME):
        if entry.name not in OURS:
            remove(entry)
    if not {"PG_VERSION", "backup.manifest"} & set(os.listdir(DATA) if os.path.isdir(DATA) else []):
        empty(DATA)  # pgBackRest writes only into an empty directory, or into one that looks like a database
    os.makedirs(DATA, exist_ok=True)
    os.chmod(DATA, 0o700)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{DATA}/postmaster.pid")  # of a server that was killed: the lock says that none runs


def remove_links(directory):
    """A superuser of the database could have planted one, and the copy is made beside the keys of the store. pgBackRest makes its own anew."""
    for where, directories, files in os.walk(directory):
        for path in (f"{where}/{name}" for name in directories + files):
            if os.path.islink(path):
                os.unlink(path)


def refuse_foreign():
    there = sorted(set(os.listdir(VOLUME)) - {"server.lock", "lost+found"})
    foreign = [name for name in there if name != "data"] or (os.listdir(DATA) if "data" in there else [])
    if foreign:
        raise Fault("DataForeign", f"the volume has data that is not of this restore: {', '.join(foreign[:3])}")


def empty(directory):
    if not os.path.isdir(directory):
        return
    for entry in os.scandir(directory):
        remove(entry)


def remove(entry):
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path)
    else:
        os.unlink(entry.path)


def strip(kept=frozenset()):
    """Leaves nothing of the data directory but PostgreSQL's own files: no settings, no marks of Patroni, no slots."""
    settings = locale_settings()
    for entry in os.scandir(DATA):
        if entry.name not in OF_POSTGRESQL | kept:
            remove(entry)
    empty(f"{DATA}/pg_replslot")
    write("postgresql.auto.conf", "")
    # Patroni keeps this one as postgresql.base.conf, and writes its own beside it.
    write("postgresql.conf", "".join(f"{name} = '{value}'\n" for name, value in settings.items()))
    write("pg_hba.conf", "local all all peer\n")
    write("pg_ident.conf", "")


def locale_settings():
    for name in ("postgresql.base.conf", "postgresql.conf"):
        with contextlib.suppress(OSError), open(f"{DATA}/{name}", encoding="utf-8", errors="replace") as opened:
            text = opened.read()
            found = {name: re.findall(rf"^\s*{name}\s*=\s*'({form})'", text, re.MULTILINE) for name, form in LOCALE_SETTINGS.items()}
            return {name: values[-1] for name, values in found.items() if values}
    return {}


def write(name, text):
    path = f"{DATA}/{name}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # it may be a link
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())


def finish(result):
    """From here on this is the volume of a database that was stopped."""
    strip()
    os.chmod(DATA, 0o700)
    sync(DATA)
    write_note(RESULT, result)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(MARK)
    sync(VOLUME)


def available():
    found = os.statvfs(VOLUME)
    return found.f_bavail * found.f_frsize


def used():
    found = os.statvfs(VOLUME)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def check_room(data_bytes, log_bytes, replaced=0):
    """`replaced`: the bytes that make room for it."""
    free = available() + replaced
    if free < data_bytes + log_bytes:
        needed = f"{size(data_bytes + log_bytes)}: {size(data_bytes)} for the data and {size(log_bytes)} for the log that is replayed"
        raise Fault("VolumeTooSmall", f"the volume has {size(free)} free, and a restore needs at least {needed}")


def size(number):
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if number < 1024 or unit == "GiB":
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1024
    raise AssertionError


def bytes_of(directory):
    return sum(os.lstat(f"{where}/{name}").st_size for where, _, names in os.walk(directory) for name in names)
