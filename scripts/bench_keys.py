"""The lines of scripts/bench about the life of keys."""

import contextlib
import hashlib
import http.client
import json
import socket
import sqlite3
import statistics
import subprocess
import time

KEY_IDS = ("2X9R4HXF34", "7C4T2QLM9Z")


class AdminSocket(http.client.HTTPConnection):
    """The admin listener, as the user that the gateway runs as."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Rotation:
    """Keys take each other's places under load, and the log is asked what became of the second of each change."""

    changes = 6
    # Seconds. The second before a change and the second after it must not contain another change.
    pause = 2.5

    def __init__(self, bench, name, uris):
        self.bench = bench
        self.name = name
        self.uris = uris
        self.database = bench.place / f"rotation-{name.split()[0]}.db"
        self.admin = bench.place / f"rotation-{name.split()[0]}.sock"

    def measure(self):
        """Throughput in the second after each change against the second before it."""
        with self.gateway() as url:
            load = self.load(url)
            try:
                time.sleep(self.pause)
                for number in range(self.changes):
                    self.activate(KEY_IDS[(number + 1) % 2], KEY_IDS[number % 2])
                    time.sleep(self.pause)
            finally:
                load.terminate()
                load.wait()
        pairs = [self.around(instant) for instant in self.instants()]
        return [statistics.median(column) for column in zip(*[(after, before, after / before) for before, after in pairs])]

    @contextlib.contextmanager
    def gateway(self):
        configuration = self.bench.place / f"rotation-{self.name.split()[0]}.yaml"
        port = self.bench.free_port()
        keys = ", ".join(f'{{keyId: {key}, uri: "{uri}"}}' for key, uri in zip(KEY_IDS, self.uris))
        token = hashlib.sha256(self.bench.client_token.encode()).hexdigest()
        configuration.write_text(
            f"""
listeners:
  public: {{address: "127.0.0.1:{port}"}}
  admin: {{address: "unix:{self.admin}"}}
verification: off
drainDelay: 0
logging: {{level: info, format: json}}
audit: {{database: {self.database}}}
clients:
  - name: bench
    tokens: [{{sha256: "{token}"}}]
    allow:
      - {{apps: [com.example.app], features: ["*"], products: ["com.example.*"], offers: ["*"]}}
    rate: {{perSecond: 1000000, burst: 1000000}}
accounts:
  - issuerId: 57246542-96fe-1a63-e053-0824d011072a
    apps: [{{bundleId: com.example.app, features: [promotional-offer]}}]
    keys: [{keys}]
    activeKey: {KEY_IDS[0]}
"""
        )
        with self.bench.serving(configuration, f"http://127.0.0.1:{port}"):
            yield f"http://127.0.0.1:{port}/v1/apps/com.example.app/promotional-offer"

    def load(self, url):
        script = self.bench.place / "rotation.lua"
        body = json.dumps({"productId": "com.example.monthly", "offerIdentifier": "winback"})
        script.write_text(
            'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n'
            f'wrk.headers["Authorization"] = "Bearer {self.bench.client_token}"\nwrk.body = [==[{body}]==]\n'
        )
        seconds = round(self.pause * (self.changes + 3))
        command = ["wrk", "-t1", "-c32", f"-d{seconds}s", "-s", script, url]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def activate(self, new, old):
        connection = AdminSocket(self.admin)
        body = json.dumps({"reason": "scripts/bench", "retiring": old, "overlap": 3600})
        connection.request("POST", f"/v1/keys/{new}/activate", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"the key was not activated: {text.decode()}")

    # Entries of the log

    def instants(self):
        return [entry["time"] for entry in self.entries("life") if entry["action"] == "activate"]

    def around(self, instant):
        """Signatures in the second before an instant and in the one after it."""
        middle = milliseconds(instant)
        times = [milliseconds(entry["time"]) for entry in self.entries("signature")]
        return sum(middle - 1000 <= t < middle for t in times), sum(middle <= t < middle + 1000 for t in times)

    def entries(self, kind):
        if not hasattr(self, "log"):
            database = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
            self.log = [json.loads(body) for (body,) in database.execute("SELECT body FROM entry ORDER BY idx")]
        return [entry for entry in self.log if entry["kind"] == kind]


class ManyKeys:
    """Keys that a token makes, and a report about all of them."""

    def __init__(self, bench, uri, count):
        self.bench = bench
        self.ids = [f"BENCHKEY{number:02}" for number in range(count)]
        place, _, self.query = uri.partition("?")
        self.place = ";".join(part for part in place.split(";") if not part.startswith("object="))
        self.configuration = bench.place / "many-keys.yaml"

    def uri(self, key_id):
        return f"{self.place};object={key_id}?{self.query}"

    def report(self):
        """Seconds that it takes, the middle one of three."""
        keys = "".join(f'      - {{keyId: {key_id}, uri: "{self.uri(key_id)}"}}\n' for key_id in self.ids)
        self.configuration.write_text(
            f"""
listen: 127.0.0.1:{self.bench.free_port()}
anonymous: true
audit: {{database: {self.bench.place}/many-keys.db}}
accounts:
  - issuerId: 57246542-96fe-1a63-e053-0824d011072a
    apps: [{{bundleId: com.example.app, features: [promotional-offer]}}]
    activeKey: {self.ids[0]}
    keys:
{keys}"""
        )
        for key_id in self.ids:
            self.run("keys", "generate", "--into", self.uri(key_id), "--key-id", key_id, "--yes")
        times = []
        for _ in range(3):
            start = time.monotonic()
            # Some checks fail, because there was no drill.
            printed = self.run("compliance", "report", "--accept-software", "--format", "json", statuses=(0, 1))
            times.append(time.monotonic() - start)
            assert printed.count("BENCHKEY") >= len(self.ids), printed
        return statistics.median(times)

    def run(self, *arguments, statuses=(0,)):
        command = [self.bench.privyseal, *arguments, "--config", self.configuration]
        ended = subprocess.run(command, env=self.bench.environment, capture_output=True, text=True)
        if ended.returncode not in statuses:
            raise SystemExit(f"privyseal {arguments[0]} {arguments[1]} ended with {ended.returncode}: {ended.stderr}")
        return ended.stdout


def milliseconds(text):
    """Of a time of day: no run lasts longer than one."""
    hours, minutes, seconds = text[11:-1].split(":")
    return int(hours) * 3_600_000 + int(minutes) * 60_000 + round(float(seconds) * 1000)
