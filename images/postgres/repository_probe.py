"""Whether the store works: writes a file, reads it and deletes it, again and again, and says which step failed and why."""
import contextlib
import os
import socket
import ssl
import sys
import threading
import time

from store_faults import Fault

FILE = "sampledb-probe"
SECONDS_FOR_A_STEP = 30
SECONDS_TO_CONNECT = 5
SECONDS_BETWEEN_PROBES = 60
SECONDS_AFTER_A_FAILURE = 5
HTTPS = 443


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def address_of(settings):
    """Where pgBackRest would connect to, and by which name it would check the certificate; None for a volume."""
    if settings.get("repo1-type") != "s3":
        return None
    host = settings.get("repo1-s3-endpoint", "").removeprefix("https://").partition("/")[0]
    host, _, port = host.partition(":") if host.count(":") == 1 else (host, "", "")
    if settings.get("repo1-s3-uri-style", "host") == "host":
        host = f"{settings.get('repo1-s3-bucket')}.{host}"
    return settings.get("repo1-storage-host", host), int(settings.get("repo1-storage-port") or port or HTTPS), host


def connect(settings):
    """A connection of our own: pgBackRest says why it has none after one to seven minutes."""
    address = address_of(settings)
    if address is None:
        return
    host, port, name = address
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority = settings.get("repo1-storage-ca-file")
    if settings.get("repo1-storage-verify-tls") == "n":
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    elif authority:
        try:
            context.load_verify_locations(authority)
        except ssl.SSLError as error:
            raise Fault("CredentialsMissing", f"{os.path.basename(authority)} can't be read as certificates: {error.reason}") from error
    else:
        context.load_default_certs()
    try:
        with socket.create_connection((host, port), SECONDS_TO_CONNECT) as plain, context.wrap_socket(plain, server_hostname=name):
            pass
    except ssl.SSLCertVerificationError as error:
        raise Fault("StoreUntrusted", f"the certificate of {host}:{port} is not trusted: {error.verify_message}") from error
    except OSError as error:
        raise Fault("StoreUnreachable", f"{host}:{port} can't be reached: {error.strerror or error}") from error


class Probe:
    """The outcome of the last probe, and the loop that makes the next one."""

    def __init__(self, store, stanza, file=FILE):
        self.store = store
        self.stanza = stanza
        self.file = file  # of each program another one: they would read what the other has written
        self.last = None
        self.on_success = lambda: None
        self.doubted = threading.Event()

    def is_cut_off(self):
        """A command would hang: the last probe had no connection."""
        return self.last is not None and self.last.get("reason") in ("StoreUnreachable", "StoreUntrusted")

    def compare(self, works):
        """A push has found that the store works, or does not. Where the last probe found otherwise, the next one comes soon."""
        if self.last is not None and self.last["ok"] != works:
            self.doubted.set()

    @contextlib.contextmanager
    def doubted_after(self, seconds):
        """A push that lasts for so long is as good a reason to look at the store as one that fails."""
        timer = threading.Timer(seconds, self.compare, (False,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def steps(self):
        content = os.urandom(16).hex().encode()

        def run(*arguments, **options):
            return self.store.run(*arguments, stanza=self.stanza(), seconds=SECONDS_FOR_A_STEP, **options)

        def read_back():
            # Raw: of a file that is not a part of a backup, pgBackRest does not know by which passphrase to read it.
            if run("repo-get", "--raw", self.file)[1] != content:
                raise Fault("StoreFailed", "the store gave back another content than was written")

        def decrypt():
            found, text = run("repo-get", "--ignore-missing", f"archive/{self.stanza()}/archive.info", good=(0, 1))
            if found == 0 and not text.startswith(b"[backrest]"):
                raise Fault("WrongPassphrase", "the repository is encrypted, and no passphrase is given")

        yield "credentials", self.store.prepare
        yield "connect", lambda: connect(self.store.settings())
        yield "write", lambda: run("repo-put", "--raw", self.file, content=content)
        yield "read", read_back
        yield "delete", lambda: run("repo-rm", self.file)
        yield "decrypt", decrypt

    def look(self):
        began, at, step = time.monotonic(), now(), "credentials"
        try:
            for step, act in self.steps():
                act()
            self.on_success()
            found = {"ok": True}
        except Fault as fault:
            found = {"ok": False, "reason": fault.reason, "step": step, "message": self.store.tell(fault.message)}
        except Exception as error:  # whatever it is, the next probe must come
            found = {"ok": False, "reason": "StoreFailed", "step": step, "message": self.store.tell(repr(error))}
        found = {"at": at, **found, "seconds": round(time.monotonic() - began, 3)}
        if found["ok"] != (self.last or {}).get("ok"):
            print("the store works" if found["ok"] else f"the store fails: {found['reason']}: {found['message']}", file=sys.stderr, flush=True)
        self.last = found
        return found["ok"]

    def keep_looking(self):
        pause = SECONDS_AFTER_A_FAILURE
        while True:
            self.doubted.clear()
            is_good = self.look()
            time.sleep(SECONDS_AFTER_A_FAILURE)  # at least, also where pushes and probes never agree
            self.doubted.wait((SECONDS_BETWEEN_PROBES if is_good else pause) - SECONDS_AFTER_A_FAILURE)
            pause = SECONDS_AFTER_A_FAILURE if is_good else min(2 * pause, SECONDS_BETWEEN_PROBES)

    def start(self):
        threading.Thread(target=self.keep_looking, daemon=True).start()
