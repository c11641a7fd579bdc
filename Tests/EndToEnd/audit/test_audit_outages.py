"""Signatures while their entries cannot be written: none is released, and signing resumes by itself afterwards."""

import contextlib
import os
import sqlite3
import time

import pytest
from auditing import AuditCopy, AuditedService, KeepingLoad, everything_wrong, notes_in
from conftest import BINARY
from outages import OUTAGES, OutageRun, Unavailable
from running import APP, FileKeys


@pytest.fixture(params=OUTAGES)
def outage(request, place):
    outage = OUTAGES[request.param](place)
    try:
        outage.__enter__()
    except Unavailable as reason:
        pytest.skip(f"{request.param}: {reason}")
    yield outage
    outage.clean_up()


def test_an_outage_stops_all_signatures_and_ends_without_a_restart(place, outage):
    audit = f"writeTimeout: {outage.write_timeout}"
    service = AuditedService(BINARY, place, FileKeys(place), audit, environment=outage.environment)
    with service:
        load = KeepingLoad(service, pause=0.002)
        run = OutageRun(service, outage, load)
        try:
            run.run()
        finally:
            load.stop()
        assert load.surprises == [] and run.surprises == []
    assert service.process.returncode == 0
    assert everything_wrong(service, load.signed, () if outage.is_exact else load.refused) == []
    if run.until_refused is not None:
        # A write counts as hung after its limit, which is checked ten times a second.
        assert run.until_refused < outage.write_timeout + 1
        # The gateway tries to write twice a second.
        assert run.until_back < 3


def test_an_outage_gives_one_entry_despite_many_attempts(place):
    with OUTAGES["the files are read-only"](place) as outage:
        with AuditedService(BINARY, place, FileKeys(place)) as service:
            load = KeepingLoad(service, pause=0.01)
            run = OutageRun(service, outage, load)
            run.run()
            load.stop()
    outages = AuditCopy(service.database).of_kind("outage")
    # A second entry may report requests that arrived while the first entry was being written.
    assert len(outages) <= 2
    assert sum(outage["refused"] for outage in outages) == len(load.refused) + run.refused
    assert 800 < outages[0]["milliseconds"] < 3000 and "read-only" in outages[0]["reason"]


def test_a_first_start_on_a_full_disk_ends_so_that_a_supervisor_repeats_it(place):
    with OUTAGES["the disk says that it is full"](place) as outage:
        service = AuditedService(BINARY, place, FileKeys(place), environment=outage.environment)
        outage.begin()
        status, said = service.refuses_to_start()
        assert (status, "cannot be made" in said) == (1, True), said
        outage.end()
        with service:
            assert service.sign()[0] == 200
        assert service.process.returncode == 0


def test_a_gateway_whose_disk_hangs_can_be_stopped(place):
    with OUTAGES["the disk hangs"](place) as outage:
        service = AuditedService(BINARY, place, FileKeys(place), "writeTimeout: 1", environment=outage.environment)
        with service:
            load = KeepingLoad(service, pause=0.002)
            load.wait_for(20)
            outage.begin()
            load.wait_for(1, 503)
            load.stop()
        assert service.process.returncode == 0
    assert everything_wrong(service, load.signed, load.refused | load.unanswered) == []


@pytest.mark.parametrize("size", [0, 5000])
def test_the_gateway_stops_signing_after_the_write_ahead_log_is_truncated(place, size):
    """Entries that were only there are lost. Later ones would be too, and remain unnoticed until a restart."""
    service = AuditedService(BINARY, place, FileKeys(place))
    with service:
        load = KeepingLoad(service, pause=0.001)
        load.wait_for(50)
        os.truncate(service.place / "audit.db-wal", size)
        load.wait_for(1, 503)
        refused = time.monotonic()
        load.wait_for(50, 503, after=refused)
        load.stop()
        assert {status for _, status, asked in load.answers if asked > refused} == {503}
        status, _, body = service.ask("GET", "/readyz")
        assert status == 503 and b"audit" in body
    assert "audit.db-wal was truncated while it was in use" in service.log.read_text()
    # The gateway copied nothing of the remaining file into the database.
    assert sqlite3.connect(f"file:{service.database}?immutable=1", uri=True).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_the_gateway_continues_after_sqlite_resets_the_write_ahead_log(place):
    service = AuditedService(BINARY, place, FileKeys(place))

    def empty():
        with contextlib.closing(sqlite3.connect(service.database, timeout=10)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    with service:
        load = KeepingLoad(service, pause=0.001)
        for _ in range(30):
            load.wait_for(20, after=time.monotonic())
            empty()
        load.wait_for(20, after=time.monotonic())
        load.stop()
        assert load.surprises == [] and load.refused == set()
        # Another process may be the first to write again.
        facts = ("productId=com.example.monthly", "offerIdentifier=cli")
        for _ in range(10):
            empty()
            status, output, error = service.run("sign", "promotional-offer", "--app", APP, *facts)
            assert status == 0, error
            assert service.sign()[0] == 200, service.log.read_text()[-1000:]
    theirs = {(e["requestId"], e.get("item")) for e in AuditCopy(service.database).of_kind("signature")}
    theirs -= {(one.request_id, one.item) for one in load.signed}
    assert len(theirs) == 20
    assert everything_wrong(service, load.signed, theirs) == []


def test_a_second_gateway_with_the_same_log_does_not_start(place):
    """It would not see which keys an administrator stops on the first gateway."""
    (place / "second").mkdir()
    first = AuditedService(BINARY, place, FileKeys(place))
    second = AuditedService(BINARY, place / "second", FileKeys(place / "second"), place=first.place)
    with first:
        load = KeepingLoad(first, 2)
        load.wait_for(50)
        status, said = second.refuses_to_start()
        assert status == 1 and "Another process uses the audit log" in said, said
        load.wait_for(len(load.signed) + 50)
        load.stop()
    assert load.surprises == []
    assert everything_wrong(first, load.signed) == []


def test_a_truncated_checkpoint_does_not_damage_later_ones(place):
    service = AuditedService(BINARY, place, FileKeys(place))
    with service:
        service.sign()
    # Truncate within the three bytes of the signature's dash: a crash may also split a character.
    whole = service.checkpoints.read_bytes()
    service.checkpoints.write_bytes(whole + whole[: whole.index(b"\xe2\x80\x94") + 1])
    for _ in range(2):
        with service:
            service.sign()
    assert len(notes_in_bytes(service.checkpoints)) > whole.count(b"\xe2\x80\x94")
    status, report, said = service.run("audit", "verify", "--format", "json", "--quiet")
    assert status == 0, report + said


def notes_in_bytes(path):
    whole = path.with_suffix(".whole")
    whole.write_text(path.read_bytes().decode(errors="replace"))
    return notes_in(whole)
