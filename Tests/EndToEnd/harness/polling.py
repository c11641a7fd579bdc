"""Waiting for a condition; without other packages, because scripts/bench uses it too."""

import time


def await_(condition, what, seconds=20, pause=0.02):
    """Polls for a condition that only a question shows, and returns its value.

    `what`: the condition for a reader, or a function that describes the state when the time is over.
    """
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {seconds} s: {what() if callable(what) else what}"
        time.sleep(pause)
    return value
