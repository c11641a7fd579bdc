"""A hundred edits of a log's database: `privyseal audit verify` finds every edit that changes anything."""

import pathlib
import random
import tempfile

import pytest
from auditing import AuditCopy
from conftest import BINARY
from edits import EDITS, EditRun, Victim
from running import FileKeys

# The same edits in every run; scripts/soak uses other seeds.
SEED, COUNT = 4, 100


@pytest.fixture(scope="module")
def victim():
    with tempfile.TemporaryDirectory(prefix="privyseal-") as place:
        yield Victim(BINARY, pathlib.Path(place), FileKeys(pathlib.Path(place)))


def test_verify_accepts_the_unchanged_log(victim):
    status, report = victim.verify(victim.database)
    assert status == 0, report
    log = AuditCopy(victim.database)
    assert len(log.segments) >= 2 and len(log.kept) >= 3
    assert log.faults(victim.key) == []


def test_verify_finds_every_random_edit(victim):
    run = EditRun(victim, random.Random(SEED))
    run.run(COUNT)
    print("\n".join(run.lines))
    assert run.surprises == []
    assert sum(count for count, _, _ in run.table.values()) == COUNT
    # Only the edit of a byte may change nothing, because SQLite does not read every byte.
    assert [kind for kind, (_, _, void) in run.table.items() if void and kind != "a byte of the file"] == []
    assert all(found for _, found, _ in run.table.values()) and len(run.table) == len(EDITS)
