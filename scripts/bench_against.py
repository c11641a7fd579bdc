"""Compares two builds of the gateway, and the gateway with the Node.js servers that an app would run instead, in one run."""

import contextlib
import pathlib
import statistics
import subprocess
import time

FEATURE = "promotional-offer"


class Against:
    """The new build against the one in another directory: in each round, both get the same load one after the other.

    A figure has two limits, both of a server that does only the unavoidable part: without signer processes, it answers a
    request without any work, and makes raw signatures on all cores; with them, it reads a request, has a signer sign a digest,
    and records an entry if the other one does.
    """

    def __init__(self, bench, other, tools):
        self.bench, self.other, self.tools = bench, other, tools
        self.body = tools.BODIES[FEATURE]

    def measure(self):
        token, file = self.bench.token_uri, self.bench.file_uri
        figures = []
        for title, uri, has_audit, processes, bar in [
            ("HTTP, SoftHSM, one signer process", token, False, 1, 1.00),
            ("HTTP, SoftHSM, two signer processes", token, False, 2, 1.15),
            ("HTTP, file key", file, False, 1, 0.90),
            ("HTTP, SoftHSM, with an audit log", token, True, 1, 1.00),
        ]:
            figures += self.load(title, uri, has_audit, processes, bar)
        return figures + self.signers() + self.start()

    def load(self, title, uri, has_audit, processes, bar):
        """Rates, and the 99th percentile at half load. The other build may have no signers."""
        self.tools.say(f"{title}: this build and the other one …")
        rates, limits, signed = [], [], []
        with contextlib.ExitStack() as stack:
            urls = {}
            for name, program in [("new", None), ("old", self.other)]:
                audit = f"{{database: {self.bench.place}/{name}-{len(title)}.db}}" if has_audit else "off"
                signers = f"signers: [{{name: softhsm2, processes: {processes}}}]" if name == "new" and processes > 1 else ""
                urls[name] = stack.enter_context(
                    self.bench.gateway(uri, audit=audit, name=f"{name}-build", program=program, signers=signers)
                )
            database = self.bench.place / f"least-{len(title)}.db" if has_audit else None
            base = stack.enter_context(self.least(uri, processes, database))
            empty, signing = f"{base}/bench/empty/600", f"{base}/bench/signed/600"
            for number in range(self.bench.rounds):
                both = {
                    name: self.bench.rate(f"{url}/{FEATURE}", self.body, self.bench.client_token) for name, url in urls.items()
                }
                least = self.bench.rate(signing, self.body)
                if number > 0 or self.bench.rounds < 4:
                    rates.append((both["new"], both["old"], both["new"] / both["old"]))
                    signed.append((least, least / both["old"]))
                    raw = self.raw(uri, processes)
                    limits.append(1 / (1 / self.bench.rate(empty, self.body) + 1 / raw) / both["old"])
            memory = {name: resident(self.bench.running[f"{name}-build"]) for name in urls}
            new, old, ratio = (statistics.median(column) for column in zip(*rates))
            limit = statistics.median(limits)
            least, share = (statistics.median(column) for column in zip(*signed))
            delay = max(1, round(self.tools.CONNECTIONS / (min(new, old) / 2) * 1000))
            pair = (f"{urls[name]}/{FEATURE}" for name in ("old", "new"))
            before, now = self.bench.middle_pair(*pair, self.body, delay)
        return [
            self.tools.figure(f"{title}: this build against the other", new, "signatures/s", old, ratio, bar),
            self.tools.figure("  the limit without signer processes, against the other", limit * old, "signatures/s", old, limit),
            self.tools.figure("  the limit with signer processes, against the other", least, "signatures/s", old, share),
            self.tools.figure("  p99 at half load: 1 ms more than the other", now, "ms", before + 1, (before + 1) / now, 1),
            self.tools.figure("  resident memory of the gateway", memory["new"] / 1024, "MiB", memory["old"] / 1024),
        ]

    @contextlib.contextmanager
    def least(self, uri, processes, database):
        """The server of the limits."""
        with self.signer() as socket:
            options = ["--signer", socket, "--processes", str(processes)]
            with self.bench.server(uri, *options, *(["--database", database] if database else [])) as base:
                yield base

    @contextlib.contextmanager
    def signer(self):
        """A signer that runs on its own; yields its socket."""
        socket = self.bench.place / "signer.sock"
        process = subprocess.Popen([self.bench.privyseal, "signer", "--listen", socket], env=self.bench.environment)
        try:
            while not socket.is_socket():
                time.sleep(0.01)
            yield socket
        finally:
            process.terminate()
            process.wait(timeout=30)
            socket.unlink()

    def raw(self, uri, processes):
        """Raw signatures per second: of libcrypto or of a token in one process, or of a token in several processes."""
        if uri == self.bench.file_uri:
            return self.bench.raw("libcrypto")
        return self.bench.raw("token") if processes == 1 else self.raw_loops(processes)

    def signers(self):
        """From a digest to a verified signature, with two signer processes; the limits are raw loops in two processes, alone
        and with the same verifications."""
        self.tools.say("SoftHSM in two signer processes: from a digest to a verified signature …")
        measured = []
        with self.signer() as socket:
            for number in range(self.bench.rounds):
                raw = self.raw_loops(2)
                ours = self.bench.run("signers", "--key", self.bench.token_uri, "--signer", socket, "--processes", "2")
                limit = 1 / (1 / raw + 1 / ours["verified"])
                if number > 0 or self.bench.rounds < 4:
                    measured.append((ours["signed"], raw, ours["signed"] / raw, limit, ours["signed"] / limit))
        signed, raw, ratio, limit, share = (statistics.median(column) for column in zip(*measured))
        name = "SoftHSM in two processes, digest to verified signature"
        return [
            self.tools.figure(f"{name}: against raw loops in two processes", signed, "signatures/s", raw, ratio, 0.75),
            self.tools.figure("  against the same loops with a verification of each", signed, "signatures/s", limit, share),
        ]

    def raw_loops(self, count):
        command = [self.bench.bench, "raw-token", *self.bench.raw_token]
        loops = []
        for _ in range(count):
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            loops.append(subprocess.Popen(command, env=self.bench.environment, text=True, **pipes))
            # SoftHSM may miss keys while another process opens the token.
            if not loops[-1].stdout.readline():
                raise SystemExit("the raw loop could not open the token")
        for loop in loops:
            loop.stdin.write("\n")
            loop.stdin.flush()
        return sum(float(loop.communicate(timeout=120)[0]) for loop in loops)

    def start(self):
        self.tools.say("Time to ready, SoftHSM: this build and the other one …")
        times = {"new": [], "old": []}
        for _ in range(9):
            for name, program in [("new", None), ("old", self.other)]:
                begun = time.monotonic()
                with self.bench.gateway(self.bench.token_uri, name=f"{name}-start", program=program):
                    times[name].append(time.monotonic() - begun)
        new, old = (statistics.median(times[name]) * 1000 for name in ("new", "old"))
        title = "time to ready, SoftHSM, one signer: 50 ms more than the other"
        return [self.tools.figure(title, new, "ms", old + 50, (old + 50) / new, 1)]


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
