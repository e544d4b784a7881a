"""What pgBackRest's words mean: the reason of a failure, and the words without secrets, fit to be told. Pure functions."""
import re

LONGEST_MESSAGE = 500

#: In this order: a later pattern also fits some text of an earlier one.
REASONS = (
    ("ArchiveConflict", r"already exists in the repo\d* archive with a different checksum"),
    ("RepositoryFull", r"No space left on device|Disk quota exceeded|failed with 507|\[507\]|StorageFull|QuotaExceeded"),
    ("StoreUntrusted", r"unable to verify certificate|unable to find hostname .* in certificate"),
    ("WrongPassphrase", r"cipher header invalid|key/value found outside of section|unable to flush"),
    ("WrongRegion", r"AuthorizationHeaderMalformed|PermanentRedirect|failed with 301|failed with 307|region .*is wrong"),
    ("StoreDenied", r"failed with 40[13]"),
    ("BucketMissing", r"NoSuchBucket|failed with 404"),
    ("StoreUnreachable", r"unable to get address|unable to connect|timeout after \d+ms|Connection (refused|reset)|unexpected eof"),
)

#: There is no file `archive.info`: the stanza was not made yet.
STANZA_MISSING = r"FileMissingError.*archive\.info"


class Fault(Exception):
    """A failure with one of the reasons of docs/designs/0006-archive.md, and words that may be told.

    `text` is all that pgBackRest printed, to look into: it may have secrets in it. `code` is its exit code.
    """

    def __init__(self, reason, message, stanza_missing=False, text="", code=None):
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.stanza_missing = stanza_missing
        self.text = text
        self.code = code


def reason_of(text):
    return next((reason for reason, pattern in REASONS if re.search(pattern, text)), "StoreFailed")


def is_stanza_missing(text):
    return re.search(STANZA_MISSING, text, re.DOTALL) is not None and reason_of(text) == "StoreFailed"


def words_of(text):
    """What a person needs of pgBackRest's output: its first error, and of a store's answer the code and the message."""
    answer = re.search(r"HTTP request failed with [^:\n]*", text)
    if answer:
        details = [each for tag in ("Code", "Message") for each in re.findall(f"<{tag}>([^<]*)</{tag}>", text)[:1]]
        return ": ".join([answer.group(), *details])
    if reason_of(text) == "WrongPassphrase":
        return "the repository can't be read with this passphrase, or is not encrypted as asked"  # pgBackRest prints what it deciphered
    lines = [re.sub(r"^(.*P\d\d +)?[A-Z]+: (\[\d+\]: )?", "", line).strip() for line in text.splitlines()]
    return " ".join(line for line in lines if line and not re.match(r"HINT:|\[\w+\] on \d+ retries", line))


def tellable(text, secrets):
    """Without the secrets, before anything is cut off, and without characters that do not belong into a message."""
    # The longest first: one secret may be a part of another.
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "…")
    text = "".join(each if each.isprintable() else " " for each in text)
    return re.sub(" +", " ", text).strip()[:LONGEST_MESSAGE]
