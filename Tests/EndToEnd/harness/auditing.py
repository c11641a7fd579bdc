"""A gateway with an audit log, load that records every answer, and an independent check of the log; without pytest,
because scripts/soak uses it too."""

import base64
import collections
import contextlib
import dataclasses
import hashlib
import http.client
import importlib.util
import itertools
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time

from polling import await_  # noqa: F401  Most tests import it from here.
from running import APP, ISSUER_ID, KEY_IDS, clients
from service import Service, exchange, mint

OFFER, LEGACY = f"/v1/apps/{APP}/promotional-offer", f"/v1/apps/{APP}/legacy-promotional-offer"
FEATURES = "promotional-offer, legacy-promotional-offer, introductory-offer-eligibility, advanced-commerce-api"
UNAVAILABLE = "urn:privyseal:problem:audit-unavailable"
SEGMENT = 4096
# The third part is the signature: 64 bytes in Base64url.
JWS = re.compile(rb"eyJ[\w-]+\.[\w-]+\.[\w-]{86}")


def load_example():
    path = pathlib.Path(__file__).resolve().parents[3] / "docs" / "audit-example" / "check.py"
    specification = importlib.util.spec_from_file_location("audit_example", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


example = load_example()


class AuditedService(Service):
    """A gateway with its own audit log, which it keeps over restarts."""

    def __init__(self, binary, directory, keys, audit="", place=None, more="", environment=(), extra_clients=()):
        """`audit`: further lines of that section, without indent. `place`: the log's directory, by default `log`."""
        self.keys, self.token = keys, mint()
        self.place = pathlib.Path(place or pathlib.Path(directory) / "log")
        self.place.mkdir(exist_ok=True)
        self.database = self.place / "audit.db"
        # In another directory, so that faults of the database's disk do not affect the checkpoints.
        self.checkpoints = pathlib.Path(directory) / "checkpoints"
        self.logs = b""
        super().__init__(binary, directory, "", {**keys.environment, **dict(environment)})
        self.configure(audit, more, extra_clients)

    def configure(self, audit="", more="", extra_clients=(), uri=None):
        lines = "".join(f"  {line}\n" for line in audit.strip().splitlines())
        self.configuration.write_text(f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
  admin: {{address: "unix:{self.directory}/admin.sock"}}
  metrics: {{address: "127.0.0.1:0"}}
drainDelay: 0
verification: off
{more}{self.keys.settings}accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: {APP}, features: [{FEATURES}]}}]
    keys: [{{keyId: {KEY_IDS[0]}, uri: "{uri or self.keys.uri(0)}"}}]
    activeKey: {KEY_IDS[0]}
{clients(self.token, *extra_clients)}
audit:
  database: {self.database}
{lines if "checkpoints:" in lines else lines + f"  checkpoints: {{interval: 1, file: {self.checkpoints}}}"}
""")

    def stop(self):
        try:
            return super().stop()
        finally:
            self.logs += self.log.read_bytes()

    def kill(self):
        super().kill()
        self.logs += self.log.read_bytes()

    def run(self, *arguments, **how):
        """The command line with this configuration: (status, standard output, standard error)."""
        command = [self.binary, *map(str, arguments), "--config", self.configuration]
        ended = subprocess.run(command, capture_output=True, env=self.environment, timeout=120, **how)
        return ended.returncode, ended.stdout, ended.stderr

    def refuses_to_start(self):
        """For a start that must fail: (exit status, log); the status is None if the gateway starts."""
        try:
            self.start()
        except AssertionError as error:
            return self.process.returncode, str(error)
        self.stop()
        return None, self.tail()

    def sign(self, path=OFFER, body=None, token=None, request_id=None):
        body = {"productId": "com.example.monthly", "offerIdentifier": "winback"} if body is None else body
        headers = {"Authorization": f"Bearer {token or self.token}"}
        if request_id:
            headers["X-Request-Id"] = request_id
        return self.ask("POST", path, body, headers)

    def status(self):
        status, _, body = self.ask("GET", "/v1/status", listener="admin")
        assert status == 200, body
        return json.loads(body)


# Signatures that callers received


@dataclasses.dataclass(frozen=True)
class Signed:
    """A signature that a caller received."""

    request_id: str
    item: int | None
    nonce: str
    # SHA-256 of the signed bytes, as in the log's entries.
    digest: str
    signature: bytes


def signed(request_id, item, response, body):
    if "jws" in response:
        message, _, signature = response["jws"].rpartition(".")
        signature = base64.urlsafe_b64decode(signature + "==")
    else:
        user = body.get("applicationUsername", body.get("appAccountToken", "").lower())
        fields = [APP, response["keyIdentifier"], body["productId"], body["offerIdentifier"], user]
        message = "\u2063".join([*fields, response["nonce"], str(response["timestamp"])])
        signature = base64.b64decode(response["signature"])
    return Signed(request_id, item, response["nonce"], sha256(message.encode()), signature)


def sha256(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


class StoppableLoad:
    """Connections with a thread each, `_threads`, which end when `_is_stopping` is true, and keep their first `_error`."""

    def stop(self):
        """Raises the error of a connection whose thread ended with one."""
        self._is_stopping = True
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive(), "a request was never answered"
        if self._error:
            raise self._error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class KeepingLoad(StoppableLoad):
    """Connections that send requests one after the other, singly and in batches, and record every answer."""

    numbers = itertools.count()

    def __init__(self, service, connections=4, pause=0):
        """`pause`: seconds between an answer and the next request of a connection."""
        self.service, self.pause = service, pause
        self.signed = []
        # (time, status, time of the request) of each answer; each item of a batch counts as an answer.
        self.answers = []
        # Wrong answers: a refusal that contains a signature, or a refusal of another kind.
        self.surprises = []
        # (request ID, item) of refused requests, and of requests without an answer.
        self.refused, self.unanswered = set(), set()
        self._changed = threading.Condition()
        self._is_stopping, self._error = False, None
        self._threads = [threading.Thread(target=self._run, args=(n,), daemon=True) for n in range(connections)]
        for thread in self._threads:
            thread.start()

    def _run(self, number):
        try:
            self._ask_until_stopped(number)
        except Exception as error:
            self._error = error
            with self._changed:
                self._changed.notify_all()

    def _ask_until_stopped(self, number):
        while not self._is_stopping:
            try:
                with contextlib.closing(self.service.connect()) as connection:
                    while not self._is_stopping:
                        self._ask(connection, number)
                        if self.pause:
                            time.sleep(self.pause)
            except (OSError, http.client.HTTPException):
                # The gateway was killed; this connection gets no more answers.
                if self.service.process.poll() is not None:
                    return
                time.sleep(0.01)

    def _ask(self, connection, number):
        request_id = f"load-{number}-{next(self.numbers)}"
        body = {"productId": "com.example.monthly", "offerIdentifier": "winback"}
        headers = {"Authorization": f"Bearer {self.service.token}", "X-Request-Id": request_id}
        bodies = [body]
        path = (OFFER, LEGACY, OFFER + "/batch")[number % 3]
        if path == LEGACY:
            bodies = [{**body, "applicationUsername": f"user {number}"}]
        if path.endswith("/batch"):
            bodies = [body] * 5
        is_batch = path.endswith("/batch")
        ids = {(request_id, item if is_batch else None) for item in range(len(bodies))}
        with self._changed:
            self.unanswered |= ids
        asked = time.monotonic()
        status, _, answer = exchange(
            connection, "POST", path, {"requests": bodies} if is_batch else bodies[0], headers
        )
        now = time.monotonic()
        parts = json.loads(answer)
        if is_batch and status == 200:
            results = [(part["status"], part.get("response") or part["problem"]) for part in parts["results"]]
        else:
            results = [(status, parts)] * len(bodies)
        with self._changed:
            self.unanswered -= ids
            for item, (status, part) in enumerate(results):
                item = item if is_batch else None
                self.answers.append((now, status, asked))
                if status == 200:
                    self.signed.append(signed(request_id, item, part, bodies[item or 0]))
                    continue
                self.refused.add((request_id, item))
                if "jws" in part or "signature" in part or JWS.search(json.dumps(part).encode()):
                    self.surprises.append(f"a refusal with a signature: {part}")
                elif (status, part.get("type")) != (503, UNAVAILABLE):
                    self.surprises.append(f"a refusal of another kind: {status} {part}")
            self._changed.notify_all()

    def wait_for(self, count, status=200, after=0.0, seconds=30):
        """Waits for `count` answers of this status (None: any) after a time. Returns the time of the first."""
        with self._changed:
            found = self._changed.wait_for(lambda: self._error or self._first(count, status, after), seconds)
            if self._error:
                raise self._error
            assert found, f"not {count} answers with {status} within {seconds} s: {self.count_by_status()}\n{self.service.tail()}"
            return found

    def _first(self, count, status, after):
        times = []
        for answer in reversed(self.answers):
            if answer[0] < after:
                break
            if status in (None, answer[1]):
                times.append(answer[0])
        return min(times) if len(times) >= count else None

    def count_by_status(self):
        return collections.Counter(status for _, status, _ in self.answers)


# Contents of the log


class AuditCopy:
    """The contents of a log, read with SQLite alone, from a copy, so that the log itself stays unchanged."""

    def __init__(self, database):
        self.rows, self.segments, self.kept, self.heads = self.read(database)
        self.entries = [json.loads(body) for _, _, body in self.rows]

    @staticmethod
    def read(database):
        with tempfile.TemporaryDirectory(prefix="privyseal-copy-") as place:
            copy = pathlib.Path(place) / "audit.db"
            for suffix in ("", "-wal"):
                if (file := pathlib.Path(f"{database}{suffix}")).exists():
                    shutil.copy(file, f"{copy}{suffix}")
            with contextlib.closing(sqlite3.connect(copy)) as connection:
                rows = connection.execute("SELECT idx, mark, body FROM entry ORDER BY idx").fetchall()
                segments = connection.execute("SELECT number, root FROM segment ORDER BY number").fetchall()
                kept = [note for (note,) in connection.execute("SELECT note FROM checkpoint ORDER BY size")]
                heads = connection.execute("SELECT size, note FROM head").fetchall()
        return rows, segments, kept, heads

    def of_kind(self, kind):
        return [entry for entry in self.entries if entry["kind"] == kind]

    def outcomes(self, kind, member):
        return [entry[member] for entry in self.of_kind(kind)]

    def faults(self, verifier_keys, elsewhere=()):
        """The log's faults according to the documentation of its format. `elsewhere`: further notes."""
        keys, faults, roots = example.read_keys(verifier_keys), [], Roots()
        if [index for index, _, _ in self.rows] != list(range(len(self.rows))):
            faults.append("the indices are not contiguous")
        for index, mark, body in self.rows:
            leaf = example.leaf_hash(body)
            if mark & (1 << 64) - 1 != int.from_bytes(leaf[:8]) ^ index:
                faults.append(f"the mark of {index} is wrong")
            if body != canonical(json.loads(body)):
                faults.append(f"entry {index} is not canonical")
            roots.add(leaf)
        closed = [(number, roots.segment(number)) for number in range(len(self.rows) // SEGMENT)]
        if self.segments != closed:
            faults.append("the roots of the segments are wrong")
        if [size for size, _ in self.heads] != [len(self.rows)]:
            faults.append("the head is of another size")
        for note in [*self.kept, *elsewhere, *(note for _, note in self.heads)]:
            try:
                _, size, root, _ = example.check_note(note, keys)
            except example.Refused as reason:
                faults.append(f"a note is refused: {reason}")
                continue
            if size > len(self.rows) or root != roots.root(size):
                faults.append(f"the checkpoint of {size} is not of this log")
        return faults

    def comparison(self, signatures, refused=()):
        """Differences between the log and the callers' signatures. `refused`: requests that may be in the log, because
        their outcome is unknown."""
        faults = []
        mine = collections.Counter((e["requestId"], e.get("item")) for e in self.of_kind("signature"))
        faults += [f"{request} is there {count} times" for request, count in mine.items() if count > 1]
        nonces = collections.Counter(self.outcomes("signature", "nonce"))
        faults += [f"the nonce {nonce} is there {count} times" for nonce, count in nonces.items() if count > 1]
        found = {(e["requestId"], e.get("item")): (e["nonce"], e["digest"]) for e in self.of_kind("signature")}
        for one in signatures:
            if (entry := found.pop((one.request_id, one.item), None)) != (one.nonce, one.digest):
                faults.append(f"{one} has {'another' if entry else 'no'} entry")
        faults += [f"{request} was recorded and never asked for" for request in found.keys() - set(refused)]
        return faults


def canonical(entry):
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


class Roots:
    """The roots of a growing tree at every size, by the definition in RFC 6962 §2.1."""

    def __init__(self):
        # The hashes of perfect subtrees, by level.
        self.levels = [[]]

    def add(self, leaf):
        self.levels[0].append(leaf)
        for level in itertools.count():
            nodes = self.levels[level]
            if len(nodes) % 2:
                return
            if level + 1 == len(self.levels):
                self.levels.append([])
            self.levels[level + 1].append(example.node_hash(*nodes[-2:]))

    def segment(self, number):
        return self.levels[SEGMENT.bit_length() - 1][number]

    def root(self, size):
        value, at = None, size
        for level in range(size.bit_length()):
            if size >> level & 1:
                at -= 1 << level
                node = self.levels[level][at >> level]
                value = node if value is None else example.node_hash(node, value)
        return hashlib.sha256().digest() if value is None else value


def notes_in(path):
    """The checkpoints in a file, each followed by an empty line."""
    return re.findall(r"(?:.+\n)+\n(?:\u2014 .+\n)+(?=\n)", path.read_text(encoding="utf-8"))


def public_key(database):
    return pathlib.Path(f"{database}.key.pub")


def verify(binary, database, key, checkpoints, environment=None):
    """`privyseal audit verify` on a copy: (status, the report or the other output)."""
    command = [binary, "audit", "verify", "--database", database, "--key", key, "--format", "json", "--quiet"]
    for file in checkpoints:
        command += ["--checkpoints", file]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    try:
        return ended.returncode, json.loads(ended.stdout)
    except ValueError:
        return ended.returncode, ended.stdout + ended.stderr


def everything_wrong(service, signatures, refused=()):
    """All faults of a log without a writer, found by every check. The log stays unchanged."""
    log = AuditCopy(service.database)
    faults = log.faults(public_key(service.database), notes_in(service.checkpoints))
    faults += log.comparison(signatures, refused)
    with tempfile.TemporaryDirectory(prefix="privyseal-copy-") as place:
        for file in service.database.parent.glob("audit.db*"):
            if file.suffix in (".db", ".db-wal"):
                shutil.copy(file, place)
        copy = pathlib.Path(place) / "audit.db"
        status, report = verify(service.binary, copy, public_key(service.database), [service.checkpoints])
    if status != 0:
        faults.append(f"audit verify ended with {status}: {report}")
    return faults


# Kills


class Kills:
    """Gateways with one log, which are started under load and killed at random times, one after the other."""

    def __init__(self, service, random, connections=6):
        self.service, self.random, self.connections = service, random, connections
        self.signed, self.unanswered, self.surprises = [], set(), []
        # Seconds from the start of each process until it was ready.
        self.starts = []
        self.count = 0

    def one(self):
        begun = time.monotonic()
        self.service.start()
        self.starts.append(time.monotonic() - begun)
        load = KeepingLoad(self.service, self.connections)
        load.wait_for(1)
        # A random time, because the kill must not depend on an event.
        time.sleep(self.random.uniform(0, 0.6))
        self.service.kill()
        load.stop()
        self.count += 1
        self.signed += load.signed
        # These requests may have an entry or not: their answers were on the way, or their entries were being written.
        self.unanswered |= load.unanswered | load.refused
        self.surprises += load.surprises

    def faults(self):
        """All faults of the log, which no gateway may write meanwhile."""
        assert self.service.process.poll() is not None, "a gateway writes to the log"
        return self.surprises + everything_wrong(self.service, self.signed, self.unanswered)
