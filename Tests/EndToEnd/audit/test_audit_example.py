"""The example of docs/audit-format.md, run on the files next to it and on forged versions of them."""

import pathlib
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


def test_the_example_refuses_another_key(tmp_path):
    key = (EXAMPLE / "log.pub").read_text(encoding="utf-8")
    (tmp_path / "keys").write_text(key.replace("86994de6", "86994de7"), encoding="utf-8")
    assert check("note", EXAMPLE / "checkpoint.txt", tmp_path / "keys").returncode == 1
    other = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW\n"
    (tmp_path / "keys").write_text(other, encoding="utf-8")
    assert check("note", EXAMPLE / "checkpoint.txt", tmp_path / "keys").returncode == 1
