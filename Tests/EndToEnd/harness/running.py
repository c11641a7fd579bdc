"""Conditions that a gateway must withstand: slow clients, reloads, and changes of certificates under load. The tests
run them briefly, scripts/soak for long."""

import gc
import http.client
import json
import math
import multiprocessing
import os
import pathlib
import re
import resource
import selectors
import signal
import socket
import ssl
import subprocess
import threading
import time

from authority import Authority, client_context
from cryptography.hazmat.primitives import serialization
from service import Service, digest, exchange, mint, write_key, write_secret

APP, OTHER_APP = "com.example.app", "com.example.other"
OFFER = f"/v1/apps/{APP}/promotional-offer"
BODY = {"productId": "com.example.monthly", "offerIdentifier": "winback"}
SOFTHSM = os.environ.get("SOFTHSM2_MODULE", "/usr/lib/softhsm/libsofthsm2.so")
KEY_IDS = ("2X9R4HXF34", "3Y8S5JYG45", "4Z7T6KZH56")
ISSUER_ID = "57246542-96fe-1a63-e053-0824d011072a"


def request_bytes(token, host="localhost"):
    body = json.dumps(BODY).encode()
    head = (
        f"POST {OFFER} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode(), body


def clients(token, *more):
    """The `clients` of a configuration: one that may request everything, and others."""
    return "\n".join(["clients:", allowed("load", token), *more])


def allowed(name, token, apps='["*"]', burst=1_000_000):
    return f"""  - name: {name}
    tokens: [{{sha256: "{digest(token)}"}}]
    allow: [{{apps: {apps}, features: ["*"], products: ["*"], offers: ["*"]}}]
    rate: {{perSecond: 100000, burst: {burst}}}"""


# A well-behaved client


class SteadyClient:
    """Sends requests at a constant rate on one connection, independent of the duration of the answers."""

    def __init__(self, address, token, per_second=200, trusted=()):
        """Uses TLS if authorities are given."""
        self.channel = socket.create_connection(address, timeout=30)
        self.channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if trusted:
            self.channel = client_context(trusted).wrap_socket(self.channel, server_hostname="localhost")
        self.request = b"".join(request_bytes(token))
        self.interval = 1 / per_second

    def measure(self, seconds):
        """The times in ms from each request's due time to the end of its answer."""
        times = []
        gc.disable()
        try:
            begin = time.perf_counter()
            for number in range(round(seconds / self.interval)):
                due = begin + number * self.interval
                if (wait := due - time.perf_counter()) > 0:
                    time.sleep(wait)
                # A sleep that is too long is a delay of this machine, not of the gateway.
                due = max(due, time.perf_counter()) if wait > 0 else due
                self.ask()
                times.append((time.perf_counter() - due) * 1000)
        finally:
            gc.enable()
        return times

    def ask(self):
        self.channel.sendall(self.request)
        answer = b""
        while True:
            answer += (chunk := self.channel.recv(65536))
            assert chunk, f"the connection was closed in an answer: {answer!r}"
            head, end, rest = answer.partition(b"\r\n\r\n")
            if end and len(rest) >= int(re.search(rb"(?i)content-length: *(\d+)", head)[1]):
                assert head.startswith(b"HTTP/1.1 200"), answer
                return

    def close(self):
        self.channel.close()


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, math.ceil(share * len(times)) - 1)]


# Slow clients


class SlowClients:
    """Many connections in a separate process, each with a byte per second. A new connection replaces each that ends."""

    def __init__(self, address, count, scripts):
        """`scripts`: (bytes to send at once, bytes to send one by one) for each connection, in turn."""
        raise_descriptor_limit(count + 100)
        context = multiprocessing.get_context("fork")
        self.parent, child = context.Pipe()
        self.process = context.Process(target=drive_slowly, args=(address, count, scripts, child), daemon=True)
        self.process.start()
        child.close()

    def wait_until_connected(self):
        assert self.parent.poll(60), "the slow connections did not come about"
        assert self.parent.recv() == "connected"

    def wait_for_ends(self, seconds):
        """Waits until each of the first connections has ended."""
        assert self.parent.poll(seconds), f"not every slow connection was ended within {seconds} s"
        assert self.parent.recv() == "ended"

    def stop(self):
        """How each connection ended: [(script, seconds from its first byte, answer)]. The answer is "open" if the
        connection has not ended."""
        self.parent.send("stop")
        while not isinstance(result := self.parent.recv(), list):
            pass
        self.process.join(30)
        return result

    def __enter__(self):
        self.wait_until_connected()
        return self

    def __exit__(self, *_):
        if self.process.is_alive():
            self.process.terminate()
            self.process.join(30)


def raise_descriptor_limit(count):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(soft, count)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))


class SlowConnection:
    def __init__(self, address, number, script):
        self.number, self.script = number, script
        self.at_once, self.rest = script
        self.sent, self.answer = 0, b""
        self.channel = socket.socket()
        self.channel.setblocking(False)
        self.channel.connect_ex(address)
        self.begun = None


def drive_slowly(address, count, scripts, pipe):
    selector = selectors.DefaultSelector()
    opened, ended = [], []
    due = [(time.monotonic() + index / count, index, None) for index in range(count)]
    is_connected = has_ended = False
    first_ends = set()
    while not (pipe.poll() and pipe.recv() == "stop"):
        now = time.monotonic()
        # `due` is sorted by time: a byte is due after a second, the longest interval.
        while due and due[0][0] <= now:
            _, index, connection = due.pop(0)
            if connection is None:
                connection = SlowConnection(address, index, scripts[index % len(scripts)])
                selector.register(connection.channel, selectors.EVENT_READ, connection)
                opened.append(connection)
            if connection.channel.fileno() >= 0:
                trickle(connection)
                due.append((now + 1, index, connection))
            else:
                due.append((now + 0.05, index, None))
                due.sort(key=lambda entry: entry[0])
        for key, _ in selector.select(max(0, min(0.05, due[0][0] - now)) if due else 0.05):
            if is_over(key.data):
                selector.unregister(key.fileobj)
                key.data.channel.close()
                if key.data.begun is not None:
                    status = key.data.answer.split(b" ", 2)[1].decode() if key.data.answer else "closed"
                    ended.append((key.data.number % len(scripts), time.monotonic() - key.data.begun, status))
                    first_ends.add(key.data.number)
        if not is_connected and sum(1 for connection in opened[:count] if connection.begun is not None) == count:
            is_connected = True
            pipe.send("connected")
        if is_connected and not has_ended and len(first_ends) == count:
            has_ended = True
            pipe.send("ended")
    for key in list(selector.get_map().values()):
        key.fileobj.close()
        if key.data.begun is not None:
            ended.append((key.data.number % len(scripts), time.monotonic() - key.data.begun, "open"))
    pipe.send(ended)


def trickle(connection):
    """Sends the due bytes of a connection."""
    try:
        if connection.begun is None:
            connection.channel.send(connection.at_once or connection.rest[:1])
            connection.begun = time.monotonic()
        else:
            at = connection.sent % len(connection.rest)
            connection.channel.send(connection.rest[at : at + 1])
        connection.sent += 1
    except BlockingIOError:
        pass
    except OSError:
        # The connection has ended; the next read reports how.
        pass


def is_over(connection):
    try:
        chunk = connection.channel.recv(65536)
    except BlockingIOError:
        return False
    except OSError:
        return True
    connection.answer += chunk
    return not chunk


def slow_scripts(token):
    """An endless header, and a slow body of a known client."""
    head, _ = request_bytes(token)
    endless = b"X-Slow: " + b"a" * 4000 + b"\r\n"
    line, _, _ = head.partition(b"\r\n")
    slow_body = re.sub(rb"Content-Length: \d+", b"Content-Length: 60000", head)
    return [(b"", line + b"\r\n" + endless), (slow_body, b" " * 60000)]


def slow_hello():
    """The first bytes of a TLS handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        session.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return [(b"", outgoing.read()[:-1])]


# Load during a change


class Load:
    """A `wrk` process that runs until `stop`."""

    def __init__(self, directory, url, token, connections=16, delay=3):
        """`delay`: the mean pause of each connection between two requests, in ms."""
        script = directory / "load.lua"
        script.write_text(f"""
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer {token}"
wrk.body = [==[{json.dumps(BODY)}]==]
function delay() return math.random(0, {2 * delay}) end
function response(status, header, body)
  if status ~= 200 then print("unexpected " .. status .. " " .. body) end
end
""")
        command = [
            "wrk",
            "-t1",
            f"-c{connections}",
            "-d3600s",
            "--timeout",
            "10s",
            "--latency",
            "-s",
            script,
            url + OFFER,
        ]
        # Into a file: a full pipe without a reader would block the process.
        self.printed = directory / "load.txt"
        with open(self.printed, "wb") as printed:
            self.process = subprocess.Popen(command, stdout=printed, stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self):
        """(requests, failures); prints the failures."""
        assert self.process.poll() is None, f"the load ended by itself: {self.printed.read_text()}"
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)
        printed = self.printed.read_text()
        requests = int(re.search(r"(\d+) requests in", printed)[1])
        failed = int((re.search(r"Non-2xx or 3xx responses: (\d+)", printed) or [0, 0])[1])
        if errors := re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", printed):
            failed += sum(map(int, errors.groups()))
        for line in printed.splitlines():
            if line.startswith("unexpected") or "Socket errors" in line:
                print(line)
        return requests, failed


# Reloads


class FileKeys:
    """Keys in files, one of which is encrypted."""

    def __init__(self, directory, environment=()):
        self.directory = directory
        self.environment = {}
        keys = [write_key(directory / f"AuthKey_{key_id}.p8") for key_id in KEY_IDS]
        encrypted = keys[2].private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"right"),
        )
        write_secret(directory / "encrypted.p8", encrypted)
        write_secret(directory / "right", b"right\n")
        write_secret(directory / "wrong", b"wrong\n")
        write_secret(directory / "not-a-key.p8", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
        self.secret_faults = {
            "a wrong passphrase": self._encrypted("wrong"),
            "a passphrase that is missing": self._encrypted("nothing"),
            "a key file that is missing": f"file:{directory}/nothing.p8",
            "a key file without a key": f"file:{directory}/not-a-key.p8",
        }

    def uri(self, number):
        return self._encrypted("right") if number == 2 else f"file:{self.directory}/AuthKey_{KEY_IDS[number]}.p8"

    def _encrypted(self, secret):
        return f"file:{self.directory}/encrypted.p8?passphrase-source=file:{self.directory}/{secret}"

    settings = ""


class TokenKeys:
    """Keys in a SoftHSM token, whose number of sessions sometimes changes."""

    module = SOFTHSM

    def __init__(self, directory):
        self.directory = directory / "token"
        self.sessions = 2
        for number, key_id in enumerate(KEY_IDS):
            self._make("soak", key_id, "--id", f"{number + 1:02}")
        # A token that the gateway is already logged in to accepts any PIN, so a wrong PIN needs another token.
        self._make("other", KEY_IDS[1])
        self.environment = {"SOFTHSM2_CONF": str(self.directory / "softhsm2.conf")}
        write_secret(self.directory / "wrong", b"00000000\n")
        self.secret_faults = {
            "a wrong PIN": self._uri(KEY_IDS[1], pin="wrong", token="other"),
            "a PIN that is missing": self._uri(KEY_IDS[1], pin="nothing"),
            "a key that the token does not have": self._uri("0A0A0A0A0A"),
            "a token that there is not": self._uri(KEY_IDS[1], token="nothing"),
        }

    def uri(self, number):
        return self._uri(KEY_IDS[number])

    def _make(self, token, label, *more):
        make = pathlib.Path(__file__).resolve().parents[3] / "softhsm-config" / "make-token"
        command = [make, "--directory", self.directory, "--module", SOFTHSM, "--token", token, "--key-label", label, *more]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def _uri(self, label, pin="pin", token="soak"):
        return f"pkcs11:token={token};object={label}?module-path={self.module}&pin-source=file:{self.directory}/{pin}"

    @property
    def settings(self):
        return f"backends: {{pkcs11: {{sessions: {self.sessions}}}}}\n"


class Reloads:
    """A gateway whose configuration is repeatedly changed or broken. It must report the result each time."""

    def __init__(self, binary, directory, keys):
        self.directory, self.keys = directory, keys
        self.token, self.next_token = mint(), mint()
        self.base = self.text()
        # Broken files that the gateway accepted, and valid files that it refused.
        self.surprises = []
        self.service = Service(binary, directory, self.base, keys.environment)
        self.faults = {
            "broken syntax": lambda: self.text() + "  - [\n",
            "an unknown key": lambda: self.text() + "lissen: 127.0.0.1:1\n",
            "no clients": lambda: self.text().partition("clients:")[0],
            "an active key that there is not": lambda: self.text().replace("activeKey: ", "activeKey: X"),
            "another address": lambda: self.text().replace(
                'public: {address: "127.0.0.1:0"}', "public: {address: 127.0.0.1:9}"
            ),
            "an empty file": lambda: "",
            **{name: lambda uri=uri: self.text(keys=2, second=uri) for name, uri in keys.secret_faults.items()},
        }
        self.changes = [
            lambda: self.text(burst=500_000),
            lambda: self.text(apps=f"[{APP}]"),
            lambda: self.text(more=[allowed("guest", self.next_token, burst=5)]),
            lambda: self.text(keys=2, active=1),
            lambda: self.text(keys=3, active=2),
            lambda: self.text(keys=3, active=2),
            lambda: self.text(keys=2, extra="limits: {requestTimeout: 20}\nverification: off\n"),
            lambda: self.text(extra="validation: {advancedCommerce: envelope}\n"),
            lambda: self.text(),
        ]

    def text(self, burst=1_000_000, apps='["*"]', more=(), keys=1, active=0, second=None, extra=""):
        self.active = KEY_IDS[active]
        uris = [self.keys.uri(number) for number in range(keys)]
        if second:
            uris[1] = second
        listed = "\n".join(f'      - {{keyId: {KEY_IDS[number]}, uri: "{uri}"}}' for number, uri in enumerate(uris))
        load = allowed("load", self.token, apps, burst)
        return f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
  admin: {{address: "unix:{self.directory}/admin.sock"}}
  metrics: {{address: "127.0.0.1:0"}}
drainDelay: 0
{extra}{self.keys.settings}accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: {APP}, features: [promotional-offer]}}]
    keys:
{listed}
    activeKey: {KEY_IDS[active]}
clients:
{chr(10).join([load, *more])}
"""

    @property
    def url(self):
        return f"http://{self.service.addresses['public']}"

    def one(self, number):
        """The reload with this number. One in ten has a broken file."""
        by = "signal" if (number + number // 10) % 2 else "admin"
        active = self.active
        if number % 10 == 9:
            names = list(self.faults)
            name = names[number // 10 % len(names)]
            self.configure(self.faults[name]())
            self.active = active
            is_applied, said = self.service.reload(by)
            if is_applied:
                self.surprises.append(f"reload {number} by {by}: {name} was taken up: {said}")
        else:
            if isinstance(self.keys, TokenKeys) and number % 20 == 0:
                self.keys.sessions = 5 - self.keys.sessions
            self.configure(self.changes[number % 10]())
            is_applied, said = self.service.reload(by)
            if not is_applied:
                self.surprises.append(f"reload {number} by {by}: it was refused: {said}")
                self.active = active
        self.expect_active()

    def configure(self, text):
        new = self.service.configuration.with_suffix(".new")
        new.write_text(text)
        new.rename(self.service.configuration)

    def expect_active(self):
        """Checks that the gateway signs with the active key of the configuration in force."""
        status, _, answer = self.service.ask("POST", OFFER, BODY, {"Authorization": f"Bearer {self.token}"})
        assert status == 200, answer
        assert json.loads(answer)["keyId"] == self.active

    def settle(self):
        """Restores the first configuration and waits until old resources are closed. Returns the remaining ones."""
        if isinstance(self.keys, TokenKeys):
            self.keys.sessions = 2
        self.configure(self.text())
        assert self.service.reload()[0]
        before, deadline = None, time.monotonic() + 10
        while time.monotonic() < deadline:
            usage = self.service.usage()
            steady = (usage["threads"], usage["descriptors"])
            if steady == before:
                break
            before = steady
            time.sleep(0.5)
        return usage


# Certificates


class CertificateChanges:
    """A TLS gateway whose certificate and trust roots change while clients, which trust both CAs, are connected."""

    def __init__(self, binary, directory):
        self.directory = directory
        self.authorities = [Authority(directory, "first-authority"), Authority(directory, "second-authority")]
        self.extra = Authority(directory, "third-authority")
        self.client = self.authorities[0].issue("client", dns=["load.example.com"])
        self.token = mint()
        self.generation = 0
        self.files = directory / "tls"
        self.lay_out(self._files(self.next()))
        write_key(directory / "AuthKey.p8")
        self.service = Service(binary, directory, self._text())
        self.expected = self.server.der

    def _text(self):
        return f"""
listeners:
  public:
    address: "127.0.0.1:0"
    tls:
      certificate: {self.files}/server.pem
      key: {self.files}/server.key
      clientCertificates: optional
      trustRoots: {self.files}/roots.pem
  admin: {{address: "unix:{self.directory}/admin.sock"}}
  metrics: {{address: "127.0.0.1:0"}}
drainDelay: 0
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: {APP}, features: [promotional-offer]}}]
    keys: [{{keyId: {KEY_IDS[0]}, uri: "file:{self.directory}/AuthKey.p8"}}]
    activeKey: {KEY_IDS[0]}
clients:
  - name: load
    tokens: [{{sha256: "{digest(self.token)}"}}]
    certificates: [{{dnsName: load.example.com}}]
    allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"]}}]
"""

    def next(self):
        """A new server certificate from the other CA."""
        self.generation += 1
        self.server = self.authorities[self.generation % 2].server(f"server-{self.generation}")
        return self.server

    def _files(self, server):
        # The trust roots change too, but always include the clients' CA.
        roots = [self.authorities[0]] + ([self.extra] if self.generation % 4 < 2 else [])
        return {
            "server.pem": server.certificate_pem,
            "server.key": server.key_pem,
            "roots.pem": b"".join(authority.certificate.certificate_pem for authority in roots),
        }

    def lay_out(self, files):
        """Replaces all files atomically: a new directory behind a symbolic link."""
        place = self.directory / f"tls-{self.generation}"
        place.mkdir()
        for name, content in files.items():
            write_secret(place / name, content)
        link = self.directory / "tls.new"
        link.symlink_to(place.name)
        link.rename(self.files)

    def change(self, way):
        """Replaces certificate and roots. `way`: together, one by one, or together with a reload. Returns the time."""
        files = self._files(self.next())
        if way == "one by one":
            for name in sorted(files, reverse=self.generation % 2 == 0):
                write_secret(self.files / name, files[name])
                # So that the gateway certainly sees files that do not match.
                time.sleep(1.1)
        else:
            self.lay_out(files)
        changed = time.monotonic()
        if way == "reload":
            is_applied, said = self.service.reload("signal" if self.generation % 2 else "admin")
            assert is_applied, said
        self.expected = self.server.der
        return changed

    def context(self, shows_certificate=True):
        return client_context(self.authorities, self.client if shows_certificate else None)


class TLSClients:
    """Threads that connect again and again, and threads that keep their connections."""

    def __init__(self, changes, connecting=2, keeping=2):
        self.changes = changes
        self.over = threading.Event()
        self.seen = {}
        self.failures = []
        self.handshakes = self.requests = self.reconnects = 0
        self.lock = threading.Condition()
        roles = [(self._connect, index) for index in range(connecting)] + [(self._keep, index) for index in range(keeping)]
        self.threads = [threading.Thread(target=self._play, args=role, daemon=True) for role in roles]
        for thread in self.threads:
            thread.start()

    def _play(self, role, index):
        try:
            role(index)
        except Exception as error:
            self._fail("a thread", error)

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join(30)
            assert not thread.is_alive(), "a request was never answered"
        return self.failures

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def await_certificate(self, der, seconds):
        with self.lock:
            assert self.lock.wait_for(lambda: der in self.seen, seconds), "nobody has seen the new certificate"
            return self.seen[der]

    def _headers(self, by_certificate):
        return {} if by_certificate else {"Authorization": f"Bearer {self.changes.token}"}

    def _handshake(self, by_certificate):
        connection = self.changes.service.connect(tls=self.changes.context(by_certificate))
        der, now = connection.sock.getpeercert(binary_form=True), time.monotonic()
        with self.lock:
            self.handshakes += 1
            if der not in self.seen:
                self.seen[der] = now
                self.lock.notify_all()
        return connection

    def _fail(self, what, error):
        with self.lock:
            self.failures.append(f"{what}: {error!r}")

    def _connect(self, index):
        while not self.over.is_set():
            by_certificate = index % 2 == 0
            try:
                connection = self._handshake(by_certificate)
            except OSError as error:
                self._fail("a handshake", error)
                continue
            try:
                status, _, answer = exchange(connection, "POST", OFFER, BODY, self._headers(by_certificate))
                if status != 200:
                    self._fail("a new connection's request", answer)
            except (OSError, http.client.HTTPException) as error:
                self._fail("a new connection's request", error)
            finally:
                connection.close()
            self.over.wait(0.005)

    def _keep(self, index):
        by_certificate = index % 2 == 0
        connection, carried = None, 0
        while not self.over.is_set():
            try:
                if connection is None:
                    connection, carried = self._handshake(by_certificate), 0
                status, headers, answer = exchange(connection, "POST", OFFER, BODY, self._headers(by_certificate))
                with self.lock:
                    self.requests += 1
                carried += 1
                if status != 200:
                    self._fail("a kept connection's request", answer)
                if headers.get("Connection", "").lower() == "close":
                    connection.close()
                    connection = None
            except http.client.RemoteDisconnected as error:
                # Either side may close between two requests (RFC 9112 §9.5); the client then repeats the request.
                self._reconnect(connection, carried, error)
                connection = None
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, (ConnectionError, ssl.SSLError)) and connection is not None and carried:
                    self._reconnect(connection, carried, error)
                else:
                    self._fail("a kept connection", error)
                if connection is not None:
                    connection.close()
                connection = None
            self.over.wait(0.01)
        if connection is not None:
            connection.close()

    def _reconnect(self, connection, carried, error):
        connection.close()
        if not carried:
            self._fail("a connection's first request", error)
        with self.lock:
            self.reconnects += 1
