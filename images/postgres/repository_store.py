"""Runs pgBackRest on the repository: with the keys as they are mounted now, within a deadline, and never beside another Pod's."""
import contextlib
import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading

from store_faults import Fault, is_stanza_missing, reason_of, tellable, words_of

MOUNTED = os.environ.get("MOUNTED", "/etc/sampledb")
MEMORY = os.environ.get("MEMORY", "/run/pgbackrest")
CONFIGURATION = f"{MOUNTED}/repository/pgbackrest.conf"
SECRETS = f"{MEMORY}/conf.d/secrets.conf"
#: A rotated key may still be in the answer to a command that began before. So these many values are taken out of messages.
SECRETS_REMEMBERED = 16


def read(path):
    with open(path, encoding="utf-8", errors="replace") as opened:
        return opened.read()


def settings_of(text):
    """The settings of pgBackRest's configuration, without regard to sections."""
    lines = (line.partition("=") for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#"))
    return {name.strip(): value.strip() for name, _, value in lines}


def files_asked_for(settings):
    """The mounted files that these settings need, and the option for which each is the value."""
    asked = {}
    if settings.get("repo1-type") == "s3" and settings.get("repo1-s3-key-type", "shared") == "shared":
        asked["store/accessKeyId"] = "repo1-s3-key"
        asked["store/secretAccessKey"] = "repo1-s3-key-secret"
    if settings.get("repo1-cipher-type", "none") != "none":
        asked["encryption/passphrase"] = "repo1-cipher-pass"
    return asked


def one_line(path, name):
    """The value in a mounted file. A line break inside would begin a setting of its own."""
    try:
        value = read(path).strip()
    except OSError as error:
        raise Fault("CredentialsMissing", f"{name} can't be read: {error.strerror}") from error
    if not value:
        raise Fault("CredentialsMissing", f"{name} is empty")
    if any(not each.isprintable() for each in value):
        raise Fault("CredentialsMissing", f"{name} has a line break or another control character inside")
    return value


def require_certificate(path):
    """pgBackRest would say no more than that it can't read it."""
    name = os.path.relpath(path, MOUNTED)
    if not (os.path.isfile(path) and os.path.getsize(path)):
        raise Fault("CredentialsMissing", f"{name} is missing or empty")
    if "CERTIFICATE-----" not in read(path):
        raise Fault("CredentialsMissing", f"{name} is no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----")


class Store:
    """`alone` takes the volume for this process: it is for the repository's Pod. A Job beside that Pod has a lock of another kind."""

    def __init__(self, alone=True):
        self.alone = alone
        self.remembered = []
        self.writing = threading.Lock()
        self.lock = None

    def settings(self):
        try:
            return settings_of(read(CONFIGURATION))
        except OSError as error:
            raise Fault("StoreFailed", f"pgbackrest.conf can't be read: {error.strerror}") from error

    def volume(self):
        """The directory of the repository, where it is a volume."""
        settings = self.settings()
        return settings.get("repo1-path") if settings.get("repo1-type", "posix") == "posix" else None

    def prepare(self):
        """Makes everything ready for a command. Fails with the reason why a command can't succeed."""
        settings = self.settings()
        values = {option: one_line(f"{MOUNTED}/{name}", name) for name, option in files_asked_for(settings).items()}
        authority = settings.get("repo1-storage-ca-file")
        if authority:
            require_certificate(authority)
        self.write("".join(["[global]\n", *(f"{option}={value}\n" for option, value in values.items())]), values.values())
        self.take_volume()

    def write(self, text, secrets):
        with self.writing:
            self.remembered = list(dict.fromkeys([*secrets, *self.remembered]))[:SECRETS_REMEMBERED]
            if os.path.exists(SECRETS) and read(SECRETS) == text:
                return
            os.makedirs(os.path.dirname(SECRETS), exist_ok=True)
            with open(os.open(f"{SECRETS}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as opened:
                opened.write(text)
            os.replace(f"{SECRETS}.new", SECRETS)  # a command that starts now reads the one or the other

    def take_volume(self):
        """After a lost node, or a forced deletion, another Pod may still write here. Kept until this process ends."""
        volume = self.volume()
        if not self.alone or volume is None or self.lock is not None:
            return
        with self.writing:
            if self.lock is not None:
                return
            try:
                taken = os.open(f"{volume}/repository.lock", os.O_RDWR | os.O_CREAT, 0o660)
                try:
                    fcntl.flock(taken, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as error:
                    os.close(taken)
                    raise Fault("StoreFailed", "another Pod still works on this volume") from error
                except OSError as error:
                    if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                        raise
                    print("this file system knows no locks: nothing keeps two Pods from one volume but Kubernetes", file=sys.stderr, flush=True)
                self.lock = taken
            except OSError as error:
                raise Fault(reason_of(error.strerror), f"the volume can't be locked: {error.strerror}") from error

    def tell(self, text):
        return tellable(text, self.remembered)

    def fault(self, text, code=None):
        message = self.tell(words_of(text)) or f"pgBackRest ended with {code} and without a word"
        return Fault(reason_of(text), message, is_stanza_missing(text), text, code)

    def run(self, *arguments, **options):
        """Exit code and output of a command that ended with one of the good codes; its errors raise a Fault."""
        return self.run_and_listen(*arguments, **options)[:2]

    def run_and_listen(self, *arguments, stanza, seconds, content=b"", good=(0,), settings=None):
        """The same, and what the command told beside its output: more than errors, where `settings` ask for it."""
        self.prepare()
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PGBACKREST_")},
            # By the environment: an option that a command does not know is passed over there, and is an error among its arguments.
            "PGBACKREST_CONFIG": CONFIGURATION,
            "PGBACKREST_CONFIG_INCLUDE_PATH": os.path.dirname(SECRETS),
            "PGBACKREST_LOCK_PATH": f"{MEMORY}/lock",
            "PGBACKREST_LOG_LEVEL_CONSOLE": "off",  # its standard output is for content only
            "PGBACKREST_LOG_LEVEL_STDERR": "error",
            "PGBACKREST_LOG_LEVEL_FILE": "off",
            "PGBACKREST_IO_TIMEOUT": "5",
            "PGBACKREST_STANZA": stanza,
            **(settings or {}),
        }
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(["pgbackrest", *arguments], env=environment, start_new_session=True, **pipes) as child:
            try:
                output, errors = child.communicate(content, timeout=seconds)
            except BaseException as error:  # also where this program is told to end
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.communicate()
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
                reason = "StoreUnreachable" if self.volume() is None else "StoreFailed"
                raise Fault(reason, f"the store has not answered within {seconds} s") from error
        told = errors.decode("utf-8", "replace")
        if child.returncode not in good:
            raise self.fault(told, child.returncode)
        return child.returncode, output, told
