"""Edits that an attacker with write access can make to an audit log's database. Each edit is a function of a seeded
random source. `privyseal audit verify` must find every edit."""

import base64
import concurrent.futures
import contextlib
import functools
import itertools
import pathlib
import shutil
import sqlite3
import time

from auditing import AuditedService, Roots, await_, example, notes_in, public_key, verify
from cryptography.hazmat.primitives.asymmetric import ed25519


class Victim:
    """A log of more than two segments, with checkpoints at several sizes, and older copies of it."""

    size = 9000

    def __init__(self, binary, directory, keys):
        self.binary, self.directory = binary, directory
        service = AuditedService(binary, directory, keys)
        self.older = []
        body = {"requests": [{"productId": "com.example.monthly", "offerIdentifier": "winback"}] * 100}
        with service:
            for part in range(1, 4):
                while service.metric("privyseal_audit_size") < part * self.size / 3:
                    for _ in range(10):
                        status, _, answer = service.sign("/v1/apps/com.example.app/promotional-offer/batch", body)
                        assert status == 200, answer
                # The gateway has written a checkpoint of the whole log.
                count = len(notes_in(service.checkpoints))
                await_(lambda: len(notes_in(service.checkpoints)) > count, "another checkpoint")
                self.older.append(directory / f"older-{part}.db")
                back_up(service.database, self.older[-1])
        self.older.pop()
        self.database, self.checkpoints = service.database, service.checkpoints
        self.key = public_key(service.database)

    def verify(self, database):
        return verify(self.binary, database, self.key, [self.checkpoints])

    def edit(self, kind, random, name):
        """(edited copy, whether SQLite reads other contents from it)."""
        copy = self.directory / name
        shutil.copy(self.database, copy)
        EDITS[kind](Edit(self, copy, random))
        return copy, dump(copy) != self.dump

    @functools.cached_property
    def dump(self):
        return dump(self.database)


def back_up(database, copy):
    with contextlib.closing(sqlite3.connect(database)) as source, contextlib.closing(sqlite3.connect(copy)) as target:
        source.backup(target)


def dump(path):
    """All contents of a database, or the reason why it cannot be read."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
            connection.text_factory = bytes
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            found = [connection.execute(f"PRAGMA {name}").fetchall() for name in ("application_id", "user_version")]
            found.append(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall())
            return found + [connection.execute(f"SELECT * FROM {name.decode()}").fetchall() for name in tables]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return str(error)


@contextlib.contextmanager
def edited(path):
    """A connection to a database without its triggers, which are restored afterwards."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, text in triggers:
            connection.execute(text)
        connection.commit()


class Edit:
    """One edit of a copy. It bypasses the triggers, which are restored afterwards."""

    def __init__(self, victim, path, random):
        self.victim, self.path, self.random = victim, path, random

    def opened(self):
        return edited(self.path)

    def index(self, connection):
        return self.random.randrange(connection.execute("SELECT count(*) FROM entry").fetchone()[0])

    def flipped(self, data):
        at = self.random.randrange(len(data) * 8)
        return data[: at // 8] + bytes([data[at // 8] ^ 1 << at % 8]) + data[at // 8 + 1 :]

    def text_changed(self, text):
        at = self.random.randrange(len(text))
        other = "x" if text[at] != "x" else "y"
        return text[:at] + other + text[at + 1 :]


def signed_mark(leaf, index):
    mark = int.from_bytes(leaf[:8]) ^ index
    return mark - (1 << 64) if mark >> 63 else mark


def put(connection, index, body):
    """Writes an entry with a matching mark."""
    mark = signed_mark(example.leaf_hash(body), index)
    connection.execute("INSERT OR REPLACE INTO entry VALUES (?, ?, ?)", (index, mark, body))


def get(connection, index):
    return connection.execute("SELECT mark, body FROM entry WHERE idx = ?", (index,)).fetchone()


# Entries


def flip_in_body(edit):
    with edit.opened() as connection:
        index = edit.index(connection)
        body = edit.flipped(get(connection, index)[1])
        connection.execute("UPDATE entry SET body = ? WHERE idx = ?", (body, index))


def another_body_that_fits_its_mark(edit):
    with edit.opened() as connection:
        index = edit.index(connection)
        put(connection, index, get(connection, index)[1].replace(b'"time":"20', b'"time":"19', 1))


def flip_in_mark(edit):
    with edit.opened() as connection:
        index = edit.index(connection)
        mark = edit.flipped(get(connection, index)[0].to_bytes(8, signed=True))
        connection.execute("UPDATE entry SET mark = ? WHERE idx = ?", (int.from_bytes(mark, signed=True), index))


def delete_rows(edit):
    with edit.opened() as connection:
        first = edit.index(connection)
        count = edit.random.choice([1, 1, 2, 50])
        connection.execute("DELETE FROM entry WHERE idx >= ? AND idx < ?", (first, first + count))


def repeat_at_the_end(edit):
    with edit.opened() as connection:
        (size,) = connection.execute("SELECT size FROM head").fetchone()
        put(connection, size, get(connection, edit.index(connection))[1])


def repeat_in_the_place_of_another(edit):
    with edit.opened() as connection:
        first, second = edit.index(connection), edit.index(connection)
        put(connection, second if second != first else (first or 2) - 1, get(connection, first)[1])


def two(edit, connection):
    first = edit.index(connection)
    second = edit.index(connection)
    return (first, second) if first != second else (0, 1)


def swap_bodies(edit):
    with edit.opened() as connection:
        first, second = two(edit, connection)
        bodies = get(connection, first)[1], get(connection, second)[1]
        for index, body in zip((second, first), bodies):
            connection.execute("UPDATE entry SET body = ? WHERE idx = ?", (body, index))


def swap_rows(edit):
    with edit.opened() as connection:
        first, second = two(edit, connection)
        rows = get(connection, first), get(connection, second)
        for index, (mark, body) in zip((second, first), rows):
            connection.execute("UPDATE entry SET mark = ?, body = ? WHERE idx = ?", (mark, body, index))


def swap_entries_with_marks_made_to_fit(edit):
    with edit.opened() as connection:
        first, second = two(edit, connection)
        bodies = get(connection, first)[1], get(connection, second)[1]
        for index, body in zip((second, first), bodies):
            put(connection, index, body)


def remove_one_and_shift_the_rest(edit):
    with edit.opened() as connection:
        index = edit.index(connection)
        connection.execute("DELETE FROM entry WHERE idx = ?", (index,))
        connection.execute("UPDATE entry SET idx = -idx WHERE idx > ?", (index,))
        connection.execute("UPDATE entry SET idx = -idx - 1 WHERE idx < 0")


def insert_one_and_shift_the_rest(edit):
    with edit.opened() as connection:
        index = edit.index(connection)
        body = get(connection, index)[1]
        connection.execute("UPDATE entry SET idx = -idx - 1 WHERE idx >= ?", (index,))
        connection.execute("UPDATE entry SET idx = -idx WHERE idx < 0")
        put(connection, index, body)


def append_entries(edit):
    with edit.opened() as connection:
        (size,) = connection.execute("SELECT size FROM head").fetchone()
        for index in range(size, size + edit.random.choice([1, 5, 5000])):
            put(connection, index, b'{"kind":"idle","time":"2030-01-01T00:00:00.000Z","v":1}')


def truncate_rows(edit):
    with edit.opened() as connection:
        connection.execute("DELETE FROM entry WHERE idx >= ?", (edit.index(connection),))


# Signed notes


def change_head_note(edit):
    with edit.opened() as connection:
        (note,) = connection.execute("SELECT note FROM head").fetchone()
        connection.execute("UPDATE head SET note = ?", (edit.text_changed(note),))


def change_head_size(edit):
    with edit.opened() as connection:
        connection.execute("UPDATE head SET size = size + ?", (edit.random.choice([-4096, -1, 1, 4096]),))


def change_kept_checkpoint(edit):
    with edit.opened() as connection:
        size, note = edit.random.choice(connection.execute("SELECT size, note FROM checkpoint").fetchall())
        connection.execute("UPDATE checkpoint SET note = ? WHERE size = ?", (edit.text_changed(note), size))


def flip_in_segment_root(edit):
    with edit.opened() as connection:
        number, root = edit.random.choice(connection.execute("SELECT number, root FROM segment").fetchall())
        connection.execute("UPDATE segment SET root = ? WHERE number = ?", (edit.flipped(root), number))


def delete_segment_root(edit):
    with edit.opened() as connection:
        connection.execute("DELETE FROM segment WHERE number = ?", (edit.random.randrange(2),))


def truncate_to_an_older_checkpoint(edit):
    """As if the gateway had stopped there: the contents are consistent."""
    with edit.opened() as connection:
        kept = connection.execute("SELECT size, note FROM checkpoint ORDER BY size").fetchall()
        size, note = edit.random.choice(kept[:-1])
        cut(connection, size)
        connection.execute("UPDATE head SET size = ?, note = ?", (size, note))


def cut(connection, size):
    connection.execute("DELETE FROM entry WHERE idx >= ?", (size,))
    connection.execute("DELETE FROM segment WHERE (number + 1) * 4096 > ?", (size,))
    connection.execute("DELETE FROM checkpoint WHERE size > ?", (size,))


def put_an_older_copy_back(edit):
    shutil.copy(edit.random.choice(edit.victim.older), edit.path)


def write_history_anew_with_the_logs_own_key(edit):
    """Root can do this. Root cannot change the checkpoints in a second place."""
    secret = pathlib.Path(f"{edit.victim.database}.key").read_text().strip()
    with edit.opened() as connection:
        index = edit.index(connection)
        put(connection, index, get(connection, index)[1].replace(b'"time":"20', b'"time":"19', 1))
        roots = Roots()
        for (body,) in connection.execute("SELECT body FROM entry ORDER BY idx"):
            roots.add(example.leaf_hash(body))
        for (number,) in connection.execute("SELECT number FROM segment").fetchall():
            connection.execute("UPDATE segment SET root = ? WHERE number = ?", (roots.segment(number), number))
        for table in ("checkpoint", "head"):
            for (size,) in connection.execute(f"SELECT size FROM {table}").fetchall():
                note = signed_note(secret, size, roots.root(size))
                connection.execute(f"UPDATE {table} SET note = ? WHERE size = ?", (note, size))


def signed_note(secret, size, root):
    name, key_id, material = secret.removeprefix("PRIVATE+KEY+").split("+", 2)
    text = f"{name}\n{size}\n{base64.b64encode(root).decode()}\n"
    key = ed25519.Ed25519PrivateKey.from_private_bytes(base64.b64decode(material)[1:])
    signature = base64.b64encode(bytes.fromhex(key_id) + key.sign(text.encode())).decode()
    return f"{text}\n\u2014 {name} {signature}\n"


# The database


def drop_a_trigger(edit):
    with contextlib.closing(sqlite3.connect(edit.path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name").fetchall()
        connection.execute(f"DROP TRIGGER {edit.random.choice(names)[0]}")
        connection.commit()


def add_a_trigger(edit):
    with contextlib.closing(sqlite3.connect(edit.path)) as connection:
        connection.execute("CREATE TRIGGER more AFTER INSERT ON entry BEGIN DELETE FROM checkpoint; END")
        connection.commit()


def change_a_byte_of_the_file(edit):
    with open(edit.path, "r+b") as file:
        at = edit.random.randrange(edit.path.stat().st_size)
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ edit.random.randrange(1, 256)]))


def truncate_the_file(edit):
    with open(edit.path, "r+b") as file:
        file.truncate(edit.random.randrange(edit.path.stat().st_size))


EDITS = {
    "a bit of an entry": flip_in_body,
    "an entry, with a mark that fits": another_body_that_fits_its_mark,
    "a bit of a mark": flip_in_mark,
    "entries removed": delete_rows,
    "an entry repeated at the end": repeat_at_the_end,
    "an entry repeated in the place of another": repeat_in_the_place_of_another,
    "two bodies swapped": swap_bodies,
    "two rows swapped": swap_rows,
    "two entries swapped, with marks that fit": swap_entries_with_marks_made_to_fit,
    "an entry removed, the rest shifted": remove_one_and_shift_the_rest,
    "an entry inserted, the rest shifted": insert_one_and_shift_the_rest,
    "entries added at the end": append_entries,
    "the end cut off": truncate_rows,
    "the head's note": change_head_note,
    "the head's size": change_head_size,
    "a kept checkpoint": change_kept_checkpoint,
    "a bit of a segment's root": flip_in_segment_root,
    "a segment's root removed": delete_segment_root,
    "the end cut off, with an older head": truncate_to_an_older_checkpoint,
    "an older copy put back": put_an_older_copy_back,
    "history rewritten with the log's own key": write_history_anew_with_the_logs_own_key,
    "a trigger dropped": drop_a_trigger,
    "a trigger added": add_a_trigger,
    "a byte of the file": change_a_byte_of_the_file,
    "the file cut off": truncate_the_file,
}


class EditRun:
    """`count` edits, each of a fresh copy; the kinds alternate."""

    def __init__(self, victim, random):
        self.victim, self.random = victim, random
        # By kind: the numbers of edits, of edits found, and of edits that changed nothing.
        self.table = {kind: [0, 0, 0] for kind in EDITS}
        self.surprises = []
        # The duration of each verification.
        self.seconds = []

    def run(self, count, workers=2):
        """Edits run one after the other, so that every run has the same random edits. Verifications run in parallel."""
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            kinds = itertools.islice(itertools.cycle(EDITS), count)
            for batch in iter(lambda: list(itertools.islice(kinds, workers)), []):
                copies = [self.victim.edit(kind, self.random, f"edited-{n}.db") for n, kind in enumerate(batch)]
                for kind, (_, is_changed), outcome in zip(batch, copies, pool.map(self._verify, copies)):
                    self._note(kind, is_changed, *outcome)
                for path in self.victim.directory.glob("edited-*"):
                    path.unlink()

    def _verify(self, copy):
        begun = time.monotonic()
        try:
            return self.victim.verify(copy[0])
        finally:
            self.seconds.append(time.monotonic() - begun)

    def _note(self, kind, is_changed, status, report):
        row = self.table[kind]
        row[0] += 1
        if not is_changed:
            row[2] += 1
        elif status == 1:
            row[1] += 1
        if status not in (0, 1) or (is_changed and status == 0):
            self.surprises.append(f"{kind}: audit verify ended with {status}: {report}")

    @property
    def lines(self):
        return [f"{kind}: {found} of {count - void} found, {void} changed nothing"
                for kind, (count, found, void) in self.table.items()]  # fmt: skip
