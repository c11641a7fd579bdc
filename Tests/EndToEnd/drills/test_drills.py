"""Drills on gateways that the drills start themselves, and their records compared with the audit log."""

import base64
import contextlib
import functools
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import pytest
from auditing import AuditCopy, await_, public_key, verify
from conftest import BINARY
from database_server import Proxy
from key_lifecycle import NEW as STAGED
from key_lifecycle import KeysInFiles, KeyService, moment
from replicated import ReplicatedService
from running import APP, TokenKeys
from service import write_secret
from stepped_clock import Clock

SCENARIOS = (
    "scheduled-rotation",
    "compromise",
    "token-loss",
    "failover",
    "wrong-key-imported",
    "operator-mistake",
    "restore-from-backup-token",
)
OLD, NEW = "DRILLKEY01", "DRILLKEY02"
CLIENT = "drill"


class Drill:
    """The results of `privyseal drill run`. `directory`: a short path, because of the gateway's sockets in it."""

    def __init__(self, scenario, directory, *more):
        command = [BINARY, "drill", "run", scenario, "--throw-away", "--directory", directory, "--format", "json"]
        command += ["--overlap", "2s", "--participant", "Ann Smith:key custodian", "--participant", "Ben Jones:witness", *more]
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=300, env={**os.environ, "TMPDIR": str(directory)}
        )
        self.status, self.said, self.directory = ended.returncode, ended.stderr, directory
        assert ended.stdout, ended.stderr
        self.record = json.loads(ended.stdout)
        self.evidence = directory / self.record["id"]

    @property
    def log(self):
        return AuditCopy(self.evidence / "audit.db")

    def step(self, title):
        (step,) = [step for step in self.record["steps"] if step["title"].startswith(title)]
        return step


@pytest.fixture(scope="module")
def shelf():
    with tempfile.TemporaryDirectory(prefix="privyseal-") as shelf:
        yield pathlib.Path(shelf)


@pytest.fixture(scope="module")
def drill_of(shelf):
    """The drill of a scenario, which runs once."""
    return functools.cache(lambda scenario: Drill(scenario, shelf))


@pytest.fixture(scope="module", params=SCENARIOS)
def drill(request, drill_of):
    return drill_of(request.param)


def test_each_drill_passes_without_a_wrong_signature(drill):
    record = drill.record
    assert (drill.status, record["verdict"]) == (0, "passed"), drill.said
    assert all(step["verdict"] == "passed" for step in record["steps"]), record["steps"]
    assert record["load"]["wronglySigned"] == record["load"]["failedUnexcused"] == 0
    assert record["load"]["served"] > 0


def test_each_drill_writes_its_files_and_prints_its_record(drill):
    file = drill.directory / f"{drill.record['id']}.json"
    assert json.loads(file.read_text()) == drill.record
    page = (drill.directory / f"{drill.record['id']}.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "Ann Smith" in page and page.count("<span>Signature</span>") == 2
    assert "http://" not in page and "https://" not in page and "<script" not in page


def test_the_page_and_the_log_contain_the_digest_of_the_record(drill):
    file = drill.directory / f"{drill.record['id']}.json"
    digest = hashlib.sha256(file.read_bytes())
    assert digest.hexdigest() in (drill.directory / f"{drill.record['id']}.html").read_text()
    (entry,) = drill.log.of_kind("report")
    assert (entry["subject"], entry["id"], entry["outcome"]) == ("drill", drill.record["id"], "passed")
    assert entry["digest"] == base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")
    proof = drill.directory / f"{drill.record['id']}.tlog-proof"
    checked = subprocess.run(
        [BINARY, "audit", "check-proof", proof, "--key", drill.evidence / "audit.db.key.pub", "--format", "json"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert json.loads(json.loads(checked.stdout)["entry"]) == entry


def test_the_audit_log_of_each_drill_is_intact(drill):
    database = drill.evidence / "audit.db"
    assert drill.log.faults(public_key(database), [drill.record["audit"]["checkpoint"]]) == []
    status, report = verify(BINARY, database, public_key(database), [])
    assert status == 0, report


def test_the_audit_log_contains_every_served_request(drill):
    """Exactly those of the load, besides requests by key name, which are not part of the load."""
    load, audit = drill.record["load"], drill.record["audit"]
    entries = drill.log.entries[audit["first"] : audit["last"] + 1]
    tokens = [entry for entry in entries if entry["kind"] == "signature" and entry["client"] == CLIENT]
    by_name = sum(
        step["title"].endswith("by name, during the overlap") for step in drill.record["steps"]
    )
    assert load["served"] <= len(tokens) <= load["served"] + by_name
    for key in load["byKey"]:
        signed = sum(entry["key"] == key for entry in tokens)
        assert load["byKey"][key] <= signed <= load["byKey"][key] + by_name


def test_the_numbers_of_each_record_are_consistent(drill):
    load = drill.record["load"]
    assert sum(load["byKey"].values()) == load["served"]
    assert sum(load["byReason"].values()) == load["failed"]
    assert sum(interval["served"] for interval in load["intervals"]) == load["served"]
    assert sum(interval["failed"] for interval in load["intervals"]) == load["failed"]
    begun, ended = moment(drill.record["begun"]), moment(drill.record["ended"])
    for step in drill.record["steps"]:
        assert begun <= moment(step["begun"]) <= moment(step["ended"]) <= ended


def test_no_file_and_no_process_of_the_gateway_remains(drill):
    socket = drill.record["gateway"]["address"].removeprefix("unix:")
    assert not pathlib.Path(socket).parent.exists()
    directory = str(pathlib.Path(socket).parent).encode()
    assert not any(directory in command for command in command_lines())


def command_lines():
    """The command lines of all processes, except of those that end during the look."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield path.read_bytes()


def test_the_record_and_the_log_contain_no_secret(drill):
    texts = [drill.said, json.dumps(drill.record), (drill.evidence / "gateway.log").read_text()]
    for text in texts:
        assert "PRIVATE KEY" not in text and "pin-source" not in text and "privyseal_" not in text


def test_each_scenario_records_its_expected_result(drill):
    record, timings = drill.record, drill.record["timings"]
    match record["scenario"]:
        case "scheduled-rotation":
            assert record["load"]["failed"] == 0
            assert timings["changeOver"] <= 1000
            assert record["keys"]["old"] == OLD and record["keys"]["new"] == NEW
            states = [(span["keyId"], span["state"]) for span in record["keys"]["states"]]
            assert [state for key, state in states if key == OLD] == ["active", "retiring", "retired"]
            assert [state for key, state in states if key == NEW] == ["staged", "active"]
            (change,) = [e for e in drill.log.of_kind("life") if e["action"] == "activate"]
            unnamed = [e for e in drill.log.of_kind("signature") if e["feature"] == "promotional-offer"]
            assert all((e["key"] == NEW) == (e["time"] >= change["time"]) for e in unnamed)
        case "compromise":
            assert {"stop", "detection", "changeOver", "recovery"} <= timings.keys()
            (change,) = [e for e in drill.log.of_kind("life") if e.get("action") == "compromise"]
            later = [e for e in drill.log.of_kind("signature") if e["time"] > change["time"] and e["key"] == OLD]
            assert later == []
            assert drill.step("Ask for a JWS right after that")["verdict"] == "passed"
            assert drill.step("Ask for a signature in the legacy form right after that")["verdict"] == "passed"
            assert "in any form" in drill.step("Look into the audit log")["expected"]
        case "token-loss":
            states = [span["state"] for span in record["keys"]["states"] if span["keyId"] == OLD]
            assert states[:3] == ["active", "active, down", "active"]
            assert record["load"]["byReason"].keys() == {"503"}
            assert {"detection", "recovery", "restoration"} <= timings.keys()
        case "failover":
            assert record["load"]["failed"] == 0 and "detection" in timings
            removed = [step for step in record["steps"] if step["title"].startswith("Take the token of")]
            assert [step["title"].split(";")[0] for step in removed] == [
                "Take the token of pkcs11:token=drill", "Take the token of pkcs11:token=drill-2"
            ]
            # Both tokens signed, and a key entry names each lost place.
            assert len({e["tokenSerial"] for e in drill.log.of_kind("signature")}) == 2
            lost = [e["reason"] for e in drill.log.of_kind("key") if e["state"] == "degraded"]
            assert any("token=drill;" in reason for reason in lost) and any("token=drill-2;" in reason for reason in lost)
        case "wrong-key-imported" | "operator-mistake":
            refused = [step for step in record["steps"] if "refused" in step["expected"]]
            assert len(refused) >= 6
            assert all(step["actual"].endswith(".") for step in refused)
        case "restore-from-backup-token":
            assert record["load"]["byKey"].keys() == {OLD, "DRILLKEY03"}
            assert "active, down" in [span["state"] for span in record["keys"]["states"]]
            # A module without a token is initialized again some time later; the drill must report the delay.
            slow = timings["restoration"] > 5000
            assert slow == any("Restoration took" in sentence for sentence in record["deviations"])
            tried = "after" in drill.step("Point the gateway")["actual"]
            assert tried == any("refused the new configuration" in sentence for sentence in record["deviations"])


def test_list_show_and_compare_print_the_archived_drills(shelf, drill):
    run = lambda *arguments: subprocess.run(
        [BINARY, "drill", *arguments, "--directory", shelf], capture_output=True, text=True, timeout=60
    )
    listed = json.loads(run("list", "--format", "json").stdout)["drills"]
    assert drill.record["id"] in [one["id"] for one in listed]
    assert json.loads(run("show", drill.record["id"], "--format", "json").stdout) == drill.record
    assert run("show", drill.record["id"], "--format", "html").stdout.startswith("<!DOCTYPE html>")
    assert drill.record["scenario"] in run("list").stdout
    first = run("compare", drill.record["id"])
    assert first.returncode == 1 and "first drill of its scenario" in first.stderr


def test_show_escapes_control_characters_of_a_record(drill, tmp_path):
    record = {**drill.record, "participants": [{"name": "\x1b[2J", "role": "none"}]}
    (tmp_path / f"{record['id']}.json").write_text(json.dumps(record))
    shown = subprocess.run(
        [BINARY, "drill", "show", record["id"], "--directory", tmp_path], capture_output=True, text=True, timeout=60
    )
    assert "\\u{1b}[2J" in shown.stdout and "\x1b" not in shown.stdout


def test_run_refuses_an_unwritable_directory_before_the_drill():
    ended = subprocess.run(
        [BINARY, "drill", "run", "compromise", "--throw-away", "--directory", "/proc/nope"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "privyseal: /proc/nope cannot be made: No such file or directory.\n"


def test_run_refuses_a_directory_whose_path_is_one_byte_too_long_for_a_socket(tmp_path):
    # These 69 bytes and "/privyseal-drill-123456/public.sock" are 104; NIO allows 103.
    temporary = pathlib.Path("/tmp") / f"{os.getpid()}-".ljust(64, "x")
    temporary.mkdir()
    try:
        ended = subprocess.run(
            [BINARY, "drill", "run", "compromise", "--throw-away", "--directory", tmp_path],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "TMPDIR": str(temporary)},
        )
        assert ended.returncode == 1
        assert "is too long for a socket in it; set TMPDIR to a shorter path." in ended.stderr
        assert list(temporary.iterdir()) == []
    finally:
        temporary.rmdir()


@contextlib.contextmanager
def running(*arguments, **how):
    """A drill in the background. If the test fails, SIGTERM ends it with its gateway."""
    command = [BINARY, "drill", "run", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how) as process:
        try:
            yield process
        finally:
            process.terminate()


def test_a_record_that_cannot_be_kept_is_printed_and_not_logged(place):
    directory, environment = place / "drills", {**os.environ, "TMPDIR": str(place)}
    with running("compromise", "--throw-away", "--directory", directory, "--format", "json", env=environment) as process:
        for line in process.stderr:
            if line.startswith("1. "):
                directory.rmdir()
                directory.write_text("in the way")
                break
        printed, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert json.loads(printed)["verdict"] == "passed"
    assert ".json cannot be written: Not a directory." in said and "The record is" not in said


def test_compare_shows_a_drill_beside_the_previous_one(place, drill_of):
    first = drill_of("compromise")
    shutil.copy(first.directory / f"{first.record['id']}.json", place)
    second = Drill("compromise", place)
    compared = subprocess.run(
        [BINARY, "drill", "compare", "--directory", place, "--format", "json"], capture_output=True, timeout=60
    )
    comparison = json.loads(compared.stdout)
    assert comparison["earlier"]["id"] == first.record["id"]
    assert comparison["later"]["id"] == second.record["id"]
    lines = {line["name"]: line for line in comparison["lines"]}
    assert lines["Recovery"]["later"] == second.record["timings"]["recovery"]
    assert "Comparison with the previous drill" in (place / f"{second.record['id']}.html").read_text()


def gateways_in(place):
    return list(place.glob("privyseal-drill-*"))


@pytest.fixture
def heeds_hangup():
    """A runner of tests may ignore SIGHUP, which a process inherits."""
    earlier = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, earlier)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_an_interrupted_drill_leaves_no_gateway(place, number, heeds_hangup):
    arguments = "scheduled-rotation", "--throw-away", "--directory", place, "--overlap", "60s"
    with running(*arguments, env={**os.environ, "TMPDIR": str(place)}) as process:
        for line in process.stderr:
            if "retire-at" in line:
                break
        assert len(gateways_in(place)) == 1
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 1, said
    assert "stopped before its end" in said
    await_(lambda: gateways_in(place) == [], "the directory of the gateway is removed")


def test_a_drill_interrupted_while_it_makes_its_gateway_leaves_none(place):
    arguments = "compromise", "--throw-away", "--directory", place
    with running(*arguments, env={**os.environ, "TMPDIR": str(place)}) as process:
        # The configuration is the last file before the gateway starts.
        await_(lambda: list(place.glob("privyseal-drill-*/gateway.yaml")), "the configuration", pause=0.005)
        process.terminate()
        _, said = process.communicate(timeout=30)
    assert process.returncode == 1, said
    assert "stopped before its end" in said
    assert gateways_in(place) == []
    assert not any(str(place).encode() in command for command in command_lines())


def test_run_reports_that_softhsm_is_missing(tmp_path):
    ended = subprocess.run(
        [BINARY, "drill", "run", "compromise", "--throw-away", "--directory", tmp_path],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "SOFTHSM2_MODULE": "/nowhere/libsofthsm2.so"},
    )
    assert ended.returncode == 1
    assert "SoftHSM is not installed" in ended.stderr and "apt: softhsm2" in ended.stderr


# Drills on a running gateway


@pytest.fixture
def service(tmp_path):
    service = KeyService(BINARY, tmp_path).start_with_staged_keys()
    write_secret(tmp_path / "load.token", f"{service.token}\n".encode())
    yield service
    service.stop()


def drill_on(service, scenario, *more):
    """(status, record or None, standard error)."""
    command = [BINARY, "drill", "run", scenario, "--config", service.configuration, "--format", "json", "--app", APP]
    command += ["--public", f"http://{service.addresses['public']}", "--new", STAGED, "--overlap", "2s"]
    command += ["--client-token-file", service.directory / "load.token", *more]
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    return ended.returncode, json.loads(ended.stdout) if ended.stdout else None, ended.stderr


def test_run_requires_yes_before_it_changes_keys_of_a_running_gateway(service):
    before = service.states()
    status, record, said = drill_on(service, "compromise")
    assert (status, record) == (64, None)
    assert "add --yes" in said
    assert service.states() == before


@pytest.mark.parametrize("scenario", ["scheduled-rotation", "compromise", "wrong-key-imported", "operator-mistake"])
def test_run_refuses_to_begin_without_a_new_key(scenario):
    command = [BINARY, "drill", "run", scenario, "--config", "/nowhere/gateway.yaml", "--app", APP, "--yes"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (64, "")
    assert "--new KEY" in ended.stderr


@pytest.mark.parametrize("scenario", ["scheduled-rotation", "compromise", "operator-mistake"])
def test_run_refuses_a_client_that_may_not_name_keys_before_any_change(service, scenario):
    text = service.configuration.read_text()
    service.configuration.write_text(text.replace(', keyIds: ["*"]', ""))
    done, said = service.reload()
    assert done, said
    before = service.states()
    status, record, said = drill_on(service, scenario, "--yes")
    assert (status, record) == (1, None)
    assert "Refused with 403: The client load may not name the key" in said
    assert service.states() == before
    # No record either: it would replace an earlier drill that passed.
    assert list((service.database.parent / "drills").iterdir()) == []


@pytest.mark.parametrize("scenario", ["scheduled-rotation", "compromise", "operator-mistake"])
def test_run_performs_a_drill_on_a_running_gateway(service, scenario):
    status, record, said = drill_on(service, scenario, "--yes")
    assert status == 0, said
    assert record["gateway"]["throwAway"] is False
    # By default, next to the log's database.
    assert (service.database.parent / "drills" / f"{record['id']}.html").exists()
    assert (record["deviations"] == []) == (scenario != "operator-mistake")
    made = subprocess.run(
        [BINARY, "compliance", "report", "--config", service.configuration, "--format", "json"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    sections = json.loads(made.stdout)["report"]["sections"]
    (check,) = [check for section in sections for check in section["checks"] if check["id"] == f"drills.{scenario}"]
    assert (check["result"], check["value"]) == ("pass", "passed 0 days ago, on the gateway that serves"), check


def test_a_drill_that_a_signal_stops_after_a_change_leaves_a_record(service, tmp_path):
    arguments = ["--config", service.configuration, "--app", APP, "--new", STAGED, "--yes", "--directory", tmp_path / "records"]
    arguments += ["--public", f"http://{service.addresses['public']}", "--client-token-file", tmp_path / "load.token"]
    (tmp_path / "records").mkdir()
    with running("compromise", *arguments, stdin=subprocess.DEVNULL) as process:
        await_(lambda: "compromised" in service.states().values(), "the key is compromised", pause=0.02)
        process.terminate()
        _, said = process.communicate(timeout=30)
    assert process.returncode == 1, said
    (path,) = (tmp_path / "records").glob("*-compromise.json")
    record = json.loads(path.read_text())
    assert record["verdict"] == "failed"
    assert record["steps"][-1]["actual"].startswith("A signal stopped the drill.")


def test_a_drill_counts_the_requests_that_find_no_listener(service, tmp_path):
    """A proxy in front of the gateway is away for a second, as a load balancer may be."""
    with Proxy(int(service.addresses["public"].rsplit(":", 1)[1])) as proxy:
        arguments = ["--config", service.configuration, "--app", APP, "--new", STAGED, "--yes", "--format", "json"]
        arguments += ["--public", f"http://127.0.0.1:{proxy.port}", "--client-token-file", tmp_path / "load.token", "--overlap", "4s"]
        with running("scheduled-rotation", *arguments, stdin=subprocess.DEVNULL) as process:
            await_(lambda: service.states()[STAGED] == "active", "the change of the active key", pause=0.02)
            proxy.end()
            time.sleep(1)
            proxy.start()
            output, said = process.communicate(timeout=60)
    record = json.loads(output)
    assert (process.returncode, record["verdict"]) == (1, "failed"), said
    # 40 requests a second, of which at most four were in progress.
    assert record["load"]["failed"] >= 20


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_drill_does_not_begin_if_the_clocks_differ(tmp_path, hours):
    clock = Clock(tmp_path)
    keys = KeysInFiles(tmp_path)
    keys.environment = clock.environment
    clock.set(hours * 3600)
    service = KeyService(BINARY, tmp_path, keys).start_with_staged_keys()
    try:
        write_secret(tmp_path / "load.token", f"{service.token}\n".encode())
        before = service.states()
        status, record, said = drill_on(service, "compromise", "--yes")
        assert (status, record) == (1, None)
        assert f"s {'behind' if hours < 0 else 'ahead of'} that of this machine. Set both clocks right." in said
        assert service.states() == before
    finally:
        service.stop()


def test_the_wrong_key_drill_fails_with_the_right_key_and_leaves_it_staged(service):
    status, record, _ = drill_on(service, "wrong-key-imported", "--yes")
    assert (status, record["verdict"]) == (1, "failed")
    assert service.states()[STAGED] == "staged"


def drill_with_a_person(service, directory, take_away, put_back):
    """The record of a drill in which a person takes a token away from a running gateway, and puts it back."""
    write_secret(directory / "load.token", f"{service.token}\n".encode())
    arguments = ["token-loss", "--config", service.configuration, "--app", APP, "--yes", "--format", "json"]
    arguments += ["--public", f"http://{service.addresses['public']}"]
    arguments += ["--client-token-file", directory / "load.token", "--timeout", "60s"]
    with running(*arguments) as process:
        for line in process.stderr:
            if "away now" in line:
                take_away()
            if "back now" in line:
                put_back()
                break
        printed, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    return json.loads(printed)


def test_a_slow_return_of_the_token_is_not_a_deviation(tmp_path):
    keys = TokenKeys(tmp_path)
    tokens, away = keys.directory / "tokens", keys.directory / "away"

    def put_back():
        # Longer than a restoration may take.
        time.sleep(5.5)
        away.rename(tokens)

    with KeyService(BINARY, tmp_path, keys) as service:
        record = drill_with_a_person(service, tmp_path, lambda: tokens.rename(away), put_back)
    assert record["deviations"] == [] and record["timings"]["recovery"] > 5500


def test_the_loss_of_one_of_two_tokens_fails_no_request(place):
    drill = Drill("token-loss", place, "--replica")
    assert (drill.status, drill.record["verdict"]) == (0, "passed"), drill.said
    assert drill.record["load"]["failed"] == 0 and drill.record["load"]["served"] > 100
    assert drill.step("Ask /readyz")["actual"] == "It says yes."


def test_a_person_takes_away_one_of_two_tokens_of_a_running_gateway(tmp_path):
    def put_back():
        service.await_places("ready", "down")
        service.held.put_back("hsm-b")

    with ReplicatedService(BINARY, tmp_path) as service:
        service.await_places("ready", "ready")
        record = drill_with_a_person(service, tmp_path, lambda: service.held.lose("hsm-b"), put_back)
    assert record["load"]["failed"] == 0


def test_failover_needs_a_key_with_several_places(service):
    status, record, said = drill_on(service, "failover", "--yes")
    assert (status, record["verdict"]) == (1, "failed"), said
    assert record["steps"][-1]["actual"] == "It has one place."


def test_run_refuses_a_scenario_that_needs_a_throw_away_token(service):
    status, record, said = drill_on(service, "restore-from-backup-token", "--yes")
    assert (status, record) == (64, None)
    assert "--throw-away" in said
