"""The histories of timelines in an archive, from memory.

A promotion waits for the answer whether the next timeline's number is taken, also while the store is away. This Pod alone adds to the
archive, so what it has listed once and taken since is all that there is.
"""
import re
import threading

SECONDS_FOR_A_HISTORY = 5
NAME = re.compile(r"[0-9A-F]{8}\.history")


class Histories:
    def __init__(self, store, stanza):
        self.store = store
        self.stanza = stanza
        self.of = None
        self.stored = None
        self.offered = {}
        self.guard = threading.RLock()  # the probe lists, while pushes add

    def turn_to(self, stanza):
        if self.of != stanza:
            self.of, self.stored, self.offered = stanza, None, {}

    @property
    def are_listed(self):
        with self.guard:
            self.turn_to(self.stanza())
            return self.stored is not None

    def find(self, name):
        """The content of a history that the archive has, or that an instance has begun and the store could not take yet."""
        return self.all_stored().get(name) or self.offered.get(name)

    def all_stored(self):
        with self.guard:
            if not self.are_listed:
                self.stored = self.read(self.of)
            return self.stored

    def read(self, stanza):
        directory = archive_directory(self.store, stanza)
        names = [name for name in listing(self.store, directory, stanza) if NAME.fullmatch(name)] if directory else []
        return {name: self.store.run("repo-get", f"{directory}/{name}", stanza=stanza, seconds=SECONDS_FOR_A_HISTORY)[1] for name in names}

    def offer(self, name, content):
        """Before it is stored: with the store away, two instances must not begin one timeline."""
        with self.guard:
            self.turn_to(self.stanza())
            self.offered.setdefault(name, content)

    def refuse(self, name):
        self.offered.pop(name, None)

    def is_stored(self, name, content):
        with self.guard:
            self.refuse(name)
            if self.stored is not None:
                self.stored[name] = content


def listing(store, directory, stanza, seconds=SECONDS_FOR_A_HISTORY):
    _, told = store.run("repo-ls", directory, stanza=stanza, seconds=seconds)
    return told.decode("utf-8", "replace").splitlines()


def archive_directory(store, stanza, seconds=SECONDS_FOR_A_HISTORY):
    """pgBackRest keeps the archive of a stanza in a directory that is named after the major; None before there is one."""
    found = [name for name in listing(store, f"archive/{stanza}", stanza, seconds) if re.fullmatch(r"[0-9.]+-[0-9]+", name)]
    return f"archive/{stanza}/{found[-1]}" if found else None
