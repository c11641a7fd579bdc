"""`privyseal compliance`: what it says of keys in a token and in a file, and whether its report can be believed."""

import json
import os
import subprocess

import pytest
from auditing import AuditCopy
from conftest import BINARY
from key_life import NEW
from test_key_ceremonies import TokenBeside, declare, keys_first, took


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """A gateway with a key in a file, and another that was imported into a token."""
    beside = TokenBeside(tmp_path_factory.mktemp("compliance"))
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
    """(the report's file, what is in it)."""
    out = beside.directory / "reports"
    made = compliance(beside, "report", "--config", beside.service.configuration, "--out", out)
    # Software that plays a token is no hardware.
    assert made.returncode == 1 and "custody" in made.stdout, made.stdout + made.stderr
    (path,) = out.glob("*.json")
    return path, json.loads(path.read_text())


def verdicts(report, key_id):
    """By the check's ID."""
    checks = next(key["checks"] for key in report["report"]["keys"] if key["keyId"] == key_id)
    return {check["id"]: check["result"] for check in checks}


def test_a_key_in_a_token_is_judged_by_its_attributes_and_by_what_the_token_refuses(report):
    results = verdicts(report[1], NEW)
    assert results["attribute.CKA_EXTRACTABLE"] == "pass" and results["attribute.CKA_SENSITIVE"] == "pass"
    assert results["probe.wrap"] == "pass" and results["usage.signOnly"] == "pass"
    assert results["custody"] == "fail" and results["ceremony.record"] == "pass"


def test_a_key_in_a_file_is_told_as_software(report):
    assert verdicts(report[1], keys_first())["custody"] == "fail"


def test_a_report_can_be_checked_and_a_changed_one_is_refused(beside, report):
    path, _ = report
    key = f"{beside.service.database}.key.pub"
    page = path.with_suffix(".html")
    whole = compliance(beside, "verify", path, "--key", key, "--page", page, "--database", beside.service.database)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    changed = path.with_name("changed.json")
    changed.write_bytes(path.read_bytes().replace(b'"fail"', b'"pass"', 1))
    refused = compliance(beside, "verify", changed, "--key", key)
    assert refused.returncode == 1 and "changed after it was signed" in refused.stderr, refused.stderr


def test_that_it_was_made_stands_in_the_log(beside, report):
    entries = AuditCopy(beside.service.database).of_kind("report")
    assert [(entry["subject"], entry["outcome"]) for entry in entries] == [("compliance", "failed")]
    assert entries[0]["id"] in report[0].name
