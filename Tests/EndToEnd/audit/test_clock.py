"""The machine's clock is set while a gateway runs, or between two runs."""

import time

import pytest
from auditing import AuditCopy, await_
from conftest import BINARY
from key_lifecycle import NEW, OLD, KeysInFiles, KeyService, moment, register_faults
from stepped_clock import Clock

HOUR = 3600


@pytest.fixture
def clock(tmp_path):
    return Clock(tmp_path)


@pytest.fixture
def service(tmp_path, clock):
    keys = KeysInFiles(tmp_path)
    keys.environment = clock.environment
    service = KeyService(BINARY, tmp_path, keys).start_with_staged_keys()
    yield service
    if service.process.poll() is None:
        service.stop()


def steps(service):
    """The size of each clock step in the log, in seconds."""
    return [round(entry["milliseconds"] / 1000) for entry in AuditCopy(service.database).of_kind("clock")]


def test_a_clock_step_is_reported_and_retires_no_key(service, clock):
    service.activate(NEW, OLD, overlap=HOUR)
    assert service.metric("privyseal_clock_steps_total") == 0
    clock.set(25 * HOUR)
    begun = time.monotonic()
    await_(lambda: service.metric("privyseal_clock_steps_total") == 1, "a step")
    assert round(service.metric("privyseal_clock_offset_seconds")) == 25 * HOUR
    while time.monotonic() - begun < 2.5:
        assert service.states()[OLD] == "retiring"
        assert service.sign_by_name(OLD)[0] == 200
        time.sleep(0.05)
    assert f"{OLD} should have retired by now" in service.keys_command("states")[1]
    clock.set(0)
    await_(lambda: service.metric("privyseal_clock_steps_total") == 2, "the second step")
    assert round(service.metric("privyseal_clock_offset_seconds")) == 0
    states = service.states()
    assert (states[OLD], states[NEW]) == ("retiring", "active")
    assert "should have retired" not in service.keys_command("states")[1]
    assert service.sign()[0] == 200
    assert await_(lambda: len(steps(service)) == 2 and steps(service), "the entries") == [25 * HOUR, -25 * HOUR]
    assert register_faults(service) == []
    service.stop()
    log = service.log.read_text()
    assert "critical privyseal.clock: The clock of this machine was set 90000" in log
    # Where the time of the entries goes back, an entry near the step reports it: the clock is read once a second.
    entries = AuditCopy(service.database).entries
    times = [moment(entry["time"]).timestamp() for entry in entries]
    back = [at for at in range(1, len(times)) if times[at] < times[at - 1] - 1]
    assert back and all("clock" in [entry["kind"] for entry in entries[at - 1 : at + 3]] for at in back), entries


def test_a_key_retires_on_time_after_the_clock_is_set_forward_and_back(service, clock):
    service.activate(NEW, OLD, overlap=3)
    clock.set(25 * HOUR)
    await_(lambda: service.metric("privyseal_clock_steps_total") == 1, "a step")
    clock.set(0)
    await_(lambda: service.states()[OLD] == "retired", "the retirement")
    assert len(AuditCopy(service.database).of_kind("clock")) >= 1


def test_a_gateway_that_starts_with_a_clock_before_its_last_entry_records_it(service, clock):
    assert service.sign()[0] == 200
    service.stop()
    last = AuditCopy(service.database).entries[-1]
    clock.set(-28 * HOUR)
    service.start()
    entry = await_(lambda: AuditCopy(service.database).of_kind("clock"), "the entry")[0]
    assert entry["before"] == last["time"]
    assert abs(entry["milliseconds"] / 1000 + 28 * HOUR) < 60
    assert service.metric("privyseal_clock_steps_total") == 1
    status, output, _ = service.run("audit", "search", "--kind", "clock")
    assert status == 0 and b"before=" in output


def test_a_gateway_without_an_audit_log_reports_a_clock_step(tmp_path, clock):
    keys = KeysInFiles(tmp_path)
    keys.environment = clock.environment
    service = KeyService(BINARY, tmp_path, keys)
    service.configure(audit="off")
    with service:
        clock.set(-HOUR)
        await_(lambda: service.metric("privyseal_clock_steps_total") == 1, "a step")
    assert "The clock of this machine was set 3" in service.log.read_text()


def test_a_gateway_survives_a_clock_before_1970(service, clock):
    begun = -round(time.time())
    for year in (-2, -20):
        clock.set(begun + year * 365 * 24 * HOUR)
        await_(lambda: service.metric("privyseal_clock_steps_total") == 1 + (year == -20), "a step")
        assert service.sign()[0] == 200
        assert service.change("suspend", NEW)[0] == 200
        assert service.change("resume", NEW)[0] == 200
    clock.set(0)
    assert await_(lambda: len(steps(service)) == 3, "the entries")
    assert register_faults(service) == []
