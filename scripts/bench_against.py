"""Compares two builds of the gateway, and the gateway with the Node.js servers that an app would run instead, in one run."""

import contextlib
import pathlib
import statistics
import subprocess
import time

FEATURE = "promotional-offer"


class Against:
    """The new build against the one in another directory: in each round, both get the same load one after the other."""

    def __init__(self, bench, other, tools):
        self.bench, self.other, self.tools = bench, other, tools
        self.body = tools.BODIES[FEATURE]

    def measure(self):
        figures = []
        for title, uri, has_audit, bar in [
            ("HTTP, file key", self.bench.file_uri, False, 0.85),
            ("HTTP, SoftHSM", self.bench.token_uri, False, 0.75),
            ("HTTP, file key, with an audit log", self.bench.file_uri, True, 0.85),
        ]:
            figures += self.load(title, uri, has_audit, bar)
        return figures + self.start()

    def load(self, title, uri, has_audit, bar):
        self.tools.say(f"{title}: this build and the other one …")
        rates, memory = [], {}
        with contextlib.ExitStack() as stack:
            urls = {}
            for name, program in [("new", None), ("old", self.other)]:
                audit = f"{{database: {self.bench.place}/{name}-{bar}-{len(title)}.db}}" if has_audit else "off"
                urls[name] = stack.enter_context(
                    self.bench.gateway(uri, audit=audit, name=f"{name}-build", program=program)
                )
            for number in range(self.bench.rounds):
                both = {
                    name: self.bench.rate(f"{url}/{FEATURE}", self.body, self.bench.client_token) for name, url in urls.items()
                }
                if number > 0 or self.bench.rounds < 4:
                    rates.append((both["new"], both["old"], both["new"] / both["old"]))
            memory = {name: resident(self.bench.running[f"{name}-build"]) for name in urls}
        new, old, ratio = (statistics.median(column) for column in zip(*rates))
        ratio_of_memory = memory["old"] / memory["new"]
        return [
            self.tools.figure(f"{title}: this build against the other", new, "signatures/s", old, ratio, bar),
            self.tools.figure(
                "  resident memory: other against this", memory["new"] / 1024, "MiB", memory["old"] / 1024, ratio_of_memory, 1
            ),
        ]

    def start(self):
        self.tools.say("Time to ready, SoftHSM: this build and the other one …")
        times = {"new": [], "old": []}
        for _ in range(9):
            for name, program in [("new", None), ("old", self.other)]:
                begun = time.monotonic()
                with self.bench.gateway(self.bench.token_uri, name=f"{name}-start", program=program):
                    times[name].append(time.monotonic() - begun)
        new, old = (statistics.median(times[name]) * 1000 for name in ("new", "old"))
        return [self.tools.figure("time to ready, SoftHSM: other against this", new, "ms", old, old / new, 1 / 1.2)]


class Peers:
    """The gateway with a file key against `scripts/peers/server.mjs`, without and with a cached key."""

    def __init__(self, bench, tools):
        self.bench, self.tools = bench, tools
        self.body = tools.BODIES[FEATURE]

    def measure(self):
        self.tools.say("HTTP, file key: the gateway and Node.js …")
        rates = {"gateway": [], "every request reads the key": [], "the key is cached": []}
        with self.bench.gateway(self.bench.file_uri, name="peers") as gateway, self.node() as plain, self.node(
            "--cache"
        ) as cached:
            for _ in range(self.bench.rounds):
                url = f"{gateway}/{FEATURE}"
                rates["gateway"].append(self.bench.rate(url, self.body, self.bench.client_token))
                rates["every request reads the key"].append(self.bench.rate(plain, self.body))
                rates["the key is cached"].append(self.bench.rate(cached, self.body))
        own = statistics.median(rates.pop("gateway"))
        return [
            self.tools.figure(
                f"HTTP, file key, against Node.js: {name}", own, "signatures/s", statistics.median(found),
                own / statistics.median(found),
            )
            for name, found in rates.items()
        ]

    @contextlib.contextmanager
    def node(self, *options):
        port = self.tools.free_port()
        server = pathlib.Path(__file__).parent / "peers" / "server.mjs"
        process = subprocess.Popen(["node", server, "--key", self.bench.key, "--port", str(port), *options])
        try:
            base = f"http://127.0.0.1:{port}"
            self.tools.wait_until_ready(base, process)
            yield f"{base}/offer"
        finally:
            process.terminate()
            process.wait(timeout=30)


def resident(pid):
    """Resident memory in KiB."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise SystemExit(f"the process {pid} has ended")
