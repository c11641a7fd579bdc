"""Drills in a fleet: all gateways know the results."""

import base64
import hashlib
import json
import pathlib
import tempfile

import pytest
from conftest import BINARY
from database_server import cluster, url
from fleet import Fleet
from key_lifecycle import NEW, OLD
from polling import await_
from running import APP
from service import write_secret


@pytest.fixture(scope="module")
def fleet():
    with cluster() as server, tempfile.TemporaryDirectory(prefix="privyseal-") as place:
        fleet = Fleet(BINARY, pathlib.Path(place), url(server), count=2)
        for gateway in fleet.gateways:
            gateway.more_sections = f"drills: {{directory: {gateway.place}/drills}}\n"
            gateway.configure(keys=(OLD,))
        with fleet:
            fleet.server = server
            # A key that is added later is staged.
            for gateway in fleet.gateways:
                gateway.configure(keys=(OLD, NEW))
                assert gateway.reload()[0]
            yield fleet


@pytest.fixture(scope="module")
def drill(fleet):
    """The ID of a drill on the machine of the first gateway."""
    first = fleet.gateways[0]
    status, output, errors = first.run("drill", "run", "compromise", "--throw-away", "--format", "json")
    assert status == 0, errors
    # The variables of the tests themselves cause warnings.
    warnings = [line for line in errors.splitlines() if b"warning" in line and b"is not a known variable" not in line]
    assert warnings == []
    return json.loads(output)["id"]


def listed(gateway):
    status, output, errors = gateway.run("drill", "list", "--format", "json")
    assert status == 0, errors
    return json.loads(output)["drills"]


def shared(fleet):
    return [entry for entry in fleet.log(fleet.server).of_kind("life") if entry["action"] == "drill"]


def compliance(gateway):
    _, output, errors = gateway.run("compliance", "report", "--format", "json")
    assert output, errors
    sections = json.loads(output)["report"]["sections"]
    return {check["id"]: check for section in sections for check in section["checks"]}


def test_each_gateway_lists_the_drill_of_the_first(fleet, drill):
    first, second = fleet.gateways
    for gateway in (first, second):
        assert [(one["id"], one["verdict"], one["gateway"]) for one in listed(gateway)] == [(drill, "passed", first.origin)]
    assert first.origin.encode() in second.run("drill", "list")[1]
    (entry,) = shared(fleet)
    assert entry["id"] == drill
    assert entry["evidence"]["gateway"] == first.origin
    record = first.place / "drills" / f"{drill}.json"
    hashed = base64.urlsafe_b64encode(hashlib.sha256(record.read_bytes()).digest()).decode().rstrip("=")
    assert entry["evidence"]["digest"] == hashed


def test_a_record_without_an_entry_in_the_log_of_its_gateway_is_not_shared(fleet, drill):
    first = fleet.gateways[0]
    forged = drill.replace("compromise", "token-loss")
    record = (first.place / "drills" / f"{drill}.json").read_text()
    (first.place / "drills" / f"{forged}.json").write_text(record.replace(drill, forged).replace('"compromise"', '"token-loss"'))
    status, _, errors = first.run("drill", "share", forged)
    assert status == 1 and b"has no entry about the drill" in errors, errors
    (first.place / "drills" / f"{forged}.json").unlink()
    # A drill that is shared already stays as it is.
    assert first.run("drill", "share", drill)[0] == 0
    assert len(shared(fleet)) == 1


def test_show_on_another_machine_names_the_gateway_that_has_the_record(fleet, drill):
    first, second = fleet.gateways
    assert first.run("drill", "show", drill)[0] == 0
    status, _, errors = second.run("drill", "show", drill)
    assert status == 1
    assert f"on the machine of the gateway {first.origin}".encode() in errors


def test_the_drill_counts_in_the_compliance_report_of_each_gateway(fleet, drill):
    first, second = fleet.gateways
    check = compliance(second)["drills.compromise"]
    assert (check["result"], check["value"]) == ("pass", f"passed 0 days ago, on a throw-away gateway of {first.origin}")
    assert "of the log of the fleet" in check["evidence"]
    assert compliance(first)["drills.compromise"]["value"] == "passed 0 days ago, on a throw-away gateway"


def test_a_drill_on_the_gateway_of_a_fleet_passes(fleet):
    first, second = fleet.gateways
    write_secret(first.place / "load.token", f"{first.token}\n".encode())
    assert await_(lambda: (states := second.states()).get(NEW) and states, "the new key") == {OLD: "active", NEW: "staged"}
    command = ["drill", "run", "scheduled-rotation", "--app", APP, "--new", NEW, "--overlap", "2s", "--yes", "--format", "json"]
    command += ["--public", f"http://{first.addresses['public']}", "--client-token-file", first.place / "load.token"]
    status, output, errors = first.run(*command)
    assert status == 0, errors
    record = json.loads(output)
    # The gateways agree first, which takes more than a second.
    assert record["timings"]["changeOver"] > 1000, record
    assert second.states()[NEW] == "active"


def test_a_changed_result_proves_no_drill(fleet, drill):
    second = fleet.gateways[1]
    where = f"name = 'drills' AND log = (SELECT id FROM privyseal.log WHERE origin = '{second.fleet_origin}')"
    change = """SET session_replication_role = replica;
        UPDATE privyseal.register SET value = convert_to(replace(convert_from(value, 'UTF8'), '{}', '{}'), 'UTF8') WHERE {}"""
    fleet.server.sql(change.format('"verdict":"passed"', '"verdict":"failed"', where), "privyseal")
    checks = compliance(second)
    assert checks["drills.compromise"]["value"] == "never"
    assert "do not count: The log of the fleet is not intact." in checks["drills.readable"]["detail"]
    fleet.server.sql(change.format('"verdict":"failed"', '"verdict":"passed"', where), "privyseal")
    assert compliance(second)["drills.compromise"]["result"] == "pass"
