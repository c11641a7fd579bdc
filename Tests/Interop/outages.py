"""What makes an audit log impossible to write, while a gateway serves. Each can be begun and ended; those that need
root, or a certain file system, say so where it is not there."""

import contextlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import time


class Unavailable(Exception):
    """This machine cannot do this, and why."""


def require_root():
    if os.geteuid() != 0:
        raise Unavailable("needs root")


def run(*command):
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if ended.returncode != 0:
        raise Unavailable(f"{command[0]}: {(ended.stderr or ended.stdout).strip()}")


class Outage:
    """The log's directory is `place`; the database may be read from `database`."""

    # Whether each request either has its signature and its entry or neither.
    is_exact = True
    # Whether callers notice. Those that they need not notice must lose nothing either way.
    is_noticed = True
    # Seconds of a write, after which it counts as hung.
    write_timeout = 1

    def __init__(self, directory):
        self.directory = directory
        self.place = directory / "log"
        self.database = self.place / "audit.db"
        self.environment = {}

    def prepare(self):
        """Before the gateway starts."""
        self.place.mkdir(exist_ok=True)

    def begin(self): ...

    def end(self): ...

    def clean_up(self):
        """Whatever happened."""

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
    """A disk of a few MiB is filled."""

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
    """A file system is frozen: whoever writes waits."""

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
    """SQLite's calls are answered as a disk in this state would."""

    def __init__(self, directory, fault):
        super().__init__(directory)
        self.fault = fault
        # What was written and could not be made durable may be found again by whoever reads the file later.
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
        # Nothing of ours waits for ever.
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
    """What root itself may not write to."""

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
        # The memory that processes share would be a bus error (SIGBUS) for everybody who has it mapped.
        self._files = [path for path in self.files if path.suffix != ".db-shm"]
        run("chattr", "+i", *self._files)

    def end(self):
        run("chattr", "-i", *self._files)

    def clean_up(self):
        if getattr(self, "_files", None):
            subprocess.run(["chattr", "-i", *self._files], stderr=subprocess.DEVNULL)


class FileAway(Outage):
    # A commit that was going on is durable, but not where it will be looked for: it is refused.
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
    """What SQLite has written there is still in the hands of the gateway, and goes into the database."""

    is_noticed, is_exact = False, False

    def begin(self):
        (self.place / "audit.db-wal").unlink()


class OlderCopy(Outage):
    """A copy of before is put in the place of the database; later the right one comes back."""

    is_exact = False

    def begin(self):
        self._replace(self.files)

    def _replace(self, files):
        away = self.directory / "away"
        away.mkdir()
        for path in files:
            path.rename(away / path.name)
        shutil.copy(self.copy, self.database)

    def take_copy(self):
        """While the gateway writes."""
        self.copy = self.directory / "copy.db"
        with (
            contextlib.closing(sqlite3.connect(self.database)) as source,
            contextlib.closing(sqlite3.connect(self.copy)) as copy,
        ):
            source.backup(copy)

    def end(self):
        # In one go for each, and the database last: nobody shall see it beside what is not its own.
        away = self.directory / "away"
        for name in ("audit.db-wal", "audit.db-shm", "audit.db"):
            if (away / name).exists():
                (away / name).rename(self.place / name)


class OlderDatabase(OlderCopy):
    """The same, but its companions stay. What is in the write-ahead log may make the copy look whole."""

    def begin(self):
        self._replace([self.database])


# Locks


class Locked(Outage):
    """Another process keeps SQLite's lock."""

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


# What it does to those who ask


class OutageRun:
    """A gateway under load with an outage in the middle."""

    def __init__(self, service, outage, load):
        self.service, self.outage, self.load = service, outage, load
        self.surprises = []
        # Signatures that were refused to us, besides the load.
        self.refused = 0
        # Seconds; None when nobody noticed.
        self.until_refused = self.until_back = None

    def run(self):
        self.load.wait_for(20)
        if isinstance(self.outage, OlderCopy):
            self.outage.take_copy()
            # So many that the write-ahead log has been copied, and begun anew.
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
        # One moment of it may be all there is.
        time.sleep(0.8)
        return self.service.ask("GET", "/readyz")[0] == 503

    def _end(self):
        self.outage.end()
        ended = time.monotonic()
        self.until_back = self.load.wait_for(1, 200, after=ended) - ended

    def _expect_nothing_signed(self):
        """While it lasts: for longer than the gateway waits until it tries again."""
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
        # What was asked for before may have been signed before, too.
        between = [status for _, status, asked in self.load.answers if asked > refused and status != 503]
        if between:
            self.surprises.append(f"answers during the outage: {between}")
