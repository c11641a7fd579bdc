"""Audit logs in PostgreSQL against logs in SQLite, and two gateways against one."""

import contextlib
import os
import pathlib
import socket
import statistics
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Tests" / "EndToEnd" / "harness"))
from database_server import cluster, url

FEATURE = "promotional-offer"
# Connections to each of two gateways: few, so that the database and not the processor is the limit.
FEW = 2


class Fleet:
    def __init__(self, bench, tools):
        self.bench, self.tools = bench, tools
        self.body = tools.BODIES[FEATURE]

    def measure(self):
        with cluster() as server:
            return self.stores(server) + self.gateways(server) + self.activations(server)

    def gateway(self, name, database):
        """The URL of a running gateway; `database` is a setting of its audit log."""
        key = self.bench.place / f"fleet-{name}.key"
        audit = f"{{database: {database}, durability: oneServer, key: {key}, origin: bench/{name}}}"
        if not database.startswith("postgresql:"):
            audit = f"{{database: {database}}}"
        return self.bench.gateway(self.bench.file_uri, audit=audit, name=f"fleet-{name}")

    def rate(self, base, connections):
        return self.bench.rate(f"{base}/{FEATURE}", self.body, self.bench.client_token, connections)

    def counts(self, number):
        """Whether a round counts: the first one warms up."""
        return number > 0 or self.bench.rounds < 4

    def stores(self, server):
        self.tools.say("One gateway on PostgreSQL, and one on SQLite …")
        rates = {connections: ([], []) for connections in (32, 256)}
        work = {connections: Work() for connections in rates}
        with self.gateway("file", f"{self.bench.place}/fleet.db") as file, self.gateway("server", url(server)) as base:
            for number in range(self.bench.rounds):
                for connections, (on_server, on_file) in rates.items():
                    with work[connections].of(server):
                        on_server_now = self.rate(base, connections)
                    pair = on_server_now, self.rate(file, connections)
                    if self.counts(number):
                        on_server.append(pair[0])
                        on_file.append(pair[1])
        self.tools.say(Work.costs(*work.values()))
        return [
            self.tools.race(f"HTTP, file key, PostgreSQL against SQLite, {connections} connections", *pair, bar)
            for (connections, pair), bar in zip(rates.items(), (0.50, 0.70))
        ]

    def gateways(self, server):
        self.tools.say("Two gateways on one PostgreSQL, with 1 ms more for each commit …")
        one, two = [], []
        with SlowCommits(server.port, 0.001) as proxy, contextlib.ExitStack() as stack:
            bases = [stack.enter_context(self.gateway(f"slow-{n}", url(proxy.port))) for n in range(2)]
            for number in range(self.bench.rounds):
                single, both = self.rate(bases[0], FEW), sum(self.together(bases))
                if self.counts(number):
                    one.append(single)
                    two.append(both)
        name = f"two gateways against one, 1 ms more for each commit, {FEW} connections to each"
        return [self.tools.race(name, two, one, 1.80)]

    def activations(self, server):
        """From the order to the effect on all gateways, without load."""
        # They need libraries that the other parts do not need.
        import fleet
        from running import KEY_IDS

        self.tools.say("Activations of a key on four gateways …")
        seconds = []
        place = self.bench.place / "activations"
        place.mkdir()
        with fleet.Fleet(self.bench.privyseal, place, url(server)) as gateways:
            for number in range(2 * self.bench.rounds):
                old, new = KEY_IDS[number % 2], KEY_IDS[(number + 1) % 2]
                begun = time.monotonic()
                gateways.gateways[number % 4].activate(new, old, watch=0)
                seconds.append(time.monotonic() - begun)
        took = statistics.median(seconds)
        name = "activation over four gateways, from the order to the effect: 2 s"
        return [self.tools.figure(name, took * 1000, "ms", 2000, 2 / took, 1)]

    def together(self, bases):
        rates = []
        threads = [threading.Thread(target=lambda base=base: rates.append(self.rate(base, FEW))) for base in bases]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return rates


class Work:
    """What a server did: its processor time, its transactions and the entries that it got."""

    def __init__(self):
        self.seconds, self.batches, self.entries = 0.0, 0, 0

    @contextlib.contextmanager
    def of(self, server):
        before = self.counters(server)
        yield
        # A server process publishes its counts once a second.
        time.sleep(1.1)
        after = self.counters(server)
        self.seconds += after[0] - before[0]
        self.batches += after[1] - before[1]
        self.entries += after[2] - before[2]

    @staticmethod
    def counters(server):
        ticks = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = stat.read_text().rpartition(")")[2].split()
                if int(fields[1]) == server.process.pid:
                    ticks += int(fields[11]) + int(fields[12])
        query = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'privyseal'"
        entries = server.sql("SELECT coalesce(sum(size), 0) FROM privyseal.log", "privyseal")
        return ticks / os.sysconf("SC_CLK_TCK"), int(server.sql(query)), int(entries)

    @staticmethod
    def costs(few, many):
        """The server's processor time for a batch and for an entry, from two loads with batches of different sizes."""
        determinant = few.batches * many.entries - many.batches * few.entries
        batch = (few.seconds * many.entries - many.seconds * few.entries) / determinant
        entry = (few.batches * many.seconds - many.batches * few.seconds) / determinant
        sizes = " and ".join(f"{load.entries / load.batches:.1f}" for load in (few, many))
        return f"The server needs {batch * 1e6:.0f} µs for a batch and {entry * 1e6:.0f} µs for an entry (batches of {sizes})"


class SlowCommits:
    """Forwards connections to a server, and holds each COMMIT back for some seconds."""

    def __init__(self, port, delay):
        self.upstream, self.delay = port, delay
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.upstream))
                for channel in (client, server):
                    channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for source, target, delay in ((client, server, self.delay), (server, client, 0)):
                    threading.Thread(target=self._forward, args=(source, target, delay), daemon=True).start()

    @staticmethod
    def _forward(source, target, delay):
        with contextlib.suppress(OSError), source, target:
            while data := source.recv(1 << 16):
                if delay and b"COMMIT" in data:
                    time.sleep(delay)
                target.sendall(data)
