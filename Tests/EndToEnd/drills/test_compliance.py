"""`privyseal compliance`: its results for keys in a token and in a file, and the integrity of its report."""

import datetime
import json
import os
import shutil
import subprocess

import pytest
from auditing import AuditCopy
from conftest import BINARY
from key_lifecycle import NEW, OLD
from token_and_gateway import TokenAndGateway, declare, took


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """A gateway with a key in a file, and another that was imported into a token."""
    beside = TokenAndGateway(tmp_path_factory.mktemp("compliance"))
    took(beside, *beside.import_())
    declare(beside)
    yield beside
    beside.service.stop()


def compliance(beside, *arguments):
    return subprocess.run(
        [BINARY, "compliance", *map(str, arguments)], capture_output=True, text=True, timeout=120,
        env={**os.environ, **beside.environment},
    )


@pytest.fixture(scope="module")
def report(beside):
    """(path of the report, its contents)."""
    out = beside.directory / "reports"
    made = compliance(beside, "report", "--config", beside.service.configuration, "--out", out)
    # A software token does not pass as hardware.
    assert made.returncode == 1 and "custody" in made.stdout, made.stdout + made.stderr
    (path,) = out.glob("*.json")
    return path, json.loads(path.read_text())


def verdicts(report, key_id):
    checks = next(key["checks"] for key in report["report"]["keys"] if key["keyId"] == key_id)
    return {check["id"]: check["result"] for check in checks}


def test_the_report_checks_a_token_key_by_its_attributes_and_by_probes(report):
    results = verdicts(report[1], NEW)
    assert results["attribute.CKA_EXTRACTABLE"] == "pass" and results["attribute.CKA_SENSITIVE"] == "pass"
    assert results["probe.wrap"] == "pass" and results["usage.signOnly"] == "pass"
    assert results["custody"] == "fail" and results["ceremony.record"] == "pass"
    # PKCS #11 allows an imported key no other value, so the check does not apply.
    assert results["attribute.CKA_LOCAL"] == results["attribute.CKA_NEVER_EXTRACTABLE"] == "notApplicable"


def test_the_report_counts_a_key_in_a_file_as_software(report):
    assert verdicts(report[1], OLD)["custody"] == "fail"


def test_verify_accepts_the_report_and_refuses_a_changed_one(beside, report):
    path, _ = report
    key = f"{beside.service.database}.key.pub"
    page = path.with_suffix(".html")
    whole = compliance(beside, "verify", path, "--key", key, "--page", page, "--database", beside.service.database)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    changed = path.with_name("changed.json")
    changed.write_bytes(path.read_bytes().replace(b'"fail"', b'"pass"', 1))
    refused = compliance(beside, "verify", changed, "--key", key)
    assert refused.returncode == 1 and "changed after it was signed" in refused.stderr, refused.stderr


def test_the_log_has_an_entry_of_the_report(beside, report):
    entries = AuditCopy(beside.service.database).of_kind("report")
    (entry,) = [entry for entry in entries if entry["id"] in report[0].name]
    assert (entry["subject"], entry["outcome"]) == ("compliance", "failed")


def test_the_log_has_an_entry_of_a_report_that_cannot_be_printed(beside, tmp_path):
    command = [BINARY, "compliance", "report", "--config", beside.service.configuration, "--out", tmp_path]
    with open("/dev/full", "w") as full:
        made = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env={**os.environ, **beside.environment}, timeout=120)
    assert made.returncode == 74, made.stderr
    (path,) = tmp_path.glob("*.json")
    assert any(entry["id"] in path.name for entry in AuditCopy(beside.service.database).of_kind("report"))


# Drills and the second place of checkpoints


def installation(report):
    return {check["id"]: check for section in report["report"]["sections"] for check in section["checks"]}


def report_now(beside):
    made = compliance(beside, "report", "--config", beside.service.configuration, "--format", "json")
    return installation(json.loads(made.stdout))


def test_checkpoints_on_the_file_system_of_the_log_fail(report):
    check = installation(report[1])["audit.secondPlace"]
    assert check["result"] == "fail" and "on the file system of the log" in check["value"]


@pytest.fixture
def drills(beside, tmp_path):
    """The directory of drills, whose content is restored after the test."""
    directory = beside.service.database.parent / "drills"
    directory.mkdir(exist_ok=True)
    shutil.copytree(directory, tmp_path / "drills-before")
    yield directory
    directory.unlink() if directory.is_file() else shutil.rmtree(directory)
    shutil.copytree(tmp_path / "drills-before", directory)


def test_a_handmade_drill_record_does_not_count(beside, drills):
    end = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    name = "20261121T120000Z-token-loss"
    head = {"version": 1, "id": name, "scenario": "token-loss", "ended": end, "verdict": "passed"}
    (drills / f"{name}.json").write_text(json.dumps({**head, "gateway": {"throwAway": False}}))
    checks = report_now(beside)
    assert checks["drills.token-loss"]["result"] == "fail"
    assert checks["drills.token-loss"]["value"] == "1 not in the audit log"
    assert name in checks["drills.bound"]["detail"]


def test_the_report_names_a_directory_of_drills_that_cannot_be_read(beside, drills):
    shutil.rmtree(drills)
    drills.write_text("")
    check = report_now(beside)["drills.readable"]
    assert check["result"] == "unavailable" and f"{drills} cannot be read" in check["detail"], check


def test_a_drill_counts_only_while_its_record_matches_the_digest_in_the_log(beside, drills):
    command = [BINARY, "drill", "run", "compromise", "--throw-away", "--config", beside.service.configuration]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    (record,) = drills.glob("*-compromise.json")
    check = report_now(beside)["drills.compromise"]
    assert check["result"] == "pass", check
    assert check["value"] == "passed 0 days ago, on a throw-away gateway"
    proof = record.with_suffix(".tlog-proof")
    key = f"{beside.service.database}.key.pub"
    checked = subprocess.run([BINARY, "audit", "check-proof", proof, "--key", key], capture_output=True, timeout=60)
    assert checked.returncode == 0, checked.stderr

    kept = record.read_bytes()
    record.write_bytes(kept.replace(b'"planned":true', b'"planned":false'))
    assert "was changed since" in report_now(beside)["drills.compromise"]["detail"]
    record.unlink()
    assert report_now(beside)["drills.compromise"]["result"] == "fail"
    record.write_bytes(kept)
    whole = proof.read_text()
    proof.write_text(whole.replace("index ", "index 1", 1))
    check = report_now(beside)["drills.compromise"]
    assert check["result"] == "fail" and check["value"].startswith("passed"), check
    proof.write_text(whole)
    assert report_now(beside)["drills.compromise"]["result"] == "pass"
