"""`privyseal audit` on the log of a running gateway, and on modified copies of it."""

import base64
import contextlib
import csv
import fcntl
import functools
import io
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading

import pytest
from auditing import OFFER, SEGMENT, AuditedService, Roots, await_, example, public_key
from conftest import BINARY
from cryptography.hazmat.primitives.asymmetric import ed25519
from edits import back_up, edited
from running import APP, KEY_IDS, FileKeys
from service import write_key
from witnesses import vkey

ORIGIN = "example.com/privyseal/interop"
WRONG_CALL, WRONG_CONFIGURATION = 64, 78


class AuditedGateway(AuditedService):
    """A gateway with an audit log, and the command line on the same machine."""

    def __init__(self, place):
        write_key(place / "Cosigner.p8")
        audit = f'origin: {ORIGIN}\ncheckpoints: {{interval: 1, cosigner: "file:{place}/Cosigner.p8"}}'
        super().__init__(BINARY, place, FileKeys(place), audit, place=place)
        self.user = "2000000123456789"
        self.key = public_key(self.database)
        self.checkpoints = place / "audit.db.checkpoints"
        self.checkpoints_then = place / "checkpoints-at-the-copy"

    def sign_batch(self, products, offer="winback"):
        """Returns its request ID."""
        requests = [
            {"productId": product, "offerIdentifier": offer, "transactionId": self.user} for product in products
        ]
        status, headers, body = self.sign(f"{OFFER}/batch", {"requests": requests})
        assert status == 200, body
        assert {result["status"] for result in json.loads(body)["results"]} == {200}, body
        return headers["X-Request-Id"]

    def audit(self, *arguments, on=("--config",), status=0):
        """Returns standard output; `on` names the log."""
        log = [*on, self.configuration] if on == ("--config",) else on
        result = run("audit", *arguments, *log)
        assert result.returncode == status, result.stdout + result.stderr
        return result.stdout

    def read(self, path, status=200):
        """Reads from the admin listener: (header, body)."""
        answered, headers, body = self.ask("GET", f"/v1/audit/{path}", listener="admin")
        assert answered == status, body
        return headers, body.decode()

    def entries(self, *arguments):
        return [json.loads(line) for line in self.audit(*arguments, "--format", "json").splitlines()]

    def copy(self, name="copy.db"):
        # Copy the checkpoints first: a later checkpoint may cover more entries than the copy.
        shutil.copy(self.checkpoints, self.checkpoints_then)
        target = self.place / name
        target.unlink(missing_ok=True)
        back_up(self.database, target)
        return target


def run(*arguments, **how):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120, **how)


@pytest.fixture(scope="module")
def gateway():
    with tempfile.TemporaryDirectory(prefix="privyseal-") as place:
        gateway = AuditedGateway(pathlib.Path(place))
        with gateway:
            for number in range(3):
                gateway.sign_batch([f"com.example.product{number}", "com.example.monthly"])
            yield gateway


# tail and search


def test_tail_shows_the_last_entries_in_order(gateway):
    lines = gateway.audit("tail", "-n", "4").splitlines()
    assert len(lines) == 4
    entries = gateway.entries("tail", "-n", "1000000")
    assert [entry["index"] for entry in entries] == list(range(len(entries)))
    assert entries[0]["entry"]["kind"] in ("key", "start")


def test_tail_follows_until_it_is_interrupted(gateway):
    command = [BINARY, "audit", "tail", "-n", "0", "--follow", "--config", gateway.configuration]
    # A background test run ignores SIGINT, and its children inherit that.
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=heed) as follow:
        # Ends the process if the test hangs.
        watchdog = threading.Timer(60, follow.kill)
        watchdog.daemon = True
        watchdog.start()
        # Each second a checkpoint is due, and an idle log gets an entry for it.
        assert "  idle" in follow.stdout.readline()
        gateway.sign_batch(["com.example.followed"])
        assert any("com.example.followed/winback" in line for line in follow.stdout)
        follow.send_signal(signal.SIGINT)
        follow.stdout.read()
        watchdog.cancel()
    assert follow.returncode == -signal.SIGINT


def test_search_finds_exactly_the_matching_signatures(gateway):
    request = gateway.sign_batch(["com.example.searched", "com.example.monthly"], offer="spring")
    found = gateway.entries("search", "--product", "com.example.searched")
    assert len(found) == 1
    entry = found[0]["entry"]
    assert (entry["client"], entry["app"], entry["feature"], entry["key"]) == ("load", APP, "promotional-offer", KEY_IDS[0])
    assert entry["requestId"] == request and entry["offers"] == ["spring"]
    batch = gateway.entries("search", "--request-id", request, "--oldest-first")
    assert [entry["entry"]["item"] for entry in batch] == [0, 1]
    assert gateway.audit("search", "--offer", "spring", "--count") == "2\n"
    assert gateway.audit("search", "--offer", "spring", "--client", "other", "--count") == "0\n"
    assert gateway.audit("search", "--offer", "spring", "--since", "1h", "--outcome", "signed", "--count") == "2\n"
    assert gateway.audit("search", "--offer", "spring", "--until", "1h", "--count") == "0\n"
    assert gateway.audit("search", "--product", "com.example.search", "--count") == "0\n"


@pytest.mark.parametrize("command", ["search", "stats", "export"])
def test_a_query_refuses_the_public_key_of_the_log_as_a_key_id(gateway, command):
    answer = run("audit", command, "--key", gateway.key, "--config", gateway.configuration)
    assert answer.returncode == 64 and answer.stdout == "" and "the ID of the key that signed" in answer.stderr


def test_search_reports_how_many_matches_its_limit_omits(gateway):
    arguments = ["audit", "search", "--kind", "signature", "--config", gateway.configuration]
    total = int(run(*arguments, "--count").stdout)
    cut = run(*arguments, "--limit", "2")
    assert len(cut.stdout.splitlines()) == 2
    assert f"{total - 2} more match" in cut.stderr
    every = run(*arguments, "--limit", "0")
    assert len(every.stdout.splitlines()) == total and "more" not in every.stderr


def test_show_prints_an_entry_and_its_leaf_hash(gateway):
    index = gateway.entries("search", "--kind", "signature", "--limit", "1")[0]["index"]
    result = subprocess.run(
        [BINARY, "audit", "show", str(index), "--raw", "--config", gateway.configuration], capture_output=True
    )
    leaf = example.leaf_hash(result.stdout).hex()
    text = gateway.audit("show", index)
    assert f"Leaf hash                {leaf}" in text
    assert "Attention" not in text and gateway.user not in text
    gateway.audit("show", 10_000_000, status=1)


def test_stats_count_by_client(gateway):
    signed = int(gateway.audit("search", "--outcome", "signed", "--count"))
    answer = json.loads(gateway.audit("stats", "--by", "month", "--format", "json"))
    assert sum(count["count"] for count in answer["counts"] if count["outcome"] == "signed") == signed
    rows = list(csv.DictReader(io.StringIO(gateway.audit("stats", "--by", "hour", "--format", "csv"))))
    assert sum(int(row["count"]) for row in rows if row["outcome"] == "signed") == signed
    assert "CLIENT" in gateway.audit("stats")
    assert json.loads(gateway.audit("stats", "--client", "nobody", "--format", "json"))["counts"] == []


def test_export_writes_the_leaves_byte_for_byte(gateway):
    copy = gateway.copy()
    lines = gateway.place / "log.jsonl"
    lines.unlink(missing_ok=True)
    gateway.audit("export", "--out", lines, on=("--database", copy))
    bodies = lines.read_bytes().splitlines()
    note = gateway.audit("checkpoint", on=("--database", copy)).splitlines()
    assert note[:2] == [ORIGIN, str(len(bodies))]
    roots = Roots()
    for body in bodies:
        roots.add(example.leaf_hash(body))
    assert base64.b64encode(roots.root(len(bodies))).decode() == note[2]
    # An existing file is never overwritten.
    gateway.audit("export", "--out", lines, on=("--database", copy), status=WRONG_CALL)
    table = list(csv.DictReader(io.StringIO(gateway.audit("export", "--format", "csv", on=("--database", copy)))))
    assert [int(row["index"]) for row in table] == list(range(len(bodies)))
    assert [row["kind"] for row in table] == [json.loads(body)["kind"] for body in bodies]


# verify


def test_verify_reports_an_intact_log(gateway):
    answer = json.loads(gateway.audit("verify", "--format", "json"))
    assert answer["intact"] and answer["origin"] == ORIGIN and answer["faults"] == []
    assert answer["checkpoints"]["given"] > 0, "the configured file of checkpoints is used"
    assert "stored next to the log" in answer["caution"]


def test_verify_works_on_a_copy_with_public_keys_alone(gateway):
    copy = gateway.copy()
    on = ("--database", copy, "--key", gateway.key)
    assert "another place" in gateway.audit("verify", on=on)
    text = gateway.audit("verify", on=(*on, "--checkpoints", gateway.checkpoints_then))
    assert "another place" not in text and f"{ORIGIN}: intact" in text
    assert not list(gateway.place.glob("copy.db-*")), "nothing is written beside a copy"


def test_verify_accepts_the_key_of_the_cosigner(gateway):
    keys = gateway.place / "keys"
    keys.write_text(gateway.audit("keys", "--open-cosigner"))
    assert len(keys.read_text().splitlines()) == 2
    gateway.audit("verify", on=("--database", gateway.copy(), "--key", keys, "--checkpoints", gateway.checkpoints_then))


@pytest.mark.parametrize(
    "change, sentence",
    [
        (
            "UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), 'load', 'lead') AS BLOB) WHERE idx = {signed}",
            "Entry {signed} is not what was recorded",
        ),
        ("DELETE FROM entry WHERE idx = {signed}", "Entry {signed} is missing"),
        ("DELETE FROM entry WHERE idx >= {signed}", "missing"),
    ],
)
def test_verify_names_each_change(gateway, change, sentence):
    signed = gateway.entries("search", "--kind", "signature", "--limit", "1")[0]["index"]
    copy = gateway.copy("changed.db")
    with edited(copy) as database:
        database.execute(change.format(signed=signed))
    text = gateway.audit("verify", on=("--database", copy, "--key", gateway.key), status=1)
    assert sentence.format(signed=signed) in text
    answer = json.loads(gateway.audit("verify", "--format", "json", on=("--database", copy, "--key", gateway.key), status=1))
    assert any(span["from"] <= signed < span["to"] for span in answer["unproved"]), answer
    assert "No checkpoint proves" in answer["caution"]


def test_verify_finds_an_older_copy_with_an_external_checkpoint(gateway):
    old = gateway.copy("old.db")
    gateway.sign_batch(["com.example.later"])
    checkpoint = gateway.place / "later"
    checkpoint.write_text(gateway.audit("checkpoint"))
    on = ("--database", old, "--key", gateway.key)
    gateway.audit("verify", on=on)
    assert "older copy was restored" in gateway.audit("verify", on=(*on, "--checkpoints", checkpoint), status=1)


def test_verify_requires_a_public_key_and_an_existing_log(gateway, tmp_path):
    copy = gateway.copy()
    gateway.audit("verify", on=("--database", copy), status=WRONG_CALL)
    gateway.audit("verify", on=(), status=WRONG_CALL)
    gateway.audit("verify", on=("--database", tmp_path / "none.db", "--key", gateway.key), status=1)
    secret = run("audit", "verify", "--database", copy, "--key", gateway.place / "audit.db.key")
    assert secret.returncode == WRONG_CALL
    assert (gateway.place / "audit.db.key").read_text().strip().split("+", 4)[4] not in secret.stderr
    other = tmp_path / "gateway.yaml"
    other.write_text(gateway.configuration.read_text().split("audit:")[0] + "audit: off\n")
    assert run("audit", "verify", "--config", other).returncode == WRONG_CONFIGURATION


def test_verify_with_the_key_of_another_log_names_the_mistake(gateway, tmp_path):
    key = tmp_path / "other.pub"
    public = ed25519.Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    key.write_text(vkey("example.com/other", 1, public) + "\n")
    text = gateway.audit("verify", on=("--database", gateway.copy(), "--key", key), status=1)
    assert "None of the given keys has the name of this log" in text


# prove


def test_check_proof_needs_only_the_public_key(gateway, tmp_path):
    index = gateway.entries("search", "--kind", "signature", "--limit", "1")[0]["index"]
    proof = tmp_path / "proof"
    gateway.audit("prove", index, "--out", proof)
    answer = json.loads(run("audit", "check-proof", proof, "--key", gateway.key, "--format", "json").stdout)
    assert (answer["valid"], answer["kind"], answer["index"]) == (True, "inclusion", index)
    assert json.loads(answer["entry"])["kind"] == "signature"
    changed = tmp_path / "changed"
    changed.write_text(proof.read_text().replace(f"\nindex {index}\n", f"\nindex {index - 1}\n"))
    refused = run("audit", "check-proof", changed, "--key", gateway.key, "--format", "json")
    assert refused.returncode == 1 and json.loads(refused.stdout)["valid"] is False


def test_prove_between_proves_the_consistency_of_two_checkpoints(gateway, tmp_path):
    sizes = sorted(sizes_in(gateway.audit("checkpoint", "--all")))
    assert len(sizes) >= 2
    proof = tmp_path / "proof"
    gateway.audit("prove", "--between", sizes[0], sizes[-1], "--out", proof)
    answer = run("audit", "check-proof", proof, "--key", gateway.key)
    assert answer.returncode == 0 and answer.stdout.startswith("valid: "), answer.stderr
    gateway.audit("prove", "--between", sizes[-1], sizes[0], status=1)
    gateway.audit("prove", "--between", sizes[0], status=WRONG_CALL)
    gateway.audit("prove", status=WRONG_CALL)


def sizes_in(notes):
    """The sizes of the checkpoints in a text."""
    return {int(size) for size in re.findall(r"(?m)^(\d+)$", notes)}


# archive


def assert_search_tells_the_index(gateway):
    """The gateway indexes a segment some time after it is full, on a thread of the lowest priority."""
    wanted = ("audit", "search", "--product", "com.example.product7", "--count", "--format", "json")
    search = lambda: run(*wanted, "--database", gateway.place / "audit.db")
    is_indexed = lambda: json.loads(search().stdout)["index"]["answeredFor"] == SEGMENT
    await_(is_indexed, "the segment is in the index", seconds=120, pause=0.2)
    found = search()
    answer = json.loads(found.stdout)
    assert 0 < answer["index"]["named"] <= answer["count"]
    assert f"The search index answered for {SEGMENT} of " in found.stderr
    assert f"it named {answer['index']['named']} of the {answer['count']} that match" in found.stderr
    counted = run("audit", "stats", "--database", gateway.place / "audit.db")
    assert f"The search index answered for {SEGMENT} of " in counted.stderr
    over_http = json.loads(gateway.read("entries?product=com.example.product7")[1])
    assert over_http["index"] == answer["index"]
    assert json.loads(gateway.read("stats")[1])["index"] == {"answeredFor": SEGMENT}


def assert_export_reads_every_entry(gateway):
    """The export includes entries that a modified index omits."""
    wanted = ("audit", "export", "--product", "com.example.product7", "--database", gateway.place / "audit.db")
    before = run(*wanted)
    with contextlib.closing(sqlite3.connect(gateway.place / "audit.index.db")) as index, index:
        index.execute("DELETE FROM value")
    assert before.stdout and run(*wanted).stdout == before.stdout


def test_a_log_with_archived_segments_still_verifies(tmp_path):
    gateway = AuditedGateway(tmp_path)
    archive = tmp_path / "archive"
    archive.mkdir()
    with gateway:
        requests = [
            gateway.sign_batch([f"com.example.product{item}" for item in range(100)]) for _ in range(SEGMENT // 100 + 1)
        ]
        await_(lambda: max(sizes_in(gateway.checkpoints.read_text())) >= SEGMENT, "a checkpoint covers the segment")
        assert_search_tells_the_index(gateway)
        assert_export_reads_every_entry(gateway)
        before = tmp_path / "before"
        before.write_text(gateway.audit("checkpoint"))
        gateway.audit("archive", "--segments", 1, "--to", archive)
        file = archive / "segment-00000000.jsonl"
        assert len(file.read_bytes().splitlines()) == SEGMENT
        assert gateway.audit("search", "--kind", "archive", "--count") == "0\n", "nothing was taken out yet"
        gateway.audit("archive", "--segments", 1, "--to", archive, "--drop")
        (entry,) = gateway.entries("search", "--kind", "archive")
        assert (entry["entry"]["from"], entry["entry"]["to"]) == (0, SEGMENT)
        gateway.audit("show", 0, status=1)
        gateway.sign_batch(["com.example.after"])
        answer = json.loads(gateway.audit("verify", "--checkpoints", before, "--format", "json"))
        assert (answer["intact"], answer["archived"], answer["archivedChecked"]) == (True, SEGMENT, 0)
        answer = json.loads(gateway.audit("verify", "--archive", archive, "--format", "json"))
        assert (answer["intact"], answer["archivedChecked"]) == (True, SEGMENT)
        gateway.audit("prove", 5, status=1)
        # Segments may be in several directories.
        other = tmp_path / "other"
        other.mkdir()
        answer = json.loads(gateway.audit("verify", "--archive", archive, "--archive", other, "--format", "json"))
        assert (answer["intact"], answer["archivedChecked"]) == (True, SEGMENT)
        gateway.audit("prove", 5, "--archive", archive)
        # Answers over HTTP state which entries are missing.
        answer = json.loads(gateway.read("entries?product=com.example.product5")[1])
        assert (answer["complete"], answer["archivedBefore"]) == (False, SEGMENT)
        assert json.loads(gateway.read("stats")[1])["archivedBefore"] == SEGMENT
        assert gateway.read("export")[0]["X-Archived-Before"] == str(SEGMENT)
        assert f"begins with entry {SEGMENT}" in gateway.read("entries/5", status=404)[1]
        answer = json.loads(gateway.read(f"entries?product=com.example.after&since={entry['entry']['time']}")[1])
        assert (len(answer["entries"]), answer["complete"], "archivedBefore" in answer) == (1, True, False)
        answer = json.loads(gateway.read(f"entries?order=oldest&limit=1000&after={SEGMENT - 1}")[1])
        assert (answer["entries"][0]["index"], answer["complete"], "archivedBefore" in answer) == (SEGMENT, True, False)
        result = run("audit", "tail", "-n", 2 * SEGMENT, "--config", gateway.configuration)
        assert result.returncode == 0 and f"Entries 0 to {SEGMENT - 1} were archived" in result.stderr
        file.write_bytes(file.read_bytes().replace(b'"load"', b'"lead"', 1))
        gateway.audit("verify", "--archive", archive, status=1)
        # A read from a pipe without a writer would wait forever.
        file.unlink()
        os.mkfifo(file)
        gateway.audit("verify", "--archive", archive, status=1)
    # The gateway continues with the remaining entries, even if the last known checkpoint is in the archive.
    notes = gateway.checkpoints.read_text().split("\n\n")
    gateway.checkpoints.write_text("\n\n".join(notes[:2]) + "\n\n")
    assert int(notes[0].split("\n")[1]) < SEGMENT
    # The documentation's step to erase SQLite's remains of dropped entries.
    with contextlib.closing(sqlite3.connect(tmp_path / "audit.db")) as database:
        database.execute("VACUUM")
    assert [path.name for path in tmp_path.glob("audit.db-*")] == []
    left = (tmp_path / "audit.db").read_bytes()
    assert [request for request in requests if request.encode() in left] == requests[-1:]
    with gateway:
        gateway.sign_batch(["com.example.again"])
        gateway.audit("verify")
    # The entry about the key's state is in the archive, but the log's head covers the register.
    with edited(tmp_path / "audit.db") as database:
        (value,) = database.execute("SELECT value FROM register WHERE name LIKE 'key/%'").fetchone()
        database.execute("UPDATE register SET value = ? WHERE name LIKE 'key/%'", (value.replace(b"active", b"staged"),))
    assert "registers do not match the signed head" in gateway.audit("verify", status=1)
    with pytest.raises(AssertionError, match="The registers do not match its signed head"):
        gateway.start()
    with edited(tmp_path / "audit.db") as database:
        database.execute("UPDATE register SET value = ? WHERE name LIKE 'key/%'", (value,))
    gateway.audit("verify")


# Failed output


@pytest.mark.parametrize(
    "arguments",
    ["tail", "search", "search --count", "show 0", "stats", "export", "verify", "keys", "prove 0", "checkpoint"],
)
def test_a_command_fails_if_it_cannot_write_its_output(gateway, arguments):
    command = [BINARY, "audit", *arguments.split(), "--config", gateway.configuration]
    with open("/dev/full", "w") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert result.returncode == 1 and "Standard output cannot be written: No space left" in result.stderr


def test_a_closed_pipe_ends_search_without_a_message(gateway):
    command = [BINARY, "audit", "search", "--limit", "0", "--config", gateway.configuration]
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as closed:
        result = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True, timeout=60)
    assert result.returncode == -signal.SIGPIPE and "privyseal" not in result.stderr


@pytest.mark.parametrize("arguments", ["export", "export --format csv", "search --limit 0", "search --count", "tail -n 100"])
def test_a_command_reports_missing_entries_in_its_range(gateway, arguments):
    copy = gateway.copy("gaps.db")
    with edited(copy) as database:
        database.execute("DELETE FROM entry WHERE idx IN (2, 3)")
    result = run("audit", *arguments.split(), "--database", copy)
    assert result.returncode == 1 and "2 entries are missing in the log, the first is 2: run privyseal audit verify." in result.stderr


# Unreadable checkpoints and modified copies


@pytest.mark.parametrize(
    "spoil, status, says",
    [
        (lambda text: text.replace("\n\n\u2014", "\n\n-"), WRONG_CALL, "does not hold checkpoints. The note has no signatures"),
        (lambda text: text.replace("\n", "\r\n"), WRONG_CALL, "holds no checkpoint"),
        (lambda text: "", WRONG_CALL, "holds no checkpoint"),
        (lambda text: text + text.split("\n\n")[0][:-3], 1, "cannot be read as checkpoints: a writer was stopped"),
    ],
    ids=["other signatures", "other line ends", "an empty file", "a truncated checkpoint"],
)
def test_verify_fails_on_unreadable_checkpoints(gateway, spoil, status, says):
    copy, file = gateway.copy(), gateway.place / "spoilt"
    file.write_bytes(spoil(gateway.checkpoints_then.read_text()).encode())
    on = ("--database", copy, "--key", gateway.key, "--checkpoints", file)
    result = run("audit", "verify", *on)
    assert result.returncode == status and says in result.stdout + result.stderr, result


def test_verify_with_the_cosigner_key_refuses_a_log_without_co_signatures(gateway):
    keys, alone = gateway.place / "keys", gateway.place / "alone"
    keys.write_text(gateway.audit("keys", "--open-cosigner"))
    copy = gateway.copy()
    # Each note without its last line, the cosigner's signature.
    notes = gateway.checkpoints_then.read_text().split("\n\n")
    alone.write_text("\n\n".join(part.rsplit("\n", 1)[0] if part[:1] == "\u2014" else part for part in notes))
    with edited(copy) as database:
        database.execute("DELETE FROM checkpoint")
    gateway.audit("verify", on=("--database", copy, "--key", gateway.key, "--checkpoints", alone))
    text = gateway.audit("verify", on=("--database", copy, "--key", keys, "--checkpoints", alone), status=1)
    assert "No checkpoint that could be compared has a signature of a cosigner" in text
    # Without any checkpoint to compare, it fails too.
    gateway.audit("verify", on=("--database", copy, "--key", keys), status=1)


def test_verify_does_not_count_checkpoints_beside_the_log_as_a_second_place(gateway):
    text = gateway.audit("verify")
    assert ": intact" in text and "stored next to the log" in text and "its key was not given" in text
    elsewhere, keys = gateway.place / "elsewhere", gateway.place / "all-keys"
    elsewhere.mkdir()
    file = shutil.copy(gateway.checkpoints, elsewhere)
    keys.write_text(gateway.audit("keys", "--open-cosigner"))
    text = gateway.audit("verify", "--checkpoints", file, "--key", keys)
    assert "stored next to the log" not in text and "its key was not given" not in text


def test_commands_report_impossible_values_in_a_log_without_a_crash(gateway):
    copy = gateway.copy("beyond.db")
    with edited(copy) as database:
        database.execute("UPDATE head SET size = -9223372036854775808")
        database.execute("UPDATE log SET first_segment = 1")
    for command in (["verify", "--key", gateway.key], ["tail"], ["stats"], ["checkpoint"]):
        assert run("audit", *command, "--database", copy).returncode == 1
    copy = gateway.copy("large.db")
    with edited(copy) as database:
        database.execute("UPDATE entry SET body = zeroblob(5000000) WHERE idx = 1")
    result = run("audit", "verify", "--key", gateway.key, "--database", copy)
    assert result.returncode == 1 and "is damaged at or after entry" in result.stdout, result.stdout + result.stderr


def test_stats_reports_missing_entries(gateway):
    copy = gateway.copy("missing.db")
    with edited(copy) as database:
        database.execute("DELETE FROM entry WHERE idx = 1")
    result = run("audit", "stats", "--database", copy)
    assert result.returncode == 1 and "missing" in result.stderr and "COUNT" in result.stdout


def test_an_interrupted_export_leaves_no_file_that_looks_complete(gateway):
    out, feed = gateway.place / "export.jsonl", gateway.place / "slow.db"
    shutil.copy(gateway.copy(), feed)
    with edited(feed) as database:
        (body,) = database.execute("SELECT body FROM entry WHERE idx = 0").fetchone()
        rows = ((index, body) for index in range(1_000_000, 1_400_000))
        database.executemany("INSERT INTO entry VALUES (?, 0, ?)", rows)
    part = pathlib.Path(f"{out}.part")
    command = [BINARY, "audit", "export", "--out", out, "--database", feed]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        await_(lambda: part.exists() and part.stat().st_size > 0, "a part of the export", pause=0.001)
        process.kill()
    assert process.returncode == -signal.SIGKILL and part.exists() and not out.exists()
    # The remaining part file does not disturb the next export.
    gateway.audit("export", "--out", out)
    assert out.exists() and not part.exists()
    before = out.read_bytes()
    gateway.audit("export", "--out", out, status=WRONG_CALL)
    assert out.read_bytes() == before


def test_archive_refuses_to_run_twice_at_once(gateway):
    held = os.open(gateway.place, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    arguments = ("archive", "--segments", 1, "--to", gateway.place, "--config", gateway.configuration)
    result = run("audit", *arguments)
    assert result.returncode == 1 and "another such command is running" in result.stderr
    os.close(held)
    result = run("audit", *arguments)
    assert result.returncode == 0 and "no segment is full" in result.stdout


def test_search_quotes_a_value_that_looks_like_columns(gateway):
    forged = "com.example.monthly/winback  OTHERKEY01  forbidden  4QO6HTrz"
    gateway.sign_batch([forged])
    line = gateway.audit("search", "--product", forged).strip()
    columns = line.split("  ")
    assert columns[-2] == "signed" and columns[-3] == KEY_IDS[0], line
    assert json.loads(line[line.index('"') : line.rindex('"') + 1]) == forged


def test_a_reader_over_http_continues_where_an_answer_ended(gateway):
    gateway.sign_batch([f"com.example.page{number}" for number in range(30)])
    seen, after = [], -1
    while True:
        answer = json.loads(gateway.read(f"entries?order=oldest&limit=7&after={after}" if seen else "entries?order=oldest&limit=7")[1])
        seen += [entry["index"] for entry in answer["entries"]]
        if not answer["entries"] or answer["complete"]:
            break
        after = seen[-1]
    assert seen == list(range(len(seen))) and len(seen) > 30
    answer = json.loads(gateway.read(f"entries?before={seen[-1]}&limit=3")[1])
    assert [entry["index"] for entry in answer["entries"]] == [seen[-1] - back for back in (1, 2, 3)]
    for wrong in ("entries?after=-1", "entries?before=x", "entries?after=%2B1", "checkpoint?size=1", "entries/1?x=1"):
        gateway.read(wrong, status=400)


def test_verify_uses_checkpoints_from_a_pipe_like_those_from_a_file(gateway):
    copy = gateway.copy("piped.db")
    gateway.sign_batch(["com.example.later"])
    on = ("audit", "verify", "--database", copy, "--key", gateway.key, "--checkpoints", "/dev/stdin")
    known = run(*on, input=gateway.checkpoints_then.read_text())
    assert known.returncode == 0 and ": intact" in known.stdout, known.stdout + known.stderr
    newer = run(*on, input=gateway.checkpoints_then.read_text() + gateway.audit("checkpoint"))
    assert newer.returncode == 1 and "older copy was restored" in newer.stdout, newer.stdout + newer.stderr


def with_checkpoints(gateway, file):
    """A copy of the configuration with another file of checkpoints."""
    configuration = gateway.place / "other-checkpoints.yaml"
    text = gateway.configuration.read_text()
    configuration.write_text(text.replace("checkpoints: {interval: 1,", f'checkpoints: {{interval: 1, file: "{file}",'))
    return configuration


def test_a_pipe_as_configured_checkpoint_file_is_refused(gateway):
    """A read from it would wait forever."""
    pipe = gateway.place / "checkpoints.pipe"
    os.mkfifo(pipe)
    configuration = with_checkpoints(gateway, pipe)
    for command in (("audit", "verify"), ("compliance", "report", "--format", "json")):
        ended = run(*command, "--config", configuration)
        assert ended.returncode != 0
        assert f"{pipe} is not a regular file" in ended.stdout + ended.stderr


def test_the_report_does_not_count_checkpoints_in_memory_as_a_second_place(gateway):
    kind = subprocess.run(["stat", "-f", "-c", "%T", "/dev/shm"], capture_output=True, text=True).stdout.strip()
    if kind != "tmpfs":
        pytest.skip("/dev/shm is not a tmpfs here")
    file = pathlib.Path(f"/dev/shm/privyseal-{os.getpid()}.checkpoints")
    try:
        made = run("compliance", "report", "--format", "json", "--config", with_checkpoints(gateway, file))
    finally:
        file.unlink(missing_ok=True)
    sections = json.loads(made.stdout)["report"]["sections"]
    (check,) = [check for section in sections for check in section["checks"] if check["id"] == "audit.secondPlace"]
    assert check["result"] == "fail" and check["value"].endswith("compared, on tmpfs")


def test_check_proof_reads_a_socket_as_standard_input(gateway):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(gateway.audit("prove", 0).encode())
        ours.shutdown(socket.SHUT_WR)
        checked = subprocess.run(
            [BINARY, "audit", "check-proof", "-", "--key", gateway.key], stdin=theirs, capture_output=True, text=True, timeout=60
        )
    assert checked.returncode == 0 and checked.stdout.startswith("valid: "), checked.stderr


def test_prove_accepts_any_checkpoint_in_the_configured_file(gateway):
    await_(lambda: len(sizes_in(gateway.checkpoints.read_text())) > 1, "two checkpoints")
    sizes = sizes_in(gateway.checkpoints.read_text())
    # The log keeps only some of the older checkpoints.
    with edited(gateway.database) as database:
        database.execute("DELETE FROM checkpoint WHERE size = ?", (min(sizes),))
    kept = sizes_in(gateway.audit("checkpoint", "--all"))
    assert sizes - kept and sizes & kept
    for size in sorted(sizes - kept)[-2:] + sorted(sizes & kept)[-1:]:
        proof = gateway.audit("prove", "0", "--against", str(size))
        assert f"\n{size}\n" in proof
        assert gateway.read(f"entries/0/proof?size={size}")[1] == proof
        assert gateway.read(f"consistency?old={size}")[1]
    gateway.audit("prove", "0", "--against", str(max(sizes) + 100_000), status=1)


@pytest.mark.parametrize("view_name", ["log", "entry", "head", "Log", "ENTRY", "heaD", "Checkpoint", "Segment"])
def test_every_command_refuses_a_log_with_a_view_in_place_of_a_table(gateway, view_name):
    # To SQLite, the names are equal.
    table = view_name.lower()
    copy = gateway.copy("view.db")
    # Without triggers: a view cannot have those of a table.
    with contextlib.closing(sqlite3.connect(copy)) as view, view:
        for (name,) in view.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            view.execute(f"DROP TRIGGER {name}")
        columns = ", ".join(name for _, name, *_ in view.execute(f"PRAGMA table_info({table})"))
        view.execute(f"DROP TABLE {table}")
        view.execute(
            f"CREATE VIEW {view_name}({columns}) AS WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n FROM endless) "
            f"SELECT {', '.join('n' for _ in columns.split(', '))} FROM endless"
        )
    for command in (["verify", "--key", gateway.key], ["tail"], ["search"], ["prove", 0]):
        assert run("audit", *command, "--database", copy).returncode == 1


def test_commands_show_a_deeply_nested_entry_without_a_crash(gateway):
    copy = gateway.copy("nested.db")
    body = b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b',"kind":"idle","time":"2026-11-22T00:00:00.000Z","v":1}'
    with edited(copy) as database:
        database.execute("UPDATE entry SET body = ? WHERE idx = 0", (body,))
    for command in (["show", 0], ["search", "--kind", "idle"], ["tail"]):
        limited = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (4 << 30, 4 << 30))
        assert run("audit", *command, "--database", copy, preexec_fn=limited).returncode == 0


def test_a_full_export_fails_on_an_invalid_entry(gateway):
    copy = gateway.copy("damaged.db")
    with edited(copy) as database:
        database.execute("UPDATE entry SET body = ? WHERE idx = 1", (b"garbage",))
    result = run("audit", "export", "--database", copy)
    assert result.returncode == 1 and "The bytes of entry 1 are not an entry" in result.stderr
    assert run("audit", "tail", "-n", 100_000, "--database", copy).returncode == 0


def test_verify_refuses_a_rollback_journal_beside_a_log(gateway):
    copy = gateway.copy("journal.db")
    copy.with_name("journal.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(1000))
    result = run("audit", "verify", "--database", copy, "--key", gateway.key)
    assert result.returncode == 1 and "is not a file of the audit log" in result.stderr


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["verify", "--archive", "/nowhere"], "No such file or directory"),
        (["search", "--kind", "signatur"], "is not a kind of entry: give one of signature, refusal"),
    ],
)
def test_a_command_refuses_an_invalid_argument_with_an_explanation(gateway, arguments, sentence):
    result = run("audit", *arguments, "--config", gateway.configuration)
    assert result.returncode == WRONG_CALL and sentence in result.stderr


def test_prove_refuses_a_checkpoint_of_the_largest_size(gateway):
    huge = gateway.place / "huge"
    text = gateway.checkpoints.read_text()
    size = text.split("\n")[1]
    huge.write_text(text.split("\n\n\u2014")[0].replace(f"\n{size}\n", "\n9223372036854775807\n") + "\n\n\u2014"
                    + text.split("\n\n\u2014")[1].split("\n\n")[0] + "\n\n")
    result = run(
        "audit", "prove", 9223372036854775806, "--against", 9223372036854775807, "--checkpoints", huge,
        "--config", gateway.configuration,
    )
    assert result.returncode == 1 and "keeps no checkpoint of 9,223,372,036,854,775,807 entries" in result.stderr, result


# The last test, because the checkpoint that it appends would affect others.


def test_the_admin_listener_counts_unreadable_checkpoints(gateway):
    with open(gateway.checkpoints, "a") as file:
        file.write("garbage\nmore\n\n")
    answered, _, body = gateway.ask("POST", "/v1/audit/verification", listener="admin")
    assert answered == 200 and json.loads(body)["unreadableCheckpoints"] == 1
