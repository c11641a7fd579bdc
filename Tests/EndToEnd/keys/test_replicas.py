"""A key on two SoftHSM tokens: losses under load, another key, selection, and jobs over both tokens with kills."""

import collections
import json
import os
import pty
import random
import shutil
import time
from hashlib import sha256

import pytest
from auditing import AuditCopy, KeepingLoad
from conftest import BINARY
from cryptography.hazmat.primitives import serialization
from key_lifecycle import NEW, OLD, changes, false_signatures, life
from polling import await_
from real_tokens import SOFTHSM
from replicated import ReplicatedService, TwoTokens, reasons, state_of
from running import ISSUER_ID
from service import write_key
from signers import FaultRules, faulty_library
from token_and_gateway import JobsBesideGateway

KILLS = int(os.environ.get("PRIVYSEAL_KILLS", "5"))


def fingerprint(public):
    der = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return "sha256:" + sha256(der).hexdigest()


class FaultyTokens(TwoTokens):
    """Two tokens whose calls obey rules and are counted."""

    def __init__(self, directory):
        super().__init__(directory, faulty_library(BINARY))
        self.faults = FaultRules(directory)
        self.environment |= self.faults.environment

    def await_attempts(self, count=3):
        """Waits until the gateway has tried this often to open a lost token again."""
        before = self.faults.count("C_Initialize")
        await_(lambda: self.faults.count("C_Initialize") >= before + count, f"{count} attempts")


@pytest.fixture
def replicated(tmp_path):
    with ReplicatedService(BINARY, tmp_path, FaultyTokens(tmp_path)) as service:
        service.await_places("ready", "ready")
        yield service


# Loss of a token


def test_the_loss_of_each_token_under_load_fails_no_request(replicated):
    serials = {label: replicated.held.serial(label) for label in replicated.held.places}
    with KeepingLoad(replicated, pause=0.01) as load:
        for lost, other, wanted in (("hsm-a", "hsm-b", ("down", "ready")), ("hsm-b", "hsm-a", ("ready", "down"))):
            load.wait_for(50, after=time.monotonic())
            replicated.held.lose(lost)
            # With inOrder, the loss of the second token is seen at its next proof.
            replicated.await_places(*wanted, seconds=20)
            assert replicated.is_ready()
            load.wait_for(200, after=time.monotonic())
            entries = AuditCopy(replicated.database).of_kind("signature")[-50:]
            assert {entry["tokenSerial"] for entry in entries} == {serials[other]}
            replicated.held.await_attempts()
            replicated.held.put_back(lost)
            replicated.await_places("ready", "ready")
    assert replicated.stop() == 0
    assert (load.surprises, set(load.count_by_status())) == ([], {200})
    assert false_signatures(AuditCopy(replicated.database), load.signed, replicated.held.public) == []
    assert len(load.signed) >= 500


def test_two_tokens_of_one_library_recover_by_themselves(tmp_path):
    # The recovery of one token initialises the library again, which interrupts the other token for a moment.
    tokens = FaultyTokens(tmp_path)
    tokens.modules["hsm-b"] = tokens.modules["hsm-a"]
    with ReplicatedService(BINARY, tmp_path, tokens) as service:
        service.await_places("ready", "ready")
        with KeepingLoad(service, pause=0.01) as load:
            load.wait_for(50)
            lost = time.monotonic()
            tokens.lose("hsm-a")
            tokens.await_attempts(5)
            load.wait_for(200, after=time.monotonic())
            tokens.put_back("hsm-a")
            service.await_places("ready", "ready")
            recovered = time.monotonic()
            load.wait_for(200, after=recovered)
    assert all("key-unavailable" in surprise for surprise in load.surprises), load.surprises
    failed = [(asked, answered) for answered, status, asked in load.answers if status != 200]
    assert all(lost < answered and asked < recovered for asked, answered in failed), (lost, recovered, failed)
    assert false_signatures(AuditCopy(service.database), load.signed, tokens.public) == []


def test_without_any_token_requests_are_refused_and_one_token_is_enough_to_recover(replicated):
    for label in ("hsm-a", "hsm-b"):
        replicated.held.lose(label)
    replicated.await_places("down", "down")
    assert replicated.sign()[0] == 503 and not replicated.is_ready()
    assert state_of(replicated)["state"] == "down"
    replicated.held.await_attempts()
    replicated.held.put_back("hsm-b")
    replicated.await_places("down", "ready")
    assert replicated.is_ready() and replicated.sign()[0] == 200
    assert replicated.signers() == [replicated.held.serial("hsm-b")]


def test_status_states_and_metrics_name_the_lost_token(replicated):
    replicated.held.lose("hsm-b")
    replicated.await_places("ready", "down")
    seen = state_of(replicated)
    assert seen["state"] == "degraded" and "pkcs11:token=hsm-b" in seen["reason"] and "hsm-a" not in seen["reason"]
    assert [place["state"] for place in seen["replicas"]] == ["ready", "down"]
    assert [place["tokenSerial"] for place in seen["replicas"]][0] == replicated.held.serial("hsm-a")
    text = replicated.keys_command("states")[1]
    assert "REPLICA OF" in text and "pin" not in text
    series = replicated.series("privyseal_key_tokens")
    states = [(labels["token"].split(";")[0], labels["state"], value) for labels, value in series]
    assert sorted(states) == [("pkcs11:token=hsm-a", "ready", 1), ("pkcs11:token=hsm-b", "down", 1)]
    assert '"state": "degraded"' in reasons(replicated) and "pkcs11:token=hsm-b" in reasons(replicated)


def test_a_token_that_hangs_during_a_request_is_replaced_by_the_next_one(tmp_path):
    tokens = FaultyTokens(tmp_path)
    shutil.copy(SOFTHSM, tokens.modules["hsm-b"])
    service = ReplicatedService(BINARY, tmp_path, tokens)
    service.configure(more="backends: {pkcs11: {operationTimeout: 1}}\n")
    with service:
        service.await_places("ready", "ready")
        tokens.faults.set("C_Sign hang")
        assert [service.sign()[0] for _ in range(4)] == [200] * 4
        assert set(service.signers()) == {tokens.serial("hsm-b")}
        begin = time.monotonic()
        assert service.is_ready() and time.monotonic() - begin < 5


def test_a_token_that_is_missing_at_the_start_joins_later(tmp_path):
    tokens = TwoTokens(tmp_path)
    tokens.lose("hsm-a")
    with ReplicatedService(BINARY, tmp_path, tokens, pinned=fingerprint(tokens.public[OLD])) as service:
        service.await_places("down", "ready")
        assert service.is_ready() and service.sign()[0] == 200
        tokens.put_back("hsm-a")
        service.await_places("ready", "ready")
        assert service.sign()[0] == 200
        assert service.signers() == [tokens.serial("hsm-b"), tokens.serial("hsm-a")]


# Another key


def test_another_key_on_the_second_token_is_refused_and_recorded(tmp_path):
    tokens = TwoTokens(tmp_path)
    tokens.remove("hsm-b", OLD)
    tokens.add_another("hsm-b", OLD)
    with ReplicatedService(BINARY, tmp_path, tokens) as service:
        service.await_places("ready", "refused")
        assert service.is_ready()
        tokens.lose("hsm-a")
        service.await_places("down", "refused")
        assert service.sign()[0] == 503 and service.signers() == []
        entries = AuditCopy(service.database).of_kind("key")
        (refused,) = [e for e in entries if "another key" in e.get("reason", "") and e["state"] == "degraded"]
        assert "pkcs11:token=hsm-b" in refused["reason"] and refused["tokenSerial"] == tokens.serial("hsm-b")


def test_a_pinned_key_is_served_by_the_second_token_if_the_first_has_another_one(tmp_path):
    tokens = TwoTokens(tmp_path)
    tokens.remove("hsm-a", OLD)
    tokens.add_another("hsm-a", OLD)
    with ReplicatedService(BINARY, tmp_path, tokens, pinned=fingerprint(tokens.public[OLD])) as service:
        service.await_places("refused", "ready")
        assert service.sign()[0] == 200 and service.signers() == [tokens.serial("hsm-b")]
        # The place is removed, corrected and added again, without a restart.
        service.configure(labels=("hsm-b",))
        assert service.reload()[0] and service.sign()[0] == 200
        tokens.remove("hsm-a", OLD)
        tokens.add("hsm-a", OLD)
        service.configure()
        assert service.reload()[0]
        service.await_places("ready", "ready")
        assert service.signers() == [tokens.serial("hsm-b")] * 2 and service.sign()[0] == 200
        assert service.signers()[-1] == tokens.serial("hsm-a")


def test_a_register_that_knows_the_key_refuses_another_one_even_if_it_opens_first(tmp_path):
    service = ReplicatedService(BINARY, tmp_path)
    with service:
        service.await_places("ready", "ready")
        status, answer = service.admin("POST", f"/v1/keys/{OLD}/prove", {})
        assert status == 200, answer
    service.held.lose("hsm-a")
    service.held.remove("hsm-b", OLD)
    service.held.add_another("hsm-b", OLD)
    with service:
        service.await_places("down", "refused")
        assert service.sign()[0] == 503
        service.held.put_back("hsm-a")
        service.await_places("ready", "refused")
        assert service.sign()[0] == 200


# Selection


@pytest.mark.parametrize("selection", ["inOrder", "leastBusy"])
def test_the_selection_decides_which_token_signs(tmp_path, selection):
    with ReplicatedService(BINARY, tmp_path, selection=selection) as service:
        service.await_places("ready", "ready")
        with KeepingLoad(service, connections=9) as load:
            load.wait_for(600)
        assert set(load.count_by_status()) == {200}
        counts = collections.Counter(service.signers())
        first, second = (counts[service.held.serial(label)] for label in ("hsm-a", "hsm-b"))
        if selection == "inOrder":
            assert second == 0
        else:
            assert min(first, second) > 0.2 * (first + second), counts


def test_a_reload_adds_and_removes_a_place_without_closing_the_other(replicated):
    replicated.configure(labels=("hsm-a",))
    assert replicated.reload()[0]
    assert "replicas" not in state_of(replicated)
    replicated.configure()
    assert replicated.reload()[0]
    replicated.await_places("ready", "ready")
    assert replicated.sign()[0] == 200
    # Each change of the key's state is one entry; a reload without a change of the first place has none.
    assert [e["state"] for e in AuditCopy(replicated.database).of_kind("key")].count("down") == 0


# The compliance report


def test_the_compliance_report_examines_both_tokens_and_finds_a_difference(replicated):
    def checks():
        _, output, errors = replicated.run("compliance", "report", "--format", "json", "--accept-software")
        assert output, errors
        (key,) = json.loads(output)["report"]["keys"]
        return {check["id"]: check for check in key["checks"]}

    found = checks()
    assert found["replicas.agree"]["result"] == "pass"
    assert found["replica.1.selftest.pairwise"]["result"] == found["selftest.pairwise"]["result"] == "pass"
    assert str(replicated.held.modules["hsm-b"]) in found["replica.1.token.module"]["detail"]
    # A key that may also derive keys.
    replicated.held.remove("hsm-b", OLD)
    replicated.held.add_deriving("hsm-b", OLD)
    found = checks()
    assert found["replicas.agree"]["result"] == "fail"
    assert "CKA_DERIVE is FALSE at pkcs11:token=hsm-a" in found["replicas.agree"]["detail"]
    assert found["attribute.CKA_DERIVE"]["result"] == "pass"
    assert found["replica.1.attribute.CKA_DERIVE"]["result"] == "fail"


# Jobs over both tokens


class Jobs(JobsBesideGateway):
    """A key NEW in a file, for import into both tokens, beside a running gateway."""

    def __init__(self, directory, dual_control=False):
        self.tokens = TwoTokens(directory, faulty_library(BINARY))
        service = ReplicatedService(BINARY, directory, self.tokens, dual_control=dual_control)
        super().__init__(directory, service, self.tokens.store, self.tokens.environment)
        service.start()

    def declare(self):
        """Adds NEW with both places to the configuration."""
        self.service.configure(keys=(OLD, NEW))
        text = self.service.configuration.read_text()
        first, second = (self.tokens.uri_on(label, NEW) for label in ("hsm-a", "hsm-b"))
        # The harness declares it with a URI of its own.
        own = self.service.keys.uri(1)
        assert own in text
        text = text.replace(f'uri: "{own}"', f'uri: "{first}", replicas: ["{second}"], publicKey: "{fingerprint(self.public)}"')
        self.service.configuration.write_text(text)

    def import_(self):
        """Without --into: the places of the configuration."""
        return ("import", self.file, "--key-id", NEW, "--reason", "a test")

    def objects(self):
        return [self.tokens.objects(label, NEW) for label in ("hsm-a", "hsm-b")]


@pytest.fixture
def jobs(tmp_path):
    jobs = Jobs(tmp_path)
    yield jobs
    jobs.service.end()


def begin_serving(jobs):
    """Declares NEW before it exists: the reload needs a key that signs, so the gateway restarts."""
    jobs.declare()
    jobs.service.stop()
    jobs.service.start()


def test_an_import_and_a_destruction_cover_both_tokens_with_a_result_for_each(jobs):
    begin_serving(jobs)
    ended = jobs.run(*jobs.import_(), "--format", "json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    answer = json.loads(ended.stdout)
    assert [place["tokenSerial"] for place in answer["places"]] == [
        jobs.tokens.serial("hsm-a"), jobs.tokens.serial("hsm-b")
    ]
    jobs.await_end()
    assert jobs.objects() == [2, 2]
    jobs.service.await_places("ready", "ready")
    await_(lambda: jobs.service.places(NEW) == ["ready", "ready"], "the key at both places", seconds=90)
    assert jobs.service.states()[NEW] == "staged"
    (change,) = [entry for _, entry in changes(AuditCopy(jobs.service.database)) if entry["action"] == "import" and entry.get("to")]
    evidence = change["evidence"]
    assert evidence["uri"].startswith("pkcs11:token=hsm-a") and evidence["replica.1.uri"].startswith("pkcs11:token=hsm-b")
    assert evidence["replica.1.tokenSerial"] == jobs.tokens.serial("hsm-b") and evidence["replica.1.seenBy"] == "the gateway"
    ended = jobs.run(*jobs.destroy())
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert jobs.objects() == [0, 0] and jobs.service.states()[NEW] == "destroyed"
    assert jobs.work() == []


def test_a_destruction_that_names_only_one_of_two_places_is_refused(jobs):
    begin_serving(jobs)
    assert jobs.run(*jobs.import_()).returncode == 0
    jobs.await_end()
    refused = jobs.run(*jobs.destroy(), "--at", jobs.tokens.uri_on("hsm-a", NEW))
    assert refused.returncode == 1 and "also at pkcs11:token=hsm-b" in refused.stderr, refused.stderr
    assert jobs.objects() == [2, 2]


def test_a_job_that_reached_one_of_two_tokens_is_completed_by_the_same_command(jobs, tmp_path):
    begin_serving(jobs)
    # The second token refuses the import: it has another key with that name.
    other = tmp_path / "other.p8"
    write_key(other)
    jobs.tokens.add("hsm-b", NEW, other)
    failed = jobs.run(*jobs.import_())
    assert failed.returncode == 1, failed.stdout
    (work,) = jobs.work()
    assert [result["uri"].split(";")[0] for result in work["results"]] == ["pkcs11:token=hsm-a"]
    assert "finished at pkcs11:token=hsm-a" in jobs.service.keys_command("states")[1]
    jobs.tokens.remove("hsm-b", NEW)
    ended = jobs.run(*jobs.import_())
    assert ended.returncode == 0, ended.stderr
    assert "An earlier run has finished the work at pkcs11:token=hsm-a" in ended.stderr
    jobs.await_end()
    assert jobs.objects() == [2, 2] and jobs.service.states()[NEW] == "staged"


def test_an_import_says_so_if_the_job_that_it_continues_ends_meanwhile(jobs):
    begin_serving(jobs)
    assert jobs.run(*jobs.import_()).returncode == 0
    jobs.await_end()
    order = {"action": "import", "issuerId": ISSUER_ID, "keyId": NEW, "reason": "a test", "fingerprint": fingerprint(jobs.public)}
    first, second = (jobs.tokens.uri_on(label, NEW).split("&pin-source")[0] for label in ("hsm-a", "hsm-b"))
    status, answer = jobs.service.admin("POST", "/v1/ceremonies", {**order, "uri": first, "replicas": [second]})
    assert (status, answer["outcome"]) == (200, "begun"), answer

    def report(uri):
        end = {"succeeded": True, "uri": uri, "fingerprint": order["fingerprint"], "evidence": {}}
        return jobs.service.admin("POST", f"/v1/ceremonies/{answer['ceremony']['id']}/finish", end)

    assert report(first)[0] == 200
    terminal, end = pty.openpty()
    command = jobs.command(*jobs.import_())
    command.remove("--yes")
    with jobs.popen(command, stdin=end) as process:
        said = ""
        while "Type yes" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        assert "An earlier run has finished the work at" in said and 'It goes into the token "hsm-b"' in said
        # The job ends while the command waits for the person.
        assert report(second)[0] == 200 and jobs.work() == []
        os.write(terminal, b"yes\n")
        output, said = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, ""), said
    assert f"has ended meanwhile: the key {NEW} is staged." in said
    assert jobs.work() == [] and jobs.objects() == [2, 2]


def has_open_job(jobs, action):
    """Whether the register has a job that began; `check` names the next command then."""
    # In this order, because the gateway may end a job by itself.
    status, seen = jobs.service.check()
    is_open = jobs.work() != []
    assert not is_open or (status == 1 and f"privyseal keys {action}" in json.dumps(seen)), seen
    return is_open


def complete(jobs, action, arguments):
    jobs.completed(*arguments)
    jobs.await_end()
    count, state = {"import": ([2, 2], "staged"), "destroy": ([0, 0], "destroyed")}[action]
    assert jobs.objects() == count and jobs.service.states()[NEW] == state, action


def test_jobs_over_two_tokens_that_were_killed_in_a_token_are_completed_by_the_same_command(jobs):
    begin_serving(jobs)
    for action, arguments, function in (
        ("import", jobs.import_(), "C_UnwrapKey"), ("destroy", jobs.destroy(), "C_DestroyObject"),
    ):
        jobs.killed_in(function, *arguments)
        assert has_open_job(jobs, action)
        complete(jobs, action, arguments)


def test_imports_and_destructions_over_two_tokens_can_be_completed_after_kills(jobs):
    begin_serving(jobs)
    chance = random.Random(11)
    begun = time.monotonic()
    assert jobs.run(*jobs.import_()).returncode == 0
    whole = time.monotonic() - begun
    jobs.await_end()
    assert jobs.run(*jobs.destroy()).returncode == 0
    for _ in range(KILLS):
        for action, arguments in (("import", jobs.import_()), ("destroy", jobs.destroy())):
            # A random time, because the kill must not depend on an event.
            jobs.killed(chance.uniform(0, whole * 1.1), *arguments)
            has_open_job(jobs, action)
            complete(jobs, action, arguments)


def test_one_approval_covers_both_tokens_also_after_a_kill(tmp_path):
    jobs = Jobs(tmp_path, dual_control=True)
    try:
        begin_serving(jobs)
        proposed = jobs.run(*jobs.import_())
        assert proposed.returncode == 0 and "a second administrator has to approve" in proposed.stdout, proposed.stderr
        _, overview = jobs.service.admin("GET", "/v1/keys")
        (proposal,) = overview["proposals"]
        assert proposal["details"]["replica.1"].startswith("pkcs11:token=hsm-b")
        status, answer = jobs.service.approve(proposal["id"], "ann")
        assert status == 200, answer
        jobs.killed_in("C_UnwrapKey", *jobs.import_())
        assert has_open_job(jobs, "import")
        complete(jobs, "import", jobs.import_())
        begun = [entry for _, entry in life(AuditCopy(jobs.service.database)) if entry["event"] == "proposed"]
        assert len(begun) == 1
    finally:
        jobs.service.stop()


def test_wrapped_packages_are_given_for_each_place(jobs, tmp_path):
    begin_serving(jobs)
    packages = []
    for label in ("hsm-a", "hsm-b"):
        pem, package = tmp_path / f"{label}.pem", tmp_path / f"{label}.wrapped"
        into = jobs.tokens.uri_on(label, "wrapping")
        steps = (
            [BINARY, "keys", "wrapping-key", "--into", into, "--out", pem],
            [BINARY, "keys", "wrap", jobs.file, "--for", pem, "--out", package],
        )
        for step in steps:
            done = jobs.run_command(step)
            assert done.returncode == 0, done.stderr
        packages += ["--wrapped", package]
    named = ("--fingerprint", fingerprint(jobs.public), "--key-id", NEW)
    one = jobs.run("import", *packages[:2], *named)
    assert one.returncode == 1 and "1 packages for 2 places" in one.stderr, one.stderr
    ended = jobs.run("import", *packages, *named)
    assert ended.returncode == 0, ended.stderr
    jobs.await_end()
    assert jobs.objects() == [2, 2]


def test_a_key_with_several_places_is_not_generated(jobs):
    begin_serving(jobs)
    refused = jobs.run("generate", "--key-id", NEW, "--into", jobs.tokens.uri_on("hsm-a", NEW))
    assert refused.returncode == 1 and "import one key into all of its places" in refused.stderr, refused.stderr
    order = {
        "action": "generate", "issuerId": "57246542-96fe-1a63-e053-0824d011072a", "keyId": NEW, "reason": "a test",
        "uri": jobs.tokens.uri_on("hsm-a", NEW).split("&")[0],
    }
    status, answer = jobs.service.admin("POST", "/v1/ceremonies", order)
    assert status == 409 and "no other token can have" in answer["detail"], answer
    assert jobs.objects() == [0, 0]
