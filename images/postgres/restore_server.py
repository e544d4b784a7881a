"""The server of a restore, alone: it replays the log, or is cleaned. No setting of the restored data has a say, and nobody can connect.

What is restored is hostile. While the server recovers, no session is open and nothing of the database is executed. The cleaning is done in
PostgreSQL's single-user mode, in which event triggers and the settings of roles and databases have no effect.
"""
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque

from restore_volume import DATA, FOR_RECOVERY, strip, write
from store_faults import Fault, tellable

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.environ.get("WORK", "/tmp/restore")
LINES_KEPT = 50
SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_TO_END = 10
ENDED_BEFORE = "recovery ended before configured recovery target was reached"
TOO_EARLY = "requested recovery stop point is before consistent recovery point"
#: Of these, recovery needs as many as the database had. Fewer of the others: Patroni would take ours for those of the database.
AS_BEFORE = {
    "max_prepared_transactions": "max_prepared_xacts setting",
    "max_locks_per_transaction": "max_locks_per_xact setting",
    "track_commit_timestamp": "track_commit_timestamp setting",  # where it is off, PostgreSQL forgets the times of all commits
}
ALONE = {
    "listen_addresses": "",
    "unix_socket_directories": WORK,
    "hba_file": f"{WORK}/pg_hba.conf",
    "ident_file": f"{WORK}/pg_ident.conf",
    "data_directory": DATA,
    "hot_standby": "off",
    "archive_mode": "off",
    "max_connections": "10",
    "max_wal_senders": "0",
    "max_worker_processes": "0",
    "max_logical_replication_workers": "0",
    "autovacuum": "off",
    # Otherwise PostgreSQL vacuums all the same, where transactions are old.
    "autovacuum_freeze_max_age": "2000000000",
    "autovacuum_multixact_freeze_max_age": "2000000000",
    "restart_after_crash": "off",
    "jit": "off",
    "search_path": "pg_catalog",
    "standard_conforming_strings": "on",
    "password_encryption": "scram-sha-256",
    "log_min_error_statement": "panic",  # a statement may have a password in it
    "log_statement": "none",
    "log_checkpoints": "off",
    "log_line_prefix": "",
    "log_timezone": "UTC",
    "timezone": "UTC",
    "lc_messages": "C",
}


def quoted(value):
    """A value in PostgreSQL's configuration."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


class Server:
    def __init__(self, major):
        self.bin = f"/usr/lib/postgresql/{major}/bin"
        if not os.path.isdir(self.bin):
            raise Fault("RecoveryFailed", f"the backup is of PostgreSQL {major}, which this image does not have")
        self.lines = deque(maxlen=LINES_KEPT)
        self.last_commit = None

    def control(self):
        """What `pg_control` says, by the names that pg_controldata prints."""
        told = subprocess.run([f"{self.bin}/pg_controldata", DATA], env={"LC_ALL": "C"}, capture_output=True, text=True, check=True).stdout
        return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in told.splitlines())}

    def configure(self, settings):
        os.makedirs(WORK, mode=0o700, exist_ok=True)
        control = self.control()
        settings = {**ALONE, **{name: control[told] for name, told in AS_BEFORE.items()}, **settings}
        files = {"postgresql.conf": "".join(f"{name} = {quoted(value)}\n" for name, value in settings.items())}
        for name, text in {**files, "pg_hba.conf": "local all all reject\n", "pg_ident.conf": ""}.items():
            with open(f"{WORK}/{name}", "w", encoding="utf-8") as opened:
                opened.write(text)

    def environment(self):
        """For fetch-segment, which PostgreSQL starts."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        return {**ours, "PATH": f"{self.bin}:{os.environ['PATH']}", "WORK": WORK}

    def recover(self, settings):
        """Replays the log and promotes. False where PostgreSQL has reached the end of the archive before its target."""
        strip(FOR_RECOVERY | {"backup_label.old", "tablespace_map.old"})
        write("recovery.signal", "")
        fetch = {"restore_command": f"{HERE}/fetch-segment %f %p", "recovery_target_action": "promote"}
        self.configure({**fetch, **settings})
        self.lines.clear()
        arguments = [f"{self.bin}/postgres", "-D", DATA, "-c", f"config_file={WORK}/postgresql.conf"]
        with subprocess.Popen(arguments, env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
            reader = threading.Thread(target=self.listen, args=(child.stderr,), daemon=True)
            reader.start()
            try:
                while child.poll() is None and not is_ready():
                    time.sleep(SECONDS_BETWEEN_LOOKS)
                child.send_signal(signal.SIGINT)  # a clean stop
                child.wait()
            finally:
                end(child)
                reader.join(SECONDS_TO_END)
        if child.returncode == 0 and not os.path.exists(f"{DATA}/recovery.signal"):
            return True
        if self.said(ENDED_BEFORE):
            return False
        raise self.fault()

    def listen(self, stream):
        for raw in stream:
            line = tellable(raw.decode("utf-8", "replace"), [])
            self.lines.append(line)
            print(line, file=sys.stderr, flush=True)
            found = re.search(r"last completed transaction was at log time (\S+ \S+)", line)
            if found:
                self.last_commit = found[1]

    def said(self, words):
        return next((line for line in self.lines if words in line), None)

    def fault(self):
        if self.said(TOO_EARLY):
            return Fault("TargetOutsideWindow", "the target is before the end of the backup")
        if self.said("No space left on device"):
            return Fault("VolumeTooSmall", "the volume was full before the end of the recovery")
        told = [line for line in self.lines if re.match("FATAL|PANIC|ERROR|DETAIL|HINT", line)] or list(self.lines)[-3:]
        return Fault("RecoveryFailed", tellable(" ".join(told) or "PostgreSQL ended without a word", []))

    def single(self, statements, database):
        """Executes statements without a session of the server; what PostgreSQL said to each is in the lines."""
        self.lines.clear()
        arguments = [f"{self.bin}/postgres", "--single", "-D", DATA, "-c", f"config_file={WORK}/postgresql.conf", database]
        text = "".join(f"{each};\n" for each in statements).encode()
        child = subprocess.run(arguments, env=self.environment(), input=text, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        self.lines.extend(line for line in map(str.strip, child.stderr.decode("utf-8", "replace").splitlines()) if line)
        return child.returncode

    def errors(self):
        return [line for line in self.lines if re.match("ERROR|FATAL|PANIC", line)]


def is_ready():
    """The postmaster notes in its lock file when it takes connections: after a promotion, because this is no hot standby."""
    try:
        with open(f"{DATA}/postmaster.pid", encoding="utf-8") as opened:
            return opened.read().splitlines()[7].strip() == "ready"
    except (OSError, IndexError):
        return False


def end(child):
    """Where this program was told to end, the server ends without a checkpoint."""
    for signum in (signal.SIGQUIT, signal.SIGKILL):
        if child.poll() is None:
            child.send_signal(signum)
            try:
                child.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                continue
