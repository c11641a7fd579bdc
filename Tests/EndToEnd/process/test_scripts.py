"""The scripts for long measurements run by hand only, so a moved module would not be noticed there."""

import subprocess
import sys

import pytest
from conftest import ROOT


@pytest.mark.parametrize("script", ["bench.py", "faults.py", "soak.py"])
def test_a_script_finds_its_modules_and_prints_its_help(script):
    ended = subprocess.run([sys.executable, ROOT / "scripts" / script, "--help"], capture_output=True, text=True)
    assert (ended.returncode, "usage:" in ended.stdout) == (0, True), ended.stderr
