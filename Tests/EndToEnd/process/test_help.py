"""The help of every command, as a terminal of 80 columns shows it."""

import re
import subprocess

from conftest import BINARY


def help_of(*command):
    """The lines of a command's help. Without a terminal, they are as long as in one of 80 columns."""
    ended = subprocess.run([BINARY, *command, "--help"], capture_output=True, text=True, check=True, timeout=60)
    return ended.stdout.splitlines()


def helps(*command):
    """The help of a command and of all below it, whose names are at the end of it."""
    lines = help_of(*command)
    yield command, lines
    if "SUBCOMMANDS:" in lines:
        listed = (re.match("  ([a-z-]+)( |$)", line) for line in lines[lines.index("SUBCOMMANDS:") + 1 :])
        for name in [match[1] for match in listed if match]:
            yield from helps(*command, name)


def test_no_example_and_no_table_of_a_help_text_is_broken_at_80_columns():
    every = list(helps())
    assert len(every) > 60
    for command, lines in every:
        text = lines[: next(number for number, line in enumerate(lines) if line.startswith("USAGE: "))]
        # ArgumentParser continues a line that is too long without its indentation.
        broken = [first for first, second in zip(text, text[1:]) if first.startswith("  ") and re.match(r"\S", second)]
        assert broken == [], command
