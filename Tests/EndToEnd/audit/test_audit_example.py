"""The example of docs/audit-format.md, run on the files next to it and on forged versions of them."""

import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "audit-example"
FILES = {"inclusion": "entry.tlog-proof", "consistency": "growth.txt", "note": "checkpoint.txt"}


def check(kind, path, keys=EXAMPLE / "log.pub"):
    return subprocess.run(
        [sys.executable, EXAMPLE / "check.py", kind, path, keys], capture_output=True, text=True, timeout=30
    )


@pytest.mark.parametrize("kind", FILES)
def test_the_example_accepts_each_valid_file(kind):
    answer = check(kind, EXAMPLE / FILES[kind])
    assert answer.returncode == 0, answer.stdout
    assert answer.stdout.count("\n") == 1 and "example.com/privyseal/shop-1" in answer.stdout


@pytest.mark.parametrize(
    "kind, part, other",
    [
        ("inclusion", "index 1", "index 0"),
        ("inclusion", "index 1", "index 3"),
        ("inclusion", "index 1", "index 01"),
        ("inclusion", "extra ey", "extra ez"),
        ("inclusion", "BuHq", "BuHr"),
        ("inclusion", "VjsR4XTha7xLsoxRsvB8WtwBgXxjlJYGc2Nrmmle2Vc=\n", ""),
        ("inclusion", "\n3\n", "\n4\n"),
        ("consistency", "VjsR", "VjsS"),
        ("consistency", "VjsR4XTha7xLsoxRsvB8WtwBgXxjlJYGc2Nrmmle2Vc=\n", ""),
        ("consistency", "\n2\n", "\n1\n"),
        ("note", "\n3\n", "\n4\n"),
        ("note", "shop-1 hplN", "shop-1 hplO"),
        ("note", "— example.com/privyseal/shop-1", "— example.com/privyseal/shop-2"),
    ],
)
def test_the_example_refuses_a_changed_file(tmp_path, kind, part, other):
    text = (EXAMPLE / FILES[kind]).read_text(encoding="utf-8")
    assert part in text
    (tmp_path / "file").write_text(text.replace(part, other), encoding="utf-8")
    answer = check(kind, tmp_path / "file")
    assert answer.returncode == 1, answer.stdout
    assert answer.stdout.startswith("Refused: ") and answer.stdout.count("\n") == 1


def test_the_example_names_the_witnesses_that_cosigned_and_refuses_a_wrong_cosignature(tmp_path):
    # Both are in docs/audit-format.md.
    document = (EXAMPLE.parent / "audit-format.md").read_text(encoding="utf-8")
    (cosignature,) = re.findall("^— witness.*\n", document, re.M)
    (witness,) = re.findall(r"^witness\.example\.com/w1\+.*\n", document, re.M)
    keys, file = tmp_path / "keys", tmp_path / "file"
    keys.write_text((EXAMPLE / "log.pub").read_text(encoding="utf-8") + witness, encoding="utf-8")
    note = (EXAMPLE / "checkpoint.txt").read_text(encoding="utf-8")
    file.write_text(note + cosignature, encoding="utf-8")
    answer = check("note", file, keys)
    assert answer.returncode == 0
    assert answer.stdout.endswith(" Cosigned by witness.example.com/w1 at 2026-11-21T13:28:01Z.\n"), answer.stdout
    assert "Cosigned" not in check("note", file).stdout
    # Another time, and a witness in place of the log.
    for forged in (note + cosignature.replace("lpmAzwAAAABr", "lpmAzwAAAABs"), note.rsplit("\n\n", 1)[0] + "\n\n" + cosignature):
        file.write_text(forged, encoding="utf-8")
        answer = check("note", file, keys)
        assert answer.returncode == 1 and answer.stdout.startswith("Refused: "), answer.stdout


def test_the_example_refuses_another_key(tmp_path):
    key = (EXAMPLE / "log.pub").read_text(encoding="utf-8")
    (tmp_path / "keys").write_text(key.replace("86994de6", "86994de7"), encoding="utf-8")
    assert check("note", EXAMPLE / "checkpoint.txt", tmp_path / "keys").returncode == 1
    other = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW\n"
    (tmp_path / "keys").write_text(other, encoding="utf-8")
    assert check("note", EXAMPLE / "checkpoint.txt", tmp_path / "keys").returncode == 1
