"""Outages that prevent writes to an audit log while a gateway serves. Each can be started and ended. An outage that
needs root or a certain file system raises Unavailable without it."""

import contextlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import time

from edits import back_up


class Unavailable(Exception):
    """This machine does not support the outage; the text is the reason."""


def require_root():
    if os.geteuid() != 0:
        raise Unavailable("needs root")


def run(*command):
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if ended.returncode != 0:
        raise Unavailable(f"{command[0]}: {(ended.stderr or ended.stdout).strip()}")


class Outage:
    """The log's directory is `place`; the database may be read from `database`."""

    # Whether each request has either a signature and an entry, or neither.
    is_exact = True
    # Whether callers must notice the outage. If they need not, nothing may be lost, noticed or not.
    is_noticed = True
    # Seconds after which a write counts as hung.
    write_timeout = 1

    def __init__(self, directory):
        self.directory = directory
        self.place = directory / "log"
        self.database = self.place / "audit.db"
        self.environment = {}

    def prepare(self):
        """Runs before the gateway starts."""
        self.place.mkdir(exist_ok=True)

    def begin(self): ...

    def end(self): ...

    def clean_up(self):
        """Runs after every outcome."""

    @property
    def files(self):
        return [path for path in self.place.iterdir() if path.name in ("audit.db", "audit.db-wal", "audit.db-shm")]

    def __enter__(self):
        try:
            self.prepare()
        except BaseException:
            self.clean_up()
            raise
        return self

    def __exit__(self, *_):
        self.clean_up()


# Disks


class DiskFull(Outage):
    """A file fills a disk of a few MiB."""

    def prepare(self):
        require_root()
        super().prepare()
        run("mount", "-t", "tmpfs", "-o", "size=12m,mode=0700", "tmpfs", self.place)

    def begin(self):
        with contextlib.suppress(OSError), open(self.place / "filler", "wb", buffering=0) as filler:
            for size in (1 << 16, 1 << 12):
                with contextlib.suppress(OSError):
                    while True:
                        filler.write(bytes(size))

    def end(self):
        (self.place / "filler").unlink()

    def clean_up(self):
        subprocess.run(["umount", "--lazy", self.place], stderr=subprocess.DEVNULL)


class Frozen(Outage):
    """The file system is frozen, so every write waits."""

    is_exact = False

    def prepare(self):
        require_root()
        super().prepare()
        image = self.directory / "image"
        with open(image, "wb") as file:
            file.truncate(64 << 20)
        run("mkfs.ext4", "-q", image)
        run("mount", "-o", "loop", image, self.place)
        self._is_frozen = False

    def begin(self):
        run("fsfreeze", "--freeze", self.place)
        self._is_frozen = True

    def end(self):
        run("fsfreeze", "--unfreeze", self.place)
        self._is_frozen = False

    def clean_up(self):
        if getattr(self, "_is_frozen", False):
            subprocess.run(["fsfreeze", "--unfreeze", self.place])
        subprocess.run(["umount", "--lazy", self.place], stderr=subprocess.DEVNULL)


class FaultyDisk(Outage):
    """The library faulty_disk.c lets SQLite's calls fail or wait."""

    def __init__(self, directory, fault):
        super().__init__(directory)
        self.fault = fault
        # Data that could not be made durable may still be in the file for a later reader.
        self.is_exact = fault == "full"

    def prepare(self):
        super().prepare()
        if not shutil.which("gcc"):
            raise Unavailable("needs gcc")
        library = self.directory / "faulty_disk.so"
        run("gcc", "-shared", "-fPIC", "-O1", "-o", library, pathlib.Path(__file__).with_name("faulty_disk.c"), "-ldl")
        self.environment = {
            "LD_PRELOAD": str(library), "FAULTY_DISK": str(self.directory), "FAULTY_DISK_FILES": str(self.database)
        }  # fmt: skip

    def begin(self):
        (self.directory / self.fault).touch()

    def end(self):
        (self.directory / self.fault).unlink()

    def clean_up(self):
        # No process may wait forever.
        (self.directory / self.fault).unlink(missing_ok=True)


# Files


class ReadOnly(Outage):
    def begin(self):
        self._modes = {path: path.stat().st_mode for path in self.files}
        for path in self._modes:
            path.chmod(0o444)

    def end(self):
        for path, mode in self._modes.items():
            path.chmod(mode)


class Immutable(Outage):
    """Files that even root cannot write."""

    is_exact = False

    def prepare(self):
        require_root()
        super().prepare()
        probe = self.place / "probe"
        probe.touch()
        try:
            run("chattr", "+i", probe)
            run("chattr", "-i", probe)
        finally:
            probe.unlink(missing_ok=True)

    def begin(self):
        # Not the shared memory (-shm): each process that maps it would get SIGBUS.
        self._files = [path for path in self.files if path.suffix != ".db-shm"]
        run("chattr", "+i", *self._files)

    def end(self):
        run("chattr", "-i", *self._files)

    def clean_up(self):
        if getattr(self, "_files", None):
            subprocess.run(["chattr", "-i", *self._files], stderr=subprocess.DEVNULL)


class FileAway(Outage):
    # A commit in progress becomes durable in a file that is not at its path, so the gateway refuses it.
    is_exact = False

    def begin(self):
        self.database.rename(self.place / "away")

    def end(self):
        (self.place / "away").rename(self.database)


class DirectoryAway(Outage):
    is_exact = False

    def begin(self):
        self.place.rename(self.directory / "away")

    def end(self):
        (self.directory / "away").rename(self.place)


class LogFileRemoved(Outage):
    """The gateway still has the removed write-ahead log open and copies its contents into the database."""

    is_noticed, is_exact = False, False

    def begin(self):
        (self.place / "audit.db-wal").unlink()


class OlderCopy(Outage):
    """An older copy replaces the database; later the original returns."""

    is_exact = False

    def begin(self):
        # The database first: with it, the gateway would begin a new -wal file, which `end` would overwrite.
        self._replace(sorted(self.files))

    def _replace(self, files):
        away = self.directory / "away"
        away.mkdir()
        for path in files:
            path.rename(away / path.name)
        shutil.copy(self.copy, self.database)

    def take_copy(self):
        """Runs while the gateway writes."""
        self.copy = self.directory / "copy.db"
        back_up(self.database, self.copy)

    def end(self):
        # Rename each file atomically, the database last, so that no process sees it with files of another database.
        away = self.directory / "away"
        for name in ("audit.db-wal", "audit.db-shm", "audit.db"):
            if (away / name).exists():
                (away / name).rename(self.place / name)


class OlderDatabase(OlderCopy):
    """As OlderCopy, but -wal and -shm stay. The write-ahead log may make the copy look complete."""

    def begin(self):
        self._replace([self.database])


# Locks


class Locked(Outage):
    """Another process holds SQLite's write lock."""

    def begin(self):
        self._connection = sqlite3.connect(self.database, isolation_level=None, timeout=10)
        self._connection.execute("BEGIN IMMEDIATE")

    def end(self):
        self._connection.execute("ROLLBACK")
        self._connection.close()


OUTAGES = {
    "the disk is full": DiskFull,
    "the disk says that it is full": lambda directory: FaultyDisk(directory, "full"),
    "the disk cannot make it durable": lambda directory: FaultyDisk(directory, "broken"),
    "the disk hangs": lambda directory: FaultyDisk(directory, "hung"),
    "the file system is frozen": Frozen,
    "the files are read-only": ReadOnly,
    "the files are immutable": Immutable,
    "the database was moved away": FileAway,
    "the directory was moved away": DirectoryAway,
    "the write-ahead log was removed": LogFileRemoved,
    "an older copy was put back": OlderCopy,
    "an older database was put back": OlderDatabase,
    "another process keeps the lock": Locked,
}


# Effects on callers


class OutageRun:
    """A gateway under load, with an outage in the middle."""

    def __init__(self, service, outage, load):
        self.service, self.outage, self.load = service, outage, load
        self.surprises = []
        # The number of this object's own requests that were refused, in addition to the load's.
        self.refused = 0
        # Seconds; None if callers noticed nothing.
        self.until_refused = self.until_back = None

    def run(self):
        self.load.wait_for(20)
        if isinstance(self.outage, OlderCopy):
            self.outage.take_copy()
            # Enough for SQLite to checkpoint the write-ahead log and restart it.
            self.load.wait_for(len(self.load.signed) + 2000)
        begun = time.monotonic()
        self.outage.begin()
        if self._is_noticed(begun):
            self._expect_nothing_signed()
            self._end()
        self.load.wait_for(20, 200, after=time.monotonic())
        status, _, body = self.service.ask("GET", "/readyz")
        if status != 200:
            self.surprises.append(f"/readyz after the outage: {status} {body}")

    def _is_noticed(self, begun):
        if self.outage.is_noticed:
            self.until_refused = self.load.wait_for(1, 503, after=begun) - begun
            return True
        self.load.wait_for(100, None, after=time.monotonic())
        if not self.load.count_by_status()[503]:
            return False
        # Some outages last only a moment.
        time.sleep(0.8)
        return self.service.ask("GET", "/readyz")[0] == 503

    def _end(self):
        self.outage.end()
        ended = time.monotonic()
        self.until_back = self.load.wait_for(1, 200, after=ended) - ended

    def _expect_nothing_signed(self):
        """Sends requests for longer than the gateway waits between its attempts to write."""
        refused = time.monotonic()
        while time.monotonic() - refused < 0.8:
            status, _, body = self.service.ask("GET", "/readyz")
            if status != 503:
                self.surprises.append(f"/readyz during the outage: {status} {body}")
            status, _, body = self.service.sign()
            self.refused += 1
            if status != 503 or b"jws" in body:
                self.surprises.append(f"signed during the outage: {status} {body}")
            time.sleep(0.05)
        # Requests that were sent before the refusal may have been signed.
        between = [status for _, status, asked in self.load.answers if asked > refused and status != 503]
        if between:
            self.surprises.append(f"answers during the outage: {between}")
