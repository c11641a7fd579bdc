"""The benchmark's driver; scripts/bench builds what it needs and runs it."""

import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import re
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from bench_against import Against, Peers
from bench_fleet import Fleet
from bench_keys import ManyKeys, Rotation
from bench_services import Services

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODULE = "/usr/lib/softhsm/libsofthsm2.so"
TOKEN = "privyseal-bench"
BODIES = {
    "legacy-promotional-offer": {
        "productId": "com.example.app.monthly",
        "offerIdentifier": "winback.3months",
        "appAccountToken": "7E3FB204-2F2B-4A05-9A9F-2F5E5C9E5A43",
    },
    "promotional-offer": {
        "productId": "com.example.app.monthly",
        "offerIdentifier": "winback.3months",
        "transactionId": "1000011859217",
    },
}
# Connections of the load, and thus the maximum number of signatures in one commit.
CONNECTIONS = 32
# Bytes of an entry in the audit log's database, without the search index.
BYTES_OF_AN_ENTRY = 480
SHORT = {"legacy-promotional-offer": "legacy", "promotional-offer": "JWS"}


def say(text):
    print(text, file=sys.stderr, flush=True)


def figure(name, value, unit, limit=None, ratio=None, bar=None):
    passes = None if ratio is None or bar is None else ratio >= bar
    return {"name": name, "value": value, "unit": unit, "limit": limit, "ratio": ratio, "bar": bar, "pass": passes}


def race(name, rates, limits, bar=None):
    """The rates of each round against a limit that was measured in the same rounds."""
    ratio = statistics.median(rate / limit for rate, limit in zip(rates, limits))
    return figure(name, statistics.median(rates), "signatures/s", statistics.median(limits), ratio, bar)


class Bench:
    def __init__(self, binaries, place, quick):
        self.bench = binaries / "privyseal-bench"
        self.privyseal = binaries / "privyseal"
        self.place = place
        # Process IDs of the gateways, by name.
        self.running = {}
        self.rounds = 3 if quick else 9
        self.seconds = 1 if quick else 3
        self.signatures = (10_000, 50_000) if quick else (100_000, 1_000_000)
        self.key = place / "AuthKey.p8"
        self.token = place / "token"
        self.environment = {**os.environ, "SOFTHSM2_CONF": str(self.token / "softhsm2.conf")}

    def prepare(self):
        """One key, in a file and in a token."""
        with open(os.open(self.key, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            command = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
            subprocess.run(command, stdout=file, check=True)
        make = [ROOT / "softhsm-config" / "make-token", "--directory", self.token, "--token", TOKEN]
        subprocess.run([*make, "--key-label", "bench", "--import", self.key], check=True, stdout=subprocess.DEVNULL)

        mint = subprocess.run([self.privyseal, "clients", "mint", "bench"], capture_output=True, text=True, check=True)
        self.client_token = mint.stdout.strip()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-subj", "/CN=bench", "-days", "2", "-keyout", self.place / "tls.key", "-out", self.place / "tls.pem"],
            check=True,
            stderr=subprocess.DEVNULL,
        )

    @property
    def file_uri(self):
        return f"file:{self.key}"

    @property
    def token_uri(self):
        return f"pkcs11:token={TOKEN};object=bench?module-path={MODULE}&pin-source=file:{self.token}/pin"

    @property
    def raw_token(self):
        return ["--module", MODULE, "--token", TOKEN, "--pin-file", str(self.token / "pin")]

    def run(self, *arguments):
        result = subprocess.run(
            [self.bench, *arguments], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        if result.returncode != 0:
            sys.exit(f"privyseal-bench {' '.join(map(str, arguments))} failed:\n{result.stderr}")
        return json.loads(result.stdout)

    def everything(self):
        figures = self.in_process()
        figures += self.http("file key", self.file_uri, "libcrypto", list(BODIES), 0.72)
        figures += self.http("SoftHSM", self.token_uri, "token", ["promotional-offer"], 0.75)
        figures += self.around()
        figures += self.audit()
        figures += self.keys()
        figures += self.services()
        figures += self.time_to_ready()
        return figures + self.memory()

    # In process

    def in_process(self):
        say("In process, file key …")
        rounds = ["--rounds", str(self.rounds)]
        rates = self.run("file", "--key", self.file_uri, *rounds)
        figures = [
            race("in process, file key, legacy: bytes to bytes", rates["legacy"], rates["raw"], 0.75),
            race("in process, file key, JWS: bytes to bytes", rates["jws"], rates["raw"], 0.75),
            race("the same JWS with verification: always", rates["verified"], rates["raw"]),
        ]
        say("In process, SoftHSM …")
        sizes, callers = (1, 2, 3, 4), 128
        command = ["token", "--key", self.token_uri, *self.raw_token, *rounds, "--operations", "8000"]
        command += [*(f"--sizes={size}" for size in sizes), f"--callers={callers}"]
        rates = self.run(*command)
        raw, pool = (max(range(len(sizes)), key=lambda index: statistics.median(rates[of][index])) for of in ("raw", "pool"))
        name = f"in process, SoftHSM, pool of {sizes[pool]}, {callers} callers (raw: {sizes[raw]} threads)"
        figures.append(race(name, rates["pool"][pool], rates["raw"][raw], 0.85))
        for size, ours, limit in zip(sizes, rates["pool"], rates["raw"]):
            figures.append(race(f"  pool of {size} against {size} raw", ours, limit))
        return figures

    # Over HTTP

    @contextlib.contextmanager
    def server(self, uri, *options):
        """The gateway without anything around it: no client, no policy, no metrics, no log."""
        port = free_port()
        process = subprocess.Popen(
            [self.bench, "serve", "--key", uri, "--port", str(port), *options], env=self.environment
        )
        try:
            wait_until_ready(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=30)

    @contextlib.contextmanager
    def gateway(self, uri, tls=False, audit="off", name=None, program=None, signers=""):
        """The whole program, as an operator runs it: a client with a token and a policy, metrics, a log at level info.

        `signers` has further settings, as YAML.
        """
        port, name = free_port(), name or ("tls" if tls else "plain")
        scheme = "https" if tls else "http"
        configuration = self.place / f"gateway-{name}.yaml"
        certificate = f", tls: {{certificate: {self.place}/tls.pem, key: {self.place}/tls.key}}" if tls else ""
        configuration.write_text(
            f"""
listeners:
  public: {{address: "127.0.0.1:{port}"{certificate}}}
  metrics: {{address: "127.0.0.1:{free_port()}"}}
verification: off
drainDelay: 0
logging: {{level: info, format: json}}
audit: {audit}
clients:
  - name: bench
    tokens: [{{sha256: "{hashlib.sha256(self.client_token.encode()).hexdigest()}"}}]
    allow:
      - {{apps: [com.example.app], features: ["*"], products: ["com.example.*"], offers: ["*"]}}
    rate: {{perSecond: 1000000, burst: 1000000}}
    dailyQuota: 1000000000
accounts:
  - issuerId: 57246542-96fe-1a63-e053-0824d011072a
    apps: [{{bundleId: com.example.app, features: [{", ".join(BODIES)}]}}]
    keys: [{{keyId: 2X9R4HXF34, uri: "{uri}"}}]
    activeKey: 2X9R4HXF34
{signers}
"""
        )
        with self.serving(configuration, f"{scheme}://127.0.0.1:{port}", name, program):
            yield f"{scheme}://127.0.0.1:{port}/v1/apps/com.example.app"

    @contextlib.contextmanager
    def serving(self, configuration, base, name=None, program=None):
        with open(configuration.with_suffix(".log"), "w") as log:
            command = [program or self.privyseal, "serve", "--config", configuration]
            process = subprocess.Popen(command, env=self.environment, stderr=log)
        self.running[name] = process.pid
        try:
            wait_until_ready(base, process)
            yield
        finally:
            process.terminate()
            process.wait(timeout=30)

    # Key lifecycle

    def keys(self):
        say("Keys that take each other's places under load …")
        uris = [self.file_uri, f"file:{self.another_key()}"]
        value, limit, ratio = Rotation(self, "file key", uris).measure()
        name = "change-over, file key: the second after against the second before"
        figures = [figure(name, value, "signatures/s", limit, ratio, 0.8)]
        count = 100
        say(f"A compliance report over {count} keys of a token …")
        took = ManyKeys(self, self.token_uri, count).report()
        name = f"compliance report over {count} keys: 10 s"
        return figures + [figure(name, took * 1000, "ms", 10_000, 10 / took, 1)]

    def services(self):
        return Services(self, sys.modules[__name__]).measure()

    def fleet(self):
        return Fleet(self, sys.modules[__name__]).measure()

    def another_key(self):
        path = self.place / "second.p8"
        command = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        path.chmod(0o600)
        return path

    @staticmethod
    def free_port():
        return free_port()

    def wrk(self, url, body, delay=None, token=None, connections=CONNECTIONS):
        """Load for some seconds; returns what wrk printed. `delay` is between requests of a connection, in ms."""
        script = self.place / f"load-{threading.get_ident()}.lua"
        lines = [
            'wrk.method = "POST"',
            'wrk.headers["Content-Type"] = "application/json"',
            f"wrk.body = [==[{json.dumps(body)}]==]",
        ]
        if token is not None:
            lines.append(f'wrk.headers["Authorization"] = "Bearer {token}"')
        if delay is not None:
            lines.append(f"function delay() return math.random(0, {2 * delay}) end")
        script.write_text("\n".join(lines) + "\n")
        command = ["wrk", "-t1", f"-c{connections}", f"-d{self.seconds}s", "--latency", "-s", script, url]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        if "Non-2xx" in printed or "Socket errors" in printed:
            sys.exit(f"the load met errors:\n{printed}")
        return printed

    def rate(self, url, body, token=None, connections=CONNECTIONS):
        printed = self.wrk(url, body, token=token, connections=connections)
        return float(re.search(r"Requests/sec:\s*([\d.]+)", printed)[1])

    def raw(self, of):
        return self.run("raw", *(self.raw_token if of == "token" else []))[of]

    def http(self, name, uri, limit_of, features, bar):
        """Each feature against 1 / (1 / empty + 1 / raw on all cores), all measured within a round."""
        say(f"HTTP, {name} …")
        measured = {feature: [] for feature in features}
        with self.server(uri) as base:
            for number in range(self.rounds):
                raw = self.raw(limit_of)
                for feature in features:
                    url = f"{base}/v1/apps/com.example.app/{feature}"
                    length = len(post(url, BODIES[feature]))
                    empty = self.rate(f"{base}/bench/empty/{length}", BODIES[feature])
                    rate = self.rate(url, BODIES[feature])
                    ideal = 1 / (1 / empty + 1 / raw)
                    if number > 0 or self.rounds < 4:
                        measured[feature].append((rate, ideal, rate / ideal, empty, raw))
            figures = []
            for feature in features:
                rate, ideal, ratio, empty, raw = (statistics.median(column) for column in zip(*measured[feature]))
                title = f"HTTP, {name}, {SHORT[feature]}"
                figures.append(figure(title, rate, "signatures/s", ideal, ratio, bar))
                figures.append(figure("  its empty route", empty, "requests/s"))
                figures.append(figure("  its raw signatures on all cores", raw, "signatures/s"))
            figures += self.latency(name, base, features[-1], rate)
        return figures

    def latency(self, name, base, feature, top):
        """At half of the top rate: connections that each wait at random so long that together they ask as often."""
        delay = max(1, round(CONNECTIONS / (top / 2) * 1000))
        printed = self.wrk(f"{base}/v1/apps/com.example.app/{feature}", BODIES[feature], delay)
        rate = float(re.search(r"Requests/sec:\s*([\d.]+)", printed)[1])
        figures = []
        for percentile in ("50", "99"):
            figures.append(figure(f"  p{percentile} at {rate:.0f} requests/s", milliseconds(printed, percentile), "ms"))
        p50, p99 = (line["value"] for line in figures)
        figures.append(figure(f"HTTP, {name}: three times p50, against p99, at half load", p99, "ms", 3 * p50, 3 * p50 / p99, 1))
        return figures

    # Clients, TLS and batches

    def around(self):
        """Ratios between servers that run side by side and are loaded in turn, each round its own."""
        say("HTTP: clients, metrics and a log against none of them, TLS against plain, batches against single calls …")
        feature = "promotional-offer"
        body, batch = BODIES[feature], {"requests": [BODIES[feature]] * 50}
        bars = {
            "token, policy, metrics and log, against none of them": ("signatures/s", 0.90),
            "TLS 1.3 on kept connections, against plain": ("signatures/s", 0.85),
            "batches of 50, against single calls": ("signatures/s", 1.5),
        }
        measured = {name: [] for name in bars}
        with self.server(self.file_uri) as bare, self.gateway(self.file_uri) as plain, self.gateway(
            self.file_uri, tls=True
        ) as tls:
            for number in range(self.rounds):
                without = self.rate(f"{bare}/v1/apps/com.example.app/{feature}", body)
                single = self.rate(f"{plain}/{feature}", body, self.client_token)
                secure = self.rate(f"{tls}/{feature}", body, self.client_token)
                many = 50 * self.rate(f"{plain}/{feature}/batch", batch, self.client_token)
                if number > 0 or self.rounds < 4:
                    for name, (value, limit) in zip(bars, [(single, without), (secure, single), (many, single)]):
                        measured[name].append((value, limit, value / limit))
        figures = []
        for name, (unit, bar) in bars.items():
            value, limit, ratio = (statistics.median(column) for column in zip(*measured[name]))
            figures.append(figure(f"HTTP, file key, {name}", value, unit, limit, ratio, bar))
        return figures

    # The audit log

    def audit(self):
        """Two gateways side by side, loaded in turn: one keeps a record, the other does not."""
        figures = []
        for name, uri in [("file key", self.file_uri), ("SoftHSM", self.token_uri)]:
            say(f"HTTP, {name}: audit on against off …")
            database = self.place / f"audit-{name.split()[0]}.db"
            body, feature = BODIES["promotional-offer"], "promotional-offer"
            with self.gateway(uri, name="audit-off") as off, self.gateway(
                uri, audit=f"{{database: {database}}}", name="audit-on"
            ) as on:
                measured, beside, rates = [], [], []
                for number in range(self.rounds):
                    without = self.rate(f"{off}/{feature}", body, self.client_token)
                    recorded = self.rate(f"{on}/{feature}", body, self.client_token)
                    with self.bare_sync(without / CONNECTIONS) as syncs:
                        disk = self.rate(f"{off}/{feature}", body, self.client_token)
                    if number > 0 or self.rounds < 4:
                        measured.append((recorded, without, recorded / without))
                        beside.append((disk, without, disk / without))
                        rates.append(syncs["rate"])
                value, limit, ratio = (statistics.median(column) for column in zip(*measured))
                figures.append(figure(f"HTTP, {name}, audit on against off", value, "signatures/s", limit, ratio))
                value, limit, ratio = (statistics.median(column) for column in zip(*beside))
                words = f"  no record, but {statistics.median(rates):.0f} bare fdatasync a second beside it"
                figures.append(figure(words, value, "signatures/s", limit, ratio))
                figures += self.added_latency(name, f"{off}/{feature}", f"{on}/{feature}", body, limit)
        return figures + self.ledger()

    @contextlib.contextmanager
    def bare_sync(self, rate):
        """What the disk alone takes of the machine, when as many signatures share a commit as there are connections."""
        command = [self.bench, "sync", "--file", self.place / "bare", "--rate", f"{rate:.0f}"]
        command += ["--bytes", str(CONNECTIONS * BYTES_OF_AN_ENTRY)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        result = {}
        try:
            # The process is ready, and continues until its input ends.
            if not process.stdout.readline():
                sys.exit("the disk could not be measured")
            yield result
            printed, _ = process.communicate(timeout=30)
            if process.returncode:
                sys.exit("the disk could not be measured")
            result["rate"] = float(printed)
        finally:
            process.kill()
            process.wait(timeout=30)

    def middle_pair(self, one, other, body, delay):
        """The 99th percentiles of both, in ms, from the pair of runs with the middle difference."""
        pairs = []
        for _ in range(3 if self.rounds < 4 else 5):
            both = [self.wrk(url, body, delay, self.client_token) for url in (one, other)]
            pairs.append([milliseconds(printed, "99") for printed in both])
        middle = statistics.median(b - a for a, b in pairs)
        return min(pairs, key=lambda pair: abs((pair[1] - pair[0]) - middle))

    def added_latency(self, name, off, on, body, top):
        """How much later the 99th percentile is at half of the top rate, in the middle one of some pairs."""
        delay = max(1, round(CONNECTIONS / (top / 2) * 1000))
        without, recorded = self.middle_pair(off, on, body, delay)
        added = max(recorded - without, 0.001)
        return [
            figure("  p99 at half load without a record", without, "ms"),
            figure("  p99 at half load with a record", recorded, "ms"),
            figure(f"HTTP, {name}: what the record adds to p99 at half load", added, "ms"),
        ]

    def ledger(self):
        """What a log of many entries costs to verify, to search, to keep and to start with."""
        count = 100_000 if self.rounds < 4 else 1_000_000
        say(f"An audit log of {count:,} entries …")
        database = self.place / "ledger.db"
        checkpoints = self.place / "ledger.checkpoints"
        self.run_plainly(
            "ledger", "--database", database, "--count", str(count), "--checkpoints", checkpoints
        )
        start = self.start_with(database)
        self.wait_for_index(database, count)
        size = sum(path.stat().st_size for path in self.place.glob("ledger*db*"))
        location = ["--database", database, "--key", f"{database}.key.pub"]
        verify, memory = self.time_of("verify", "--quiet", *location)
        beside, memory_beside = self.time_of("verify", "--quiet", *location, "--checkpoints", checkpoints)
        figures = [
            figure(f"audit verify, {count:,} entries on one core: 10 s", verify * 1000, "ms", 10_000, 10 / verify, 1),
            figure("  its memory: 200 MiB", memory / 1024, "MiB", 200, 200 * 1024 / memory, 1),
            figure(f"  and {count // 2:,} checkpoints: 10 s", beside * 1000, "ms", 10_000, 10 / beside, 1),
            figure("  its memory: 200 MiB", memory_beside / 1024, "MiB", 200, 200 * 1024 / memory_beside, 1),
            figure("audit: 900 bytes on disk a signature", size / count, "bytes", 900, 900 * count / size, 1),
            figure(f"audit: time to ready with {count:,} entries: 1 s", start * 1000, "ms", 1000, 1 / start, 1),
        ]
        day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 10 * 86400))
        for title, terms in [
            ("a rare product", ["--product", "com.example.app.product180"]),
            ("a common product", ["--product", "com.example.app.product3"]),
            ("a day", ["--day", day]),
            ("a product on a day", ["--product", "com.example.app.product3", "--day", day]),
        ]:
            times = [self.time_of("search", "--database", database, *terms)[0] for _ in range(5)]
            found = statistics.median(times) * 1000
            figures.append(figure(f"audit search by {title}: 200 ms", found, "ms", 200, 200 / found, 1))
        return figures

    def run_plainly(self, *arguments):
        subprocess.run([self.bench, *arguments], env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def start_with(self, database):
        """Seconds from the start to the first good answer of /readyz, the middle one of five."""
        times = []
        for _ in range(5):
            start = time.monotonic()
            with self.gateway(self.file_uri, audit=f"{{database: {database}}}", name="ledger"):
                times.append(time.monotonic() - start)
        return statistics.median(times)

    def wait_for_index(self, database, count):
        """The gateway indexes while it serves."""
        with self.gateway(self.file_uri, audit=f"{{database: {database}}}", name="ledger"):
            index = database.with_suffix(".index.db")
            for _ in range(1200):
                query = "SELECT count(*) FROM segment"
                printed = subprocess.run(["sqlite3", "-readonly", index, query], capture_output=True, text=True).stdout
                if printed.strip() and int(printed) >= count // 4096:
                    return
                time.sleep(0.1)
        sys.exit("the search index was not made within two minutes")

    def time_of(self, *arguments):
        """Seconds of a command on one core, and its memory in KiB."""
        printed = self.place / "printed"
        with open(printed, "wb") as output:
            start = time.monotonic()
            process = subprocess.Popen(
                [self.privyseal, "audit", *arguments],
                stdout=output,
                preexec_fn=lambda: os.sched_setaffinity(0, {0}),
            )
            _, status, usage = os.wait4(process.pid, 0)
            took = time.monotonic() - start
        if status != 0:
            sys.exit(f"privyseal audit {arguments[0]} ended with status {os.waitstatus_to_exitcode(status)}")
        if not printed.stat().st_size:
            sys.exit(f"privyseal audit {arguments[0]} printed nothing")
        return took, usage.ru_maxrss

    # Start and memory

    def time_to_ready(self):
        say("Time to ready …")
        configuration = self.place / "gateway.yaml"
        times = []
        for _ in range(5):
            port = free_port()
            configuration.write_text(
                f"""
listen: 127.0.0.1:{port}
anonymous: true
drainDelay: 0
audit: off
accounts:
  - issuerId: 57246542-96fe-1a63-e053-0824d011072a
    apps: [{{bundleId: com.example.app, features: [promotional-offer]}}]
    keys: [{{keyId: 2X9R4HXF34, uri: "{self.token_uri}"}}]
    activeKey: 2X9R4HXF34
"""
            )
            start = time.monotonic()
            command = [self.privyseal, "serve", "--config", configuration]
            process = subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL)
            try:
                wait_until_ready(f"http://127.0.0.1:{port}", process)
                times.append(time.monotonic() - start)
            finally:
                process.terminate()
                process.wait(timeout=30)
        return [figure("time to ready, SoftHSM", statistics.median(times) * 1000, "ms")]

    def memory(self):
        figures = []
        for name, uri in [("file key", self.file_uri), ("SoftHSM", self.token_uri)]:
            say(f"Memory, {name} …")
            marks = [f"--marks={mark}" for mark in self.signatures]
            first, second = self.run("memory", "--key", uri, *marks)
            title = f"resident memory, {name}, after {self.signatures[1]:,} signatures against {self.signatures[0]:,}"
            figures.append(figure(title, second / 1024, "MiB", first / 1024, first / second, 0.95))
        return figures


def milliseconds(printed, percentile):
    number, unit = re.search(rf"{percentile}%\s+([\d.]+)(us|ms|s)\b", printed).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()


def wait_until_ready(base, process):
    for _ in range(3000):
        if process.poll() is not None:
            sys.exit(f"the server ended with status {process.returncode}")
        try:
            with urllib.request.urlopen(f"{base}/readyz", timeout=5, context=ssl._create_unverified_context()):
                return
        except OSError:
            time.sleep(0.01)
    sys.exit("the server did not get ready within 30 s")


def table(figures):
    def number(value, pattern):
        return "" if value is None else format(value, pattern)

    print(f"{'':84} {'measured':>11} {'':13} {'limit':>9} {'ratio':>6} {'bar':>5}")
    for line in figures:
        verdict = {None: "", True: "pass", False: "SHORT"}[line["pass"]]
        pattern = ",.2f" if line["unit"] == "ms" else ",.0f"
        print(
            f"{line['name']:84} {number(line['value'], pattern):>11} {line['unit']:13}"
            f" {number(line['limit'], ',.0f'):>9} {number(line['ratio'], '.3f'):>6} {number(line['bar'], '.2f'):>5} {verdict}"
        )


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench")
    parser.add_argument("binaries", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="print an array of figures instead of a table")
    parser.add_argument("--only", choices=["audit", "fleet", "keys", "services"], help="measure this part alone")
    parser.add_argument(
        "--against", type=pathlib.Path, metavar="DIRECTORY", help="compare with the release build in this checkout, and nothing else"
    )
    parser.add_argument("--peers", action="store_true", help="compare with Node.js, and nothing else")
    parser.add_argument("--quick", action="store_true", help="fewer rounds; for a look, not for a verdict")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="privyseal-bench-") as place:
        bench = Bench(options.binaries, pathlib.Path(place), options.quick)
        bench.prepare()
        tools = sys.modules[__name__]
        figures = []
        if options.against:
            figures += Against(bench, options.against / ".build" / "release" / "privyseal", tools).measure()
        if options.peers:
            figures += Peers(bench, tools).measure()
        if not figures:
            parts = {"audit": bench.audit, "fleet": bench.fleet, "keys": bench.keys, "services": bench.services}
            figures = parts.get(options.only, bench.everything)()
    if options.json:
        print(json.dumps(figures, indent=1))
    else:
        table(figures)
    sys.exit(1 if any(line["pass"] is False for line in figures) else 0)


main()
