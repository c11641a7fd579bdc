"""A wall clock that a test sets; without pytest."""

import os
import pathlib
import subprocess


class Clock:
    """The wall clock of one gateway, as a library for LD_PRELOAD."""

    def __init__(self, directory):
        library = directory / "stepped_clock.so"
        source = pathlib.Path(__file__).with_suffix(".c")
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        self.path = directory / "clock"
        self.set(0)
        self.environment = {"LD_PRELOAD": str(library), "STEPPED_CLOCK": str(self.path)}

    def set(self, seconds):
        """Sets the offset from the right time."""
        new = self.path.with_suffix(".new")
        new.write_text(str(seconds))
        os.replace(new, self.path)
