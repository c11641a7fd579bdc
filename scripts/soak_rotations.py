"""Rotations over four gateways under load, while gateways stop, die, hang, are fenced and return."""

import random
import statistics

from database_server import cluster, url
from fleet import Fleet, Rotations

COUNT, QUICK_COUNT = 50, 10


def rotations(binary, is_quick, table, directory, seed):
    count = QUICK_COUNT if is_quick else COUNT
    chance = random.Random(seed)
    kinds = [Rotations.KINDS[number % len(Rotations.KINDS)] for number in range(count)]
    chance.shuffle(kinds)
    # The check needs the time of each commit.
    with cluster(settings=["track_commit_timestamp=on"]) as server, Fleet(binary, directory, url(server)) as fleet:
        run = Rotations(fleet, server, chance)
        for kind in kinds:
            run.one(kind)
        faults = run.check()
    disturbed = ", ".join(f"{kinds.count(kind)} {kind}" for kind in Rotations.KINDS)
    table.title(f"{count} rotations over {len(fleet.gateways)} gateways: {disturbed} (seed {seed})")
    table.add("  signatures that callers have", len(run.load.answers), "signatures")
    table.add("  requests that failed", len(run.load.refusals), "requests")
    table.add("  from the order to the effect, undisturbed, median", statistics.median(run.seconds), "s", 2)
    table.add("  from the order to the effect, undisturbed, longest", max(run.seconds), "s")
    table.add("  with the wrong key, or without an entry", len(faults), "faults", 0)
    return faults
