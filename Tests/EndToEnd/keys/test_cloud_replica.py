"""A key in a SoftHSM token with a replica in AWS KMS, as moto simulates it, under load from several connections.

`pytest -s` shows the figures of each test.
"""

import base64
import collections
import itertools
import json
import re
import threading
import time

import pytest
from auditing import AuditCopy, KeepingLoad, everything_wrong
from cloud import INTERNAL, KEYS, STATIC, THROTTLED, Container, make_key
from conftest import BINARY
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from key_lifecycle import OLD, KeysInFiles, false_signatures
from polling import await_
from real_tokens import make_token
from replicated import ReplicatedService, state_of
from signers import KEY_UNAVAILABLE, FaultRules, faulty_library

BUSY = "urn:privyseal:problem:busy"
SIGNING_FAILED = "urn:privyseal:problem:signing-failed"
# In seconds, see docs/problems.
RETRY_AFTER = {BUSY: "1", KEY_UNAVAILABLE: "2"}
CONNECTIONS = 6


class TokenAndKms:
    """The key OLD in a token and in KMS. The token's library is FaultyPKCS11."""

    labels = ("hsm", "kms")

    def __init__(self, directory, kms, credentials):
        self.directory, self.kms = directory / "token", kms
        self.faults = FaultRules(directory)
        self.files = KeysInFiles(directory)
        self.public = self.files.public
        file = self.files.path(OLD)
        make_key(kms, private_key=serialization.load_pem_private_key(file.read_bytes(), None))
        make_token(self.directory, "hsm", OLD, "--import", file)
        file.unlink()
        (self.place,) = (self.directory / "tokens").iterdir()
        self.environment = {
            "SOFTHSM2_CONF": str(self.directory / "softhsm2.conf"), **self.faults.environment, **credentials,
        }

    def uri_on(self, label):
        if label == "kms":
            return self.kms.uri("alias/appstore")
        module, pin = faulty_library(BINARY), self.directory / "pin"
        return f"pkcs11:token=hsm;object={OLD}?module-path={module}&pin-source=file:{pin}"

    def remove(self):
        """Moves the token's directory away, as if a person had removed the token."""
        self.place.rename(self.directory / "away")

    def put_back(self):
        (self.directory / "away").rename(self.place)

    def fail(self, rule="C_Sign rv=0x32"):
        """From now on, each signature fails with CKR_DEVICE_REMOVED, or by another rule of FaultyPKCS11."""
        self.faults.set(rule)

    def work(self):
        self.faults.clear()


class Run:
    """A gateway that signs with the token and with KMS under load. A test calls `end()` once, after all else."""

    def __init__(self, directory, kms, more="", credentials=STATIC):
        """`more`: further lines of the configuration."""
        self.kms, self.refused = kms, set()
        self.tokens = TokenAndKms(directory, kms, credentials)
        self.service = ReplicatedService(BINARY, directory, self.tokens)
        self.service.configure(more=more)

    def __enter__(self):
        self.service.start()
        try:
            self.service.await_places("ready", "ready")
            self.serial = state_of(self.service)["replicas"][0]["tokenSerial"]
            self.load = KeepingLoad(self.service, CONNECTIONS)
            self.load.wait_for(50)
        except BaseException:
            self.service.stop()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.load.stop()
        finally:
            self.service.end()

    def await_places(self, *wanted):
        """Waits for these states of the token and of KMS. Returns the number of the request from which they count."""
        self.service.await_places(*wanted, seconds=30)
        return self.number()

    # Requests

    @staticmethod
    def number():
        """All requests that are sent from now on have a higher number."""
        return next(KeepingLoad.numbers)

    def await_answers(self, count=100, status=200):
        """Waits for answers from now on. Returns the time of the first."""
        return self.load.wait_for(count, status, after=time.monotonic(), seconds=30)

    def sign(self):
        """A request that fails: (status, problem type, Retry-After)."""
        status, headers, body = self.service.sign(request_id="single")
        assert status != 200, body
        self.refused.add(("single", None))
        return status, json.loads(body)["type"], headers["Retry-After"]

    def signers(self, after, until=float("inf")):
        """The serial numbers of the tokens that signed these requests; None stands for KMS."""
        entries = AuditCopy(self.service.database).of_kind("signature")
        return {e.get("tokenSerial") for e in entries if after < number_of(e["requestId"]) < until}

    # The end

    def end(self, name):
        """Ends load and gateway, and prints the figures. Returns all faults of the signatures and of the log."""
        self.load.stop()
        unrecorded = "privyseal_signatures_without_record"
        await_(lambda: self.service.metric(unrecorded) == 0, f"{unrecorded} is 0")
        assert self.service.stop() == 0
        log = AuditCopy(self.service.database)
        by_kms = [entry for entry in log.of_kind("signature") if "tokenSerial" not in entry]
        faults = everything_wrong(self.service, self.load.signed, self.load.unanswered)
        faults += [f"no answer: {one}" for one in self.load.unanswered]
        recorded = {(entry["requestId"], entry.get("item")) for entry in log.of_kind("signature")}
        released = [one for one in self.load.signed if (one.request_id, one.item) in recorded]
        faults += [f"a wrong signature: {one}" for one in false_signatures(log, released, self.tokens.public)]
        faults += [one for one in self.load.surprises if one.startswith("a refusal with a signature")]
        # Every refusal has one entry.
        entries = collections.Counter((e["requestId"], e.get("item")) for e in log.of_kind("refusal"))
        if entries != collections.Counter(refused := self.load.refused | self.refused):
            faults.append(f"the entries of refusals are {entries}, the refused requests {refused}")
        made = {base64.urlsafe_b64encode(digest).decode().rstrip("=") for digest in self.kms.signed}
        faults += [f"KMS did not make {entry}" for entry in by_kms if entry["digest"] not in made]
        self.figures(name, len(by_kms))
        return faults

    def figures(self, name, by_kms):
        statuses = self.load.count_by_status()
        throttled, internal = (self.kms.injected.count(code) for _, code in (THROTTLED, INTERNAL))
        print(
            f"\n{name}: {statuses.total()} requests, {statuses.total() - statuses[200]} failed {dict(statuses)}, "
            f"{by_kms} signatures by KMS, {throttled} throttled calls, {internal} calls with 500"
        )

    @property
    def failed(self):
        """The answers to failed requests, or what was wrong with them."""
        return self.load.surprises + [one for one in self.load.answers if one[1] != 200]


def number_of(request_id):
    """The number in the request ID of a `KeepingLoad`. It grows."""
    return int(request_id.rpartition("-")[2])


# The token is away


@pytest.mark.parametrize("way", ["removed", "error", "crash"])
def test_kms_signs_while_the_token_is_away_and_no_request_fails(tmp_path, kms, way):
    with Run(tmp_path, kms) as run:
        lose, put_back = {
            "removed": (run.tokens.remove, run.tokens.put_back),
            "error": (run.tokens.fail, run.tokens.work),
            "crash": (lambda: run.tokens.fail("C_Sign kill"), run.tokens.work),
        }[way]
        lose()
        away = run.await_places("down", "ready")
        run.await_answers()
        returning = run.number()
        put_back()
        back = run.await_places("ready", "ready")
        run.await_answers()
        assert run.signers(-1, away) == {run.serial, None}
        assert run.signers(away, returning) == {None}
        assert run.signers(back) == {run.serial}
        assert run.end(f"token away ({way})") == []
        assert run.failed == []
    assert kms.refused == []


def test_the_token_signs_again_within_seconds_of_its_return_even_if_proofs_are_rare(tmp_path, kms):
    with Run(tmp_path, kms, more="proofInterval: 3600\n") as run:
        # A time, because no event shows that the monitor has ended its first rounds.
        time.sleep(3)
        run.tokens.fail()
        run.await_places("down", "ready")
        run.tokens.work()
        await_(lambda: run.service.places() == ["ready", "ready"], "the token's return", 4)


# KMS is throttled


def faults_of_first_attempts():
    """For `Kms.fault_in_sign`: up to two faults for each digest, so on average every second call has a fault."""
    attempts, lock, kinds = collections.Counter(), threading.Lock(), itertools.cycle((THROTTLED, INTERNAL))

    def fault(digest):
        with lock:
            attempts[digest] += 1
            return next(kinds) if attempts[digest] <= digest[0] % 3 else None

    return fault


def test_faults_in_every_second_call_are_repeated_and_no_request_fails(tmp_path, kms):
    with Run(tmp_path, kms) as run:
        run.tokens.fail()
        run.await_places("down", "ready")
        kms.fault_in_sign = faults_of_first_attempts()
        before = kms.calls.count("Sign")
        run.await_answers(300)
        share = len(kms.injected) / (kms.calls.count("Sign") - before)
        run.tokens.work()
        back = run.await_places("ready", "ready")
        run.await_answers()
        assert run.signers(back) == {run.serial}
        assert run.end("faults in every second call") == []
        assert run.failed == []
    assert 0.3 < share < 0.7 and {THROTTLED[1], INTERNAL[1]} == set(kms.injected)


@pytest.mark.parametrize(
    ("fault", "problems"),
    [
        # KEY_UNAVAILABLE for a request that the token had failed before: the first place's error is the answer.
        (THROTTLED, {BUSY, KEY_UNAVAILABLE}),
        (INTERNAL, {KEY_UNAVAILABLE}),
    ],
    ids=["throttled", "500"],
)
def test_faults_beyond_the_deadline_are_answered_and_the_key_recovers(tmp_path, kms, fault, problems):
    # So many attempts that only the deadline ends them.
    with Run(tmp_path, kms, more="backends: {awskms: {timeout: 1, attempts: 20}}\n") as run:
        run.tokens.fail()
        run.await_places("down", "ready")
        begun = time.monotonic()
        kms.fault_in_sign = lambda digest: fault
        run.load.wait_for(20, 503, after=begun)
        single = run.sign()
        ended = time.monotonic()
        kms.fault_in_sign = None
        run.await_answers()
        run.tokens.work()
        back = run.await_places("ready", "ready")
        run.await_answers()
        assert run.signers(back) == {run.serial}
        assert run.end(f"only {fault[1]}") == []
        answers = [answer for answer in run.load.answers if answer[1] != 200]
        assert {status for _, status, _ in answers} == {503}
        assert all(answered > begun and asked < ended for answered, _, asked in answers)
        # The deadline is one second.
        assert max(answered - asked for answered, _, asked in answers) < 3
        assert ended - begun > 1 and len(kms.injected) > 2 * len(answers)
        assert all(any(problem in one for problem in problems) for one in run.load.surprises), run.load.surprises
        assert single in [(503, problem, RETRY_AFTER[problem]) for problem in problems]


def test_a_throttled_key_is_busy_and_stays_ready_also_if_the_last_attempt_gets_no_answer(tmp_path, kms):
    def throttled(digest):
        # Shorter than the first attempts may take, and longer than the last one may.
        time.sleep(0.1)
        return THROTTLED

    with Run(tmp_path, kms, more="backends: {awskms: {timeout: 1}}\n") as run:
        run.tokens.fail()
        run.await_places("down", "ready")
        begun = time.monotonic()
        kms.fault_in_sign = throttled
        run.load.wait_for(40, 503, after=begun)
        places = run.service.places()
        kms.fault_in_sign = None
        run.await_answers()
        assert run.end("throttled until the deadline") == []
        assert places == ["down", "ready"]
        # A request that the token had failed before gets the error of its first place: one for each connection at most.
        others = [one for one in run.load.surprises if BUSY not in one]
        assert all(KEY_UNAVAILABLE in one for one in others), others
        assert len({re.search(r"load-\d+-\d+", one)[0] for one in others}) <= 6, others


# Credentials


def test_credentials_expire_during_the_run_and_no_request_fails(tmp_path, kms):
    with Container(kms, 4) as container, Run(tmp_path, kms, credentials=container.environment(tmp_path)) as run:
        # The gateway needs no credentials while the token signs, so the first ones expire.
        await_(lambda: all(time.time() > end for _, token, end in kms.issued.values() if token), "expired credentials")
        run.tokens.fail()
        away = run.await_places("down", "ready")

        def in_use():
            return set(kms.access_keys) - {KEYS[0]}

        await_(lambda: len(in_use()) >= 3, "calls with new credentials")
        returning = run.number()
        run.tokens.work()
        back = run.await_places("ready", "ready")
        run.await_answers()
        assert run.signers(away, returning) == {None} and run.signers(back) == {run.serial}
        assert run.end(f"{len(in_use())} credentials") == []
        assert run.failed == []
    # `Kms` refuses expired credentials.
    assert kms.refused == []


# A wrong key


def test_a_wrong_signature_of_kms_is_not_released_and_the_log_has_it(tmp_path, kms):
    with Run(tmp_path, kms) as run:
        run.tokens.fail()
        run.await_places("down", "ready")
        run.await_answers()
        begun, before = time.monotonic(), len(kms.signed)
        kms.other_key = ec.generate_private_key(ec.SECP256R1())
        # The first requests fail with the error of KMS, later ones with that of the token.
        run.load.wait_for(1, 500, after=begun)
        run.await_answers(100, status=503)
        after = len(kms.signed)
        kms.other_key = None
        run.await_answers()
        # KMS stays degraded until the gateway ends.
        run.await_places("down", "degraded")
        recovered = time.monotonic()
        run.await_answers()
        run.tokens.work()
        back = run.await_places("ready", "degraded")
        run.await_answers()
        assert run.signers(back) == {run.serial}
        assert run.service.metric("privyseal_verification_failures_total") > 0
        assert run.end(f"{after - before} wrong signatures") == []
        answers = [answer for answer in run.load.answers if answer[1] != 200]
        assert all(answered > begun and asked < recovered for answered, _, asked in answers)
        assert {status for _, status, _ in answers} == {500, 503}
        assert all(SIGNING_FAILED in one or KEY_UNAVAILABLE in one for one in run.load.surprises), run.load.surprises
    log = AuditCopy(run.service.database)
    told = [e for e in log.of_kind("key") if "made a signature that does not verify" in e.get("reason", "")]
    assert told and all("awskms:" in entry["reason"] for entry in told), log.of_kind("key")
