"""The gateways of a fleet under load: kills, restarts and failovers of the database, and silent networks."""

import contextlib
import random
import signal
import threading
import time

from auditing import KeepingLoad
from database_server import Proxy, Server, cluster, url
from postgresql import GatewayOnPostgreSQL, everything_wrong
from running import FileKeys

GATEWAYS = 4
# Kills, restarts of the primary server, failovers, silent networks.
COUNTS, QUICK_COUNTS = (100, 20, 10, 10), (8, 2, 2, 2)


# Every standby has this name, and waits for a standby of this name once it is the primary server.
STANDBY = "standby"


def standby_of(primary, name):
    return Server(primary.directory, name, [f"synchronous_standby_names={STANDBY}"])


class Fleet:
    """A primary server, its synchronous standby, and gateways that are killed and started again."""

    def __init__(self, binary, directory, servers, seed):
        self.primary, self.standby = servers
        self.chance = random.Random(seed)
        self.proxies = [Proxy(server.port) for server in servers]
        self.gateways = []
        keys = FileKeys(directory)
        section = f"fleet: {{origin: test/{directory.name}/fleet, key: {directory}/fleet.key, staleness: 3}}\n"
        for number in range(GATEWAYS):
            place = directory / f"gateway-{number}"
            place.mkdir()
            database = url(*(proxy.port for proxy in self.proxies))
            chance = random.Random(seed + number + 1)
            self.gateways.append(RestartedGateway(binary, place, keys, database, section, chance))

    # Faults of servers and networks

    def restart(self):
        self.primary.restart(self.chance.choice([signal.SIGINT, signal.SIGQUIT]))

    def fail_over(self, number):
        """Loses the primary server, promotes the standby, and makes a new standby in the place of the lost server."""
        lost, new = self.primary, self.standby
        lost.stop(signal.SIGQUIT)
        new.promote()
        new.await_("SELECT pg_is_in_recovery()", "f")
        standby = standby_of(new, f"server{number}")
        standby.port = lost.port
        new.make_standby(standby, STANDBY)
        self.primary, self.standby = new, standby

    def silence(self):
        for proxy in self.proxies:
            proxy.pause()
        time.sleep(3)
        for proxy in self.proxies:
            proxy.go_on()

    def await_signatures(self):
        """Waits until each gateway signs."""
        now = time.monotonic()
        end = now + 60
        while not all(gateway.has_signed_since(now) for gateway in self.gateways):
            assert time.monotonic() < end, [gateway.service.tail(3) for gateway in self.gateways]
            time.sleep(0.05)


class RestartedGateway:
    """A gateway under load in a thread of its own, which kills it at random times and starts it again."""

    def __init__(self, binary, directory, keys, database, section, chance):
        self.service = GatewayOnPostgreSQL(binary, directory, keys, database, audit="writeTimeout: 1", more=section)
        self.chance = chance
        self.kills = 0
        self.signed, self.unanswered, self.surprises, self.answers = [], set(), [], []
        self.load = None
        self.mayKill, self.isEnding = threading.Event(), threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self._guarded, daemon=True)

    def _guarded(self):
        try:
            self._run()
        except BaseException as error:
            self.failure = error

    def _run(self):
        while not self.isEnding.is_set():
            self.service.start()
            self.load = KeepingLoad(self.service, 2, pause=0.02)
            until = time.monotonic() + self.chance.uniform(0.5, 4)
            while not self.isEnding.is_set() and not (self.mayKill.is_set() and time.monotonic() > until):
                time.sleep(0.02)
            if self.isEnding.is_set():
                self.load.stop()
                self.service.stop()
            else:
                self.service.kill()
                self.load.stop()
                self.kills += 1
            self.signed += self.load.signed
            self.unanswered |= self.load.unanswered | self.load.refused
            self.surprises += self.load.surprises
            self.answers += self.load.answers

    def has_signed_since(self, moment):
        assert self.failure is None, self.failure
        load = self.load
        return load is not None and any(now > moment and status == 200 for now, status, _ in load.answers[-50:])


def fleet(binary, is_quick, table, directory, seed):
    kills, restarts, failovers, silences = QUICK_COUNTS if is_quick else COUNTS
    with cluster() as primary, contextlib.ExitStack() as stack:
        standby = standby_of(primary, STANDBY)
        primary.make_standby(standby)
        primary.require(STANDBY)
        fleet = Fleet(binary, directory, (primary, standby), seed)
        for proxy in fleet.proxies:
            stack.enter_context(proxy)
        # The first start makes the tables and the logs.
        for gateway in fleet.gateways:
            with gateway.service:
                pass
            gateway.thread.start()
        fleet.await_signatures()
        begun = time.monotonic()
        faults = ["restart"] * restarts + ["failover"] * failovers + ["silence"] * silences
        fleet.chance.shuffle(faults)
        for gateway in fleet.gateways:
            gateway.mayKill.set()
        for number, fault in enumerate(faults):
            {"restart": fleet.restart, "failover": lambda number=number: fleet.fail_over(number), "silence": fleet.silence}[
                fault
            ]()
            fleet.await_signatures()
        while sum(gateway.kills for gateway in fleet.gateways) < kills:
            time.sleep(0.1)
        for gateway in fleet.gateways:
            gateway.mayKill.clear()
        fleet.await_signatures()
        took = time.monotonic() - begun
        for gateway in fleet.gateways:
            gateway.isEnding.set()
        for gateway in fleet.gateways:
            gateway.thread.join(120)
            assert gateway.failure is None and not gateway.thread.is_alive(), gateway.failure
        wrong = [
            f"{gateway.service.origin}: {fault}"
            for gateway in fleet.gateways
            for fault in gateway.surprises
            + everything_wrong(fleet.primary, gateway.service, gateway.signed, gateway.unanswered)
        ]
        answers = [answer for gateway in fleet.gateways for answer in gateway.answers]
        times = sorted(now for now, status, _ in answers if status == 200)
        gaps = [after - before for before, after in zip(times, times[1:])]
        counted = sum(gateway.kills for gateway in fleet.gateways)
        table.title(
            f"{GATEWAYS} gateways: {counted} × kill -9, {restarts} restarts, {failovers} failovers, {silences} silences "
            f"(seed {seed})"
        )
        table.add("  signatures that callers have", len(times), "signatures")
        table.add("  requests refused with 503", sum(status != 200 for _, status, _ in answers), "requests")
        table.add("  the whole run", took, "s")
        table.add("  without a signature by any gateway, together", sum(gap for gap in gaps if gap > 0.5), "s")
        table.add("  the longest time without one", max(gaps), "s")
        table.add("  without an entry, twice there, or not as the log is signed", len(wrong), "faults", 0)
        return wrong
