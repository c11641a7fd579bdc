"""A client of limited rate on four gateways: the sum of its signatures."""

from database_server import cluster, url
from fleet import Fleet, LimitedLoad

SECONDS, QUICK_SECONDS = 60, 10
# Of the allowed signatures.
TOLERANCE = 0.05


def limits(binary, is_quick, table, directory):
    seconds = QUICK_SECONDS if is_quick else SECONDS
    with cluster() as server:
        fleet = Fleet(binary, directory, url(server))
        load = LimitedLoad(fleet)
        with fleet:
            # The first gateway gets most requests.
            load.run(seconds, (0, 0, 0, 1, 2, 3))
    signed, allowed = load.statuses.count(200), load.PER_SECOND * seconds
    table.title(f"A client with {load.PER_SECOND} requests a second on {len(fleet.gateways)} gateways for {seconds} s")
    table.add("  signatures", signed, "signatures")
    table.add("  refused with 429", load.statuses.count(429), "requests")
    table.add("  other answers", len(load.statuses) - signed - load.statuses.count(429), "requests", 0)
    table.add("  away from what the limit allows", abs(signed - allowed) / allowed * 100, "%", TOLERANCE * 100)
