"""A gateway whose checkpoints witnesses cosign, and the verification of its log with their policy."""

import contextlib
import json
import pathlib
import shutil
import signal
import subprocess
import time

import pytest
from auditing import APP, SEGMENT, UNAVAILABLE, AuditCopy, AuditedService, KeepingLoad, await_, notes_in, public_key
from conftest import BINARY
from database_server import cluster, url
from edits import back_up
from fleet import FleetGateway
from key_lifecycle import KeysInFiles
from running import KEY_IDS, FileKeys
from witnesses import OtherWitness, SampleLog, WitnessProcess, cosigned_at, policy, split

ORIGIN = "example.com/privyseal/shop"


class WitnessedService(AuditedService):
    def __init__(self, place, failure="require", interval=1):
        self.failure, self.interval = failure, interval
        self.policy = pathlib.Path(place) / "witnesses.policy"
        super().__init__(BINARY, place, FileKeys(place))

    def configure(self, audit="", more="", extra_clients=(), uri=None):
        settings = (
            f"origin: {ORIGIN}\ncheckpoints: {{interval: {self.interval}, file: {self.checkpoints}, "
            f"policy: {self.policy}, witness: {self.failure}}}"
        )
        super().configure(settings, more, extra_clients, uri)

    def signs(self):
        status, _, body = self.sign()
        assert status == 200 or json.loads(body)["type"] == UNAVAILABLE
        return status == 200

    def copy(self, name="copy"):
        """The database and the checkpoints as an auditor gets them."""
        directory = self.directory / name
        directory.mkdir()
        shutil.copy(self.checkpoints, directory / "checkpoints")
        back_up(self.database, directory / "audit.db")
        return directory

    @property
    def vkey(self):
        return public_key(self.database).read_text().strip()


def audit(*arguments, status=0):
    ended = subprocess.run([BINARY, "audit", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert ended.returncode == status, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


@pytest.fixture
def witness(place):
    """Knows the log of a gateway that has run once without witnesses."""
    service = AuditedService(BINARY, place, FileKeys(place), f"origin: {ORIGIN}")
    with service:
        assert service.sign()[0] == 200
    key = public_key(service.database).read_text().strip()
    with WitnessProcess(BINARY, place / "witness", [key]) as witness:
        yield witness


def test_without_its_witness_a_gateway_releases_nothing(place, witness):
    service = WitnessedService(place)
    policy(service.policy, [witness], "all")
    witness.stop()
    with service:
        assert not service.signs()
        assert json.loads(service.ask("GET", "/readyz")[2])["status"] == "unready"
        await_(lambda: "Connection refused" in service.status()["audit"]["reason"], "the status gives the reason")
        reason = service.status()["audit"]["reason"]
        assert "Too few witnesses" in reason and witness.name in reason
        witness.start()
        await_(service.signs, "the gateway signs with its witness")
        witness.kill()
        await_(lambda: not service.signs(), "the gateway stops without its witness", seconds=5)
        witness.start()
        await_(service.signs, "the gateway signs again")
        quorum = service.status()["audit"]["quorum"]
        assert "complaint" not in quorum and quorum["witnesses"][0]["name"] == witness.name
    assert service.process.returncode == 0


def test_privyseal_sign_needs_the_witnesses_too(place, witness):
    service = WitnessedService(place)
    policy(service.policy, [witness], "all")
    command = ("sign", "promotional-offer", "--app", APP, "productId=m", "offerIdentifier=w")
    assert service.run(*command)[0] == 0
    witness.stop()
    status, output, error = service.run(*command)
    assert (status, output) == (1, b"") and b"Too few witnesses" in error


def test_with_warn_a_gateway_signs_without_its_witness_and_says_so(place, witness):
    service = WitnessedService(place, failure="warn")
    policy(service.policy, [witness], "all")
    witness.stop()
    with service:
        assert service.signs()
        await_(lambda: service.status()["audit"]["quorum"].get("complaint"), "the status says that a witness is missing")
        assert service.metric("privyseal_audit_quorum_timestamp_seconds", log="gateway") == 0
        witness.start()
        await_(lambda: service.metric("privyseal_audit_quorum_timestamp_seconds", log="gateway") > 0, "the quorum")
        assert service.metric("privyseal_audit_witness_contradiction", log="gateway", witness=witness.name) == 0
        status, _, text = service.ask("GET", "/v1/status", None, {"Accept": "text/plain"}, listener="admin")
        assert status == 200 and b"enough witnesses cosigned" in text


def test_a_command_that_signs_leaves_the_checkpoint_that_its_witness_cosigned(place, witness):
    service = WitnessedService(place)
    policy(service.policy, [witness], "all")
    command = ("sign", "promotional-offer", "--app", APP, "productId=m", "offerIdentifier=w")
    for _ in range(2):
        assert service.run(*command)[0] == 0
    auditor = policy(place / "auditor.policy", [witness], "all", [service.vkey])
    text = audit("verify", "--database", service.database, "--policy", auditor)
    assert "enough witnesses cosigned the first" in text


def test_commands_and_the_gateway_ask_their_witness_at_the_same_time(place, witness):
    service = WitnessedService(place)
    policy(service.policy, [witness], "all")
    command = ("sign", "promotional-offer", "--app", APP, "productId=m", "offerIdentifier=w")
    with service:
        await_(service.signs, "the gateway signs")
        for _ in range(15):
            status, _, error = service.run(*command)
            assert status == 0, error
            assert service.signs()


def test_a_gateway_that_was_stopped_beyond_its_quorum_releases_nothing(place, witness):
    service = WitnessedService(place)
    policy(service.policy, [witness], "all")
    with service:
        await_(service.signs, "the gateway signs")
        with KeepingLoad(service, 4) as load:
            load.wait_for(50)
            service.process.send_signal(signal.SIGSTOP)
            witness.kill()
            time.sleep(service.interval * 2 + 1)
            stopped = time.monotonic()
            service.process.send_signal(signal.SIGCONT)
            load.wait_for(20, 503)
        assert [status for moment, status, _ in load.answers if moment > stopped + 0.01 and status == 200] == []


def test_keys_can_be_stopped_without_witnesses(place, witness):
    """With and without a running gateway: a compromised key must not wait for a witness."""
    service = WitnessedService(place)
    policy(service.policy, [witness], "all")
    witness.stop()
    with service:
        status, _, error = service.run("keys", "suspend", KEY_IDS[0], "--reason", "A test")
        assert status == 0, error
    status, _, error = service.run("keys", "resume", KEY_IDS[0], "--reason", "A test")
    assert status == 0, error


def test_the_time_without_a_quorum_is_in_the_log(place, witness):
    service = WitnessedService(place)
    policy(service.policy, [witness], "all")
    with service:
        await_(service.signs, "the gateway signs")
        witness.kill()
        await_(lambda: not service.signs(), "the gateway stops without its witness")
        await_(lambda: b"Nothing is signed. Too few witnesses" in service.log.read_bytes(), "the gateway's log says so")
        for _ in range(5):
            assert not service.signs()
        witness.start()
        await_(service.signs, "the gateway signs again")
        await_(lambda: AuditCopy(service.database).of_kind("outage"), "the audit log says so")
    [outage] = AuditCopy(service.database).of_kind("outage")
    assert outage["refused"] >= 6 and "Too few witnesses" in outage["reason"] and witness.name in outage["reason"]
    assert outage["milliseconds"] > 0


def test_a_reload_says_that_a_changed_policy_needs_a_restart(place, witness):
    service = WitnessedService(place)
    policy(service.policy, [witness], "all")
    with service:
        await_(service.signs, "the gateway signs")
        service.policy.write_text(service.policy.read_text() + "# a comment\n")
        status, output, error = service.run("reload")
        assert b"restart" in output + error and b"audit.checkpoints.policy" in output + error
        service.policy.unlink()
        status, output, error = service.run("reload")
        assert status != 0 and b"does not exist" in output + error
        assert service.signs()


def test_a_slow_round_of_one_witness_delays_no_signature(place):
    with OtherWitness("w.example/1") as first, OtherWitness("w.example/2", "hangs") as second:
        service = WitnessedService(place)
        policy(service.policy, [first, second], "any")
        with service:
            await_(service.signs, "the gateway signs")
            asked, end = len(second.requests), time.monotonic() + 60
            while len(second.requests) < asked + 4:
                assert service.signs() and time.monotonic() < end


FAULTS = [
    "refuses", "fails", "redirects", "is empty", "answers nonsense", "answers endlessly", "gives no size",
    "gives a huge size", "gives a negative size", "repeats the size", "signs with another key", "signs another text",
    "signs without a time", "signs under another name", "hangs", "stalls after the head",
]  # fmt: skip


def await_requests(witnesses, count=3):
    """Waits until the gateway has asked each witness so often. What it makes of an answer lasts for two intervals."""
    asked = [len(one.requests) for one in witnesses]
    late = lambda: [one.fault for one, before in zip(witnesses, asked) if len(one.requests) < before + count]
    await_(lambda: not late(), late, seconds=60)


def test_a_witness_that_lies_or_fails_does_not_count(place):
    """Two suffice, whatever the others do; with one and any number that lie, nothing is released."""
    liars = [OtherWitness(f"liar.example/{number}", fault) for number, fault in enumerate(FAULTS)]
    honest = [OtherWitness(f"honest.example/{number}") for number in range(2)]
    with contextlib.ExitStack() as stack:
        for witness in [*liars, *honest]:
            stack.enter_context(witness)
        service = WitnessedService(place)
        policy(service.policy, [*liars, *honest], 2)
        with service:
            await_(service.signs, "the gateway signs")
            await_requests(liars)
            assert service.signs()
            honest[0].fault = "refuses"
            await_(lambda: not service.signs(), "too few witnesses", seconds=10)
            await_requests(liars)
            assert not service.signs()
            honest[0].fault = None
            await_(service.signs, "enough witnesses")
        # Nothing that a lying witness sent is in a checkpoint.
        keys, cosigned = {one.name: one.vkey for one in honest}, 0
        for note in notes_in(service.checkpoints):
            text, [own, *cosignatures] = split(note)
            assert own[0] == ORIGIN
            assert all(cosigned_at(keys[name], text, (name, *rest)) for name, *rest in cosignatures)
            cosigned += len(cosignatures)
        assert cosigned > 10


def test_a_fork_of_the_log_is_refused_and_nothing_is_signed(place, witness):
    service = WitnessedService(place)
    policy(service.policy, [witness], "all")
    with service:
        await_(service.signs, "the gateway signs")
    size = int(witness.latest(ORIGIN)[2].splitlines()[1])
    # An attacker puts back an empty log, with the true key, and removes the gateway's own checkpoints.
    for file in [*service.place.glob("audit.db*"), *service.place.glob("audit.index*"), service.checkpoints]:
        if not file.name.endswith((".key", ".pub")):
            file.unlink()
    with service:
        assert not service.signs()
        await_(lambda: "answered 422" in (service.status()["audit"]["reason"] or ""), "the fork is refused", seconds=40)
        assert not service.signs()
        assert service.metric("privyseal_audit_witness_contradiction", log="gateway", witness=witness.name) == 1
    assert int(witness.latest(ORIGIN)[2].splitlines()[1]) == size
    assert "A checkpoint was refused" in witness.output.read_text()


def test_an_auditor_verifies_a_copy_with_the_policy(place, witness):
    service = WitnessedService(place)
    policy(service.policy, [witness], "all")
    auditor = policy(place / "auditor.policy", [witness], "all", [service.vkey, SampleLog("x.example").vkey], with_urls=False)
    with service:
        await_(service.signs, "the gateway signs")
        assert service.signs()
        await_(lambda: len(service.checkpoints.read_text()) > 500, "checkpoints are published")
        copy = service.copy()
        on = ("--database", copy / "audit.db", "--policy", auditor)
        text = audit("verify", *on, "--checkpoints", copy / "checkpoints")
        assert "intact" in text and "enough witnesses cosigned the first" in text
        # The database alone has witnessed checkpoints, too.
        assert "enough witnesses cosigned" in audit("verify", *on)
        answer = json.loads(audit("verify", *on, "--format", "json"))
        assert 0 < answer["checkpoints"]["witnessed"] <= answer["size"] and answer["checkpoints"]["witnessedAt"]

        # A proof with the signatures of the witnesses.
        audit("prove", 0, *on, "--out", copy / "proof")
        assert "valid" in audit("check-proof", copy / "proof", "--policy", auditor)
        status, proof, _ = service.run("audit", "prove", "0")
        assert status == 0 and witness.name.encode() in proof

        # The policy of another witness is not met.
        with OtherWitness("w.example/1") as stranger:
            other = policy(place / "other.policy", [stranger], "all", [service.vkey])
        text = audit("verify", "--database", copy / "audit.db", "--policy", other, status=1)
        assert "No checkpoint that could be compared has the signatures of enough witnesses" in text
        assert "Too few witnesses" in audit("check-proof", copy / "proof", "--policy", other, status=1)
        assert "Too few witnesses" in audit("prove", 0, "--database", copy / "audit.db", "--policy", other, status=1)

    # The holder of the log's key adds entries and a checkpoint, and no witness sees them.
    service.failure = "warn"
    service.configure()
    witness.stop()
    with service:
        assert service.signs()
        before = service.checkpoints.read_text()
        await_(lambda: service.checkpoints.read_text() != before, "an unwitnessed checkpoint is published")
        copy = service.copy("later")
    text = audit("verify", "--database", copy / "audit.db", "--policy", auditor, "--checkpoints", copy / "checkpoints", status=1)
    assert "The last checkpoint that enough witnesses cosigned covers" in text


def test_a_changed_cosignature_makes_a_checkpoint_invalid(place, witness):
    service = WitnessedService(place)
    policy(service.policy, [witness], "all")
    with service:
        await_(service.signs, "the gateway signs")
        copy = service.copy()
    auditor = policy(place / "auditor.policy", [witness], "all", [service.vkey])
    notes = (copy / "checkpoints").read_text().rstrip("\n")
    head, _, signature = notes.rpartition(" ")
    changed = signature[:-6] + ("A" if signature[-6] != "A" else "B") + signature[-5:]
    (copy / "checkpoints").write_text(f"{head} {changed}\n\n")
    text = audit(
        "verify", "--database", copy / "audit.db", "--policy", auditor, "--checkpoints", copy / "checkpoints", status=1
    )
    assert f"The signature by {witness.name} is wrong" in text


def test_the_logs_of_a_fleet_are_witnessed(place):
    class Witnessed(FleetGateway):
        def configure(self, *arguments, **named):
            super().configure(*arguments, **named)
            text = self.configuration.read_text()
            self.configuration.write_text(
                text.replace("checkpoints: {", f"checkpoints: {{policy: {place}/w.policy, witness: require, ", 1)
            )

    with cluster() as server, OtherWitness("w.example/1") as first:
        policy(place / "w.policy", [first], "all")
        keys = KeysInFiles(place)
        gateways = [Witnessed(BINARY, place, number, keys, url(server)) for number in (1, 2)]
        with gateways[0], gateways[1]:
            for gateway in gateways:
                await_(gateway.is_ready, "the gateway is ready")
            origins = [gateway.origin for gateway in gateways] + [gateways[0].fleet_origin]
            await_(lambda: all(one in first.sizes for one in origins), "the three logs are cosigned")
        key_files = [gateway.public_key for gateway in gateways] + [place / "fleet.key.pub"]
        logs = [file.read_text().strip() for file in key_files]
        auditor = policy(place / "auditor.policy", [first], "all", logs)
        checkpoints = [option for gateway in gateways for option in ("--checkpoints", gateway.checkpoints)]
        checkpoints += ["--checkpoints", place / "fleet.key.checkpoints"]
        text = audit("verify", "--all-logs", "--database", url(server), "--policy", auditor, *checkpoints)
        assert text.count("enough witnesses cosigned") == 3


def test_archiving_keeps_the_entries_that_a_witness_needs(place, witness):
    service = WitnessedService(place, failure="warn")
    policy(service.policy, [witness], "all")
    archive = ("audit", "archive", "--segments", "1", "--to", place / "archive", "--drop", "--quiet")
    (place / "archive").mkdir()
    with service:
        assert service.signs()
        await_(lambda: service.status()["audit"]["quorum"].get("size"), "the witness has cosigned")
        witness.stop()
        with KeepingLoad(service):
            await_(lambda: service.status()["audit"]["entries"] > SEGMENT + 100, "a segment is full", seconds=60)
        await_(lambda: service.status()["audit"]["checkpointSize"] > SEGMENT, "a checkpoint covers the segment")
        status, output, error = service.run(*archive)
        assert status == 1, output
        assert f"the witness {witness.name} has cosigned the log up to".encode() in error, error
        assert list((place / "archive").iterdir()) == []
        witness.start()
        await_(lambda: service.status()["audit"]["quorum"]["size"] > SEGMENT, "the witness knows all entries")
        await_(lambda: service.run(*archive)[0] == 0, "the entries are archived")
        assert service.signs()
        size = service.status()["audit"]["entries"]
        await_(lambda: service.status()["audit"]["quorum"]["size"] > size, "the witness follows the log")
