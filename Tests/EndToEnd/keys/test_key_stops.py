"""Concurrent stops of keys, and stops while the log cannot be written."""

import threading
import time

import pytest
from auditing import AuditCopy, KeepingLoad
from conftest import BINARY
from key_lifecycle import NONE_IN_USE, OLD, KeysInFiles, KeyService, admin_connection, late_signatures, life, register_faults
from outages import FaultyDisk
from polling import await_


@pytest.fixture
def disk(tmp_path):
    with FaultyDisk(tmp_path, "full") as disk:
        yield disk


@pytest.fixture
def service(tmp_path, disk):
    keys = KeysInFiles(tmp_path)
    keys.environment = disk.environment
    service = KeyService(BINARY, tmp_path, keys).start_with_staged_keys()
    yield service
    service.end()


def key(service, key_id):
    status, answer = service.admin("GET", f"/v1/keys/{key_id}")
    assert status == 200, answer
    return answer


@pytest.mark.parametrize("actions", [("compromise", "suspend"), ("suspend", "compromise")], ids="-".join)
def test_unrecorded_stops_are_recorded_after_the_outage(service, disk, actions):
    disk.begin()
    for action in actions:
        status, answer = service.change(action, OLD)
        assert status == 503 and f"The key {OLD} is stopped, but the stop could not be recorded yet" in answer["detail"]
    assert key(service, OLD)["state"] == "compromised"
    assert key(service, OLD)["recorded"] is False
    assert "compromised, not recorded" in service.keys_command("states")[1]
    disk.end()
    await_(lambda: key(service, OLD)["recorded"], "the record")
    assert service.states()[OLD] == "compromised"
    changes = [entry for _, entry in life(AuditCopy(service.database)) if entry["key"] == OLD]
    assert [entry["action"] for entry in changes] == list(actions)
    assert all("orderedAt" in entry["evidence"] for entry in changes)
    assert changes[-1]["to"] == "compromised"
    status, answer = service.change("resume", OLD)
    assert status == 409, answer
    assert service.signer() == NONE_IN_USE
    assert register_faults(service) == []
    service.stop()
    service.start()
    assert service.states()[OLD] == "compromised"


def test_the_gateway_reports_an_unrecorded_stop_when_it_ends(service, disk):
    disk.begin()
    assert service.change("compromise", OLD)[0] == 503
    service.stop()
    assert f"A stop of the key {OLD} was never recorded" in service.log.read_text()
    disk.end()
    service.start()
    assert service.states()[OLD] == "active"


def test_an_unrecorded_stop_without_a_running_gateway_has_no_effect(service, disk):
    service.stop()
    disk.begin()
    status, _, errors = service.keys_command("compromise", OLD, "--reason", "a test", "--yes")
    assert status == 1
    assert "could not be recorded" in errors and "is stopped" not in errors
    disk.end()
    service.start()
    assert service.states()[OLD] == "active"


def test_one_stop_does_not_lift_the_hold_of_another(service):
    with KeepingLoad(service, connections=8) as load:
        load.wait_for(100)
        for _ in range(20):
            answers = order_at_once(service, ["suspend", "resume", "compromise"])
            assert answers["compromise"] == 200, answers
            log = AuditCopy(service.database)
            stop = [entry for _, entry in life(log) if entry["action"] == "compromise"][-1]
            assert late_signatures(log, OLD, stop["time"]) == []
            for action in ("restore", "resume", "activate"):
                status, answer = service.change(action, OLD)
                assert status == 200, answer
            load.wait_for(20, 200, after=time.monotonic())
    assert register_faults(service) == []


def order_at_once(service, actions):
    """Sends orders within a few milliseconds of each other: the status of each."""
    answers, ready = {}, threading.Barrier(len(actions), timeout=30)

    def order(number, action):
        with admin_connection(service) as ask:
            ready.wait()
            time.sleep(0.002 * number)
            answers[action] = ask("POST", f"/v1/keys/{OLD}/{action}", {"reason": "at once"})[0]

    threads = [threading.Thread(target=order, args=each) for each in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers
