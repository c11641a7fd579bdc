"""Gateways whose keys are in signer processes, and load on each key; without pytest, because scripts/soak uses it too."""

import collections
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import re
import sqlite3
import threading
import time

from auditing import AuditedService, StoppableLoad, everything_wrong, signed
from polling import await_
from real_tokens import SOFTHSM, copy_tokens, make_token
from running import ISSUER_ID, KEY_IDS
from service import digest, exchange, write_key, write_secret

FAULTY, REAL, FILES = "FaultyPKCS11", "softhsm2", "files"
KEY_UNAVAILABLE = "urn:privyseal:problem:key-unavailable"
BODY = {"productId": "com.example.monthly", "offerIdentifier": "winback"}
ISSUERS = [ISSUER_ID[:-1] + str(number) for number in range(3)]


def faulty_library(binary):
    """libFaultyPKCS11.so, which `swift build --build-tests` puts beside the program."""
    return os.environ.get("FAULTY_PKCS11") or str(pathlib.Path(binary).resolve().parent / "libFaultyPKCS11.so")


class FaultRules:
    """The files of FaultyPKCS11, in directories of their own: a signer cannot reach new files beside hidden ones."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory) / "faults"
        self.directory.mkdir()
        self.rules = self.directory / "rules"
        self.attempts = self.directory / "attempts"
        self.calls = self.directory / "calls"
        self.clear()

    @property
    def environment(self):
        return {
            "FAULTY_PKCS11_TARGET": SOFTHSM,
            "FAULTY_PKCS11_RULES": str(self.rules),
            "FAULTY_PKCS11_ATTEMPTS": str(self.attempts),
            "FAULTY_PKCS11_CALLS": str(self.calls),
        }

    def set(self, *lines):
        """The module reads the rules again at its next call. Returns the time of the change."""
        new = self.rules.with_suffix(".new")
        new.write_text("".join(f"{line}\n" for line in lines))
        new.rename(self.rules)
        return time.monotonic()

    def clear(self):
        return self.set()

    def forget(self):
        """Removes the results and calls so far."""
        for file in (self.attempts, self.calls):
            file.unlink(missing_ok=True)

    def results(self):
        """[(function, action, result)]; the result is an errno or `-` for an action that did not return."""
        if not self.attempts.exists():
            return []
        return [tuple(line.split(" ")) for line in self.attempts.read_text().splitlines()]

    def result(self, action):
        """The last errno of this action; None if it did not return."""
        numbers = [int(result) for _, name, result in self.results() if name == action and result != "-"]
        return numbers[-1] if numbers else None

    def count(self, function):
        """The calls of this function."""
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return lines.count(function)


class SignerService(AuditedService):
    """A gateway with three accounts. Key 0 is on a token behind FaultyPKCS11, key 1 on another token of SoftHSM, and key 2
    in a file."""

    apps = ("com.example.faulty", "com.example.token", "com.example.file")

    def __init__(self, binary, directory, signers="", more="", timeout=1, module=None, environment=()):
        """`signers`: the lines of that section. `timeout`: `operationTimeout` of tokens in seconds."""
        directory = pathlib.Path(directory)
        self.module = module or faulty_library(binary)
        self.signers, self.timeout = signers, timeout
        self.faults = FaultRules(directory)
        self.token_directory = directory / "token"
        copy_tokens(make_tokens, directory)
        self.pins = [directory / "pin-faulty" / "pin", directory / "pin-real" / "pin"]
        self.key_file = directory / "key" / "AuthKey.p8"
        self.key_file.parent.mkdir()
        self.key = write_key(self.key_file)
        self.numbers = (0, 1, 2)
        self.signed, self.requests = [], itertools.count()
        keys = type("Keys", (), {"environment": self.faults.environment, "settings": ""})()
        variables = {"SOFTHSM2_CONF": str(self.token_directory / "softhsm2.conf"), **dict(environment)}
        super().__init__(binary, directory, keys, more=more, environment=variables)

    def uri(self, number):
        if number == 2:
            return f"file:{self.key_file}"
        token, module = (("faulty", self.module), ("real", SOFTHSM))[number]
        pin = self.pins[number]
        return f"pkcs11:token={token};object={KEY_IDS[number]}?module-path={module}&pin-source=file:{pin}"

    def configure(self, audit="", more="", extra_clients=(), uri=None, numbers=None, signers=None):
        """`numbers`: the keys of the configuration."""
        self.numbers = self.numbers if numbers is None else numbers
        self.signers = self.signers if signers is None else signers
        section = "".join(f"  {line}\n" for line in self.signers.strip().splitlines())
        accounts = "".join(
            f"""  - issuerId: {ISSUERS[number]}
    apps: [{{bundleId: {self.apps[number]}, features: [promotional-offer]}}]
    keys: [{{keyId: {KEY_IDS[number]}, uri: "{self.uri(number)}"}}]
    activeKey: {KEY_IDS[number]}
"""
            for number in self.numbers
        )
        new = self.configuration.with_suffix(".new")
        new.write_text(f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
  admin: {{address: "unix:{self.directory}/admin.sock"}}
  metrics: {{address: "127.0.0.1:0"}}
drainDelay: 0
backends: {{pkcs11: {{operationTimeout: {self.timeout}, sessions: 2}}}}
{"signers:" if section else ""}
{section}{more}accounts:
{accounts}clients:
  - name: load
    tokens: [{{sha256: "{digest(self.token)}"}}]
    allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"], keyIds: ["*"]}}]
    rate: {{perSecond: 100000, burst: 1000000}}
audit:
  database: {self.database}
  checkpoints: {{interval: 1, file: {self.checkpoints}}}
""")
        new.rename(self.configuration)

    # Signers

    def listed(self):
        """`GET /v1/signers`, by name."""
        status, _, body = self.ask("GET", "/v1/signers", listener="admin")
        assert status == 200, body
        return {signer["name"]: signer for signer in json.loads(body)["signers"]}

    def pids(self, name):
        return [process["pid"] for process in self.listed().get(name, {"processes": []})["processes"]]

    def children(self):
        """The IDs of all processes below the gateway, also of those that have ended and were not waited for."""
        return children(self.process.pid)

    def remaining(self):
        """The IDs of all running signer processes with this service's environment: those of this gateway, of an
        earlier one, and of commands."""
        mark = f"SOFTHSM2_CONF={self.environment['SOFTHSM2_CONF']}".encode()
        return [pid for pid in signers_of(self.binary) if mark in environment_of(pid)]

    def incomplete(self):
        """The signers without all of their processes."""
        return {
            name: signer
            for name, signer in self.listed().items()
            if len(signer["processes"]) != signer["processesWanted"] or "reason" in signer
        }

    def await_complete(self, seconds=5):
        await_(lambda: not self.incomplete(), lambda: f"a complete pool: {self.incomplete()}", seconds)

    def sign_with(self, number):
        """(status, answer) of one request for this key. `faults_of_log` counts its signature."""
        request_id = f"single-{next(self.requests)}"
        status, _, body = self.sign(f"/v1/apps/{self.apps[number]}/promotional-offer", BODY, request_id=request_id)
        answer = json.loads(body)
        if status == 200:
            self.signed.append(signed(request_id, None, answer, BODY))
        return status, answer

    def restart(self, name):
        """`POST /v1/signers/NAME/restart`: (status, answer)."""
        status, _, body = self.ask("POST", f"/v1/signers/{name}/restart", listener="admin")
        return status, json.loads(body)

    def await_signature(self, number, seconds=5):
        """Seconds until the key signs."""
        begun = time.monotonic()
        await_(lambda: self.sign_with(number)[0] == 200, f"a signature of key {number}", seconds)
        return time.monotonic() - begun

    # The log

    def entries(self, after=-1):
        """The entries of the running log: [(index, entry)]."""
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=10)) as connection:
            rows = connection.execute("SELECT idx, body FROM entry WHERE idx > ? ORDER BY idx", (after,)).fetchall()
        return [(index, json.loads(body)) for index, body in rows]

    def last_index(self):
        return self.entries()[-1][0]

    def losses(self, after=-1):
        """The reasons of lost signers in the log."""
        return [entry for _, entry in self.entries(after) if "signer-lost" in entry.values()]

    def verification(self):
        """`privyseal audit verify` beside the running gateway: the fault, or None."""
        status, output, errors = self.run("audit", "verify", "--quiet")
        return None if status == 0 else (output + errors).decode()


def make_tokens(directory):
    """The tokens of a SignerService. Each PIN has a directory of its own, because a signer must not see another's."""
    for number, token in enumerate(("faulty", "real")):
        pin = directory / f"pin-{token}" / "pin"
        pin.parent.mkdir()
        write_secret(pin, b"%020d\n" % int.from_bytes(os.urandom(8)))
        make_token(directory / "token", token, KEY_IDS[number], "--pin-file", pin)


def children(pid):
    """The IDs of all processes whose parent is this one."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            head, _, rest = file.read_text().rpartition(")")
            if int(rest.split()[1]) == pid:
                found.append(int(head.split()[0]))
    return sorted(found)


def is_running(pid):
    """Whether there is such a process that has not ended."""
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def signers_of(binary):
    """The IDs of all signer processes of this program."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = file.read_bytes().split(b"\0")
            is_same = os.path.realpath(file.with_name("exe")) == os.path.realpath(binary)
            if words[1:2] == [b"signer"] and is_same and is_running(int(file.parent.name)):
                found.append(int(file.parent.name))
    return sorted(found)


def environment_of(pid):
    """The variables with which the process began, such as b"HOME=/root"; empty after its end."""
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return []


def modules_of(pid):
    """The files of PKCS #11 modules that the process has mapped."""
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
    files = {line.split(maxsplit=5)[5] for line in maps.splitlines() if len(line.split(maxsplit=5)) == 6}
    return {file for file in files if re.search("softhsm|pkcs11", pathlib.Path(file).name, re.IGNORECASE)}


# Load


Answer = collections.namedtuple("Answer", "asked answered status type detail")


class KeyLoad(StoppableLoad):
    """One connection or more for each key, which send requests one after the other and keep every answer."""

    def __init__(self, service, numbers=(0, 1, 2), connections=1, pause=0.04, prefix="load"):
        """`pause`: seconds between an answer and the next request of a connection."""
        self.service, self.pause, self.prefix = service, pause, prefix
        self.answers = {number: [] for number in numbers}
        self.signed, self.refused, self.unanswered = [], set(), set()
        # Connections that ended with an error while the gateway ran.
        self.broken = []
        self._counter = 0
        self._changed = threading.Condition()
        self._is_stopping, self._error = False, None
        self._threads = [
            threading.Thread(target=self._run, args=(number,), daemon=True)
            for number in numbers
            for _ in range(connections)
        ]
        for thread in self._threads:
            thread.start()

    def _run(self, number):
        try:
            self._ask_until_stopped(number)
        except Exception as error:
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _ask_until_stopped(self, number):
        while not self._is_stopping:
            try:
                with contextlib.closing(self.service.connect()) as connection:
                    while not self._is_stopping:
                        self._ask(connection, number)
                        time.sleep(self.pause)
            except (OSError, http.client.HTTPException) as error:
                if self.service.process.poll() is not None or self._is_stopping:
                    return
                with self._changed:
                    self.broken.append((time.monotonic(), number, repr(error)))
                time.sleep(0.01)

    def _ask(self, connection, number):
        with self._changed:
            self._counter += 1
            request_id = f"{self.prefix}-{number}-{self._counter}"
            self.unanswered.add((request_id, None))
        headers = {"Authorization": f"Bearer {self.service.token}", "X-Request-Id": request_id}
        asked = time.monotonic()
        path = f"/v1/apps/{self.service.apps[number]}/promotional-offer"
        status, _, body = exchange(connection, "POST", path, BODY, headers)
        answered, answer = time.monotonic(), json.loads(body)
        with self._changed:
            self.unanswered.discard((request_id, None))
            self.answers[number].append(Answer(asked, answered, status, answer.get("type"), answer.get("detail")))
            if status == 200:
                self.signed.append(signed(request_id, None, answer, BODY))
            else:
                self.refused.add((request_id, None))
            self._changed.notify_all()

    def since(self, time, number):
        """The answers to requests that were sent at this time or later."""
        with self._changed:
            return [answer for answer in self.answers[number] if answer.asked >= time]

    def failed(self, *numbers, since=0.0):
        """The answers to refused requests since this time. Each key has an answer."""
        for number in numbers:
            self.wait(lambda: self.since(since, number) or None, 5, f"an answer for key {number}")
        return [(number, answer) for number in numbers for answer in self.since(since, number) if answer.status != 200]

    def wait(self, condition, seconds, what):
        """Waits until `condition()` is not None, which is evaluated after each answer. Returns its value."""
        with self._changed:
            found = self._changed.wait_for(lambda: self._error or (value := condition()) is not None and (value,), seconds)
            if self._error:
                raise self._error
        assert found, f"not within {seconds} s: {what}\n{self.service.tail()}"
        return found[0]

    def wait_for(self, status, number, since, seconds, count=1):
        """Waits for answers of this status to requests that were sent since this time. Returns the time of the last."""

        def last():
            found = [a for a in self.answers[number] if a.asked >= since and a.status == status]
            return found[count - 1].answered if len(found) >= count else None

        return self.wait(last, seconds, f"{count} answers with {status} for key {number}")


def faults_of_log(service, *loads):
    """All differences between the log of an ended gateway and the answers of these loads."""
    signatures = service.signed + [one for load in loads for one in load.signed]
    unanswered = {one for load in loads for one in load.unanswered}
    return everything_wrong(service, signatures, unanswered)
