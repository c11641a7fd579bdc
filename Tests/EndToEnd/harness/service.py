"""A gateway with a given configuration, and functions to query it; without pytest, because scripts/soak uses it too."""

import base64
import contextlib
import functools
import hashlib
import http.client
import json
import os
import pathlib
import re
import secrets
import select
import signal
import socket
import string
import subprocess
import time
import zlib

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

READY = b"READY=1"
LISTENING = re.compile(rb"Listening on (\S+) listener=(\w+)")
REFUSED_CONFIGURATION = 78  # EX_CONFIG of sysexits.h


def mint():
    """A client's token according to the documentation, independent of `privyseal clients mint`."""
    body = "privyseal_" + base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    rest, checksum = zlib.crc32(body.encode()), ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        checksum = (string.digits + string.ascii_uppercase + string.ascii_lowercase)[digit] + checksum
    return f"{body}_{checksum}"


def digest(token):
    return hashlib.sha256(token.encode()).hexdigest()


def write_key(path, key=None):
    """Writes a key in the format of App Store Connect, and returns it."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    write_secret(path, pem)
    return key


def write_secret(path, content):
    """Replaces the file atomically, readable only by its owner."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    with open(os.open(new, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    new.rename(path)


# Reads lines such as `+ 4711` and `- 4711`, and ends the processes that remain when its input closes. The kernel closes it
# even if this process is killed. PR_SET_PDEATHSIG would end a gateway with the thread that started it (prctl(2)).
WATCHER = """
declare -A running
while read -r sign pid; do
    if [ "$sign" = + ]; then running[$pid]=1; else unset "running[$pid]"; fi
done
[ ${#running[@]} = 0 ] || kill -KILL "${!running[@]}"
"""


@functools.cache
def watcher():
    """The process that ends gateways which this process leaves. Ctrl-C does not reach it in its own session."""
    return subprocess.Popen(["bash", "-c", WATCHER], stdin=subprocess.PIPE, start_new_session=True).stdin


def watch(sign, pid):
    # One call of write(2), because threads start gateways at the same time.
    os.write(watcher().fileno(), f"{sign} {pid}\n".encode())


class Service:
    """`privyseal serve` under a service manager, which it notifies when it is ready and when a reload is complete.

    A gateway that a test does not stop ends with this process."""

    # Further options of the command line.
    options = ()
    # The file descriptor that becomes readable at the end of the process, while it is not waited for.
    exit = None

    def __init__(self, binary, directory, configuration, environment=()):
        self.binary = binary
        self.directory = pathlib.Path(directory)
        self.configuration = self.directory / "gateway.yaml"
        self.configuration.write_text(configuration)
        self.log = self.directory / "gateway.log"
        self.environment = {**os.environ, **dict(environment)}

    def start(self):
        notify = self.directory / "notify"
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(str(notify))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [self.binary, "serve", "--config", self.configuration, *self.options],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**self.environment, "NOTIFY_SOCKET": str(notify)},
            )
        self.exit = os.pidfd_open(self.process.pid)
        watch("+", self.process.pid)
        try:
            self._await(READY, 60)
            self._find_addresses()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self):
        """Ends the process in order. Returns its exit status, also if it has ended already."""
        self.process.terminate()
        try:
            return self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(timeout=30)
        finally:
            self._forget()

    def kill(self):
        """Ends the process with SIGKILL, as the kernel does when memory runs out."""
        self.process.kill()
        self.process.wait(timeout=30)
        self._forget()

    def end(self):
        """Stops the process, unless a test has done so or has never started it."""
        if self.exit is not None:
            self.stop()

    def _forget(self):
        if self.exit is None:
            return
        watch("-", self.process.pid)
        os.close(self.exit)
        self.exit = None
        self.manager.close()
        (self.directory / "notify").unlink()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.end()

    def _await(self, message, seconds):
        """Returns when the service sends this message; earlier messages are discarded."""
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0:
            readable, _, _ = select.select([self.manager, self.exit], [], [], rest)
            if self.manager in readable:
                if message in self.manager.recv(4096).splitlines():
                    return
            elif readable:
                raise AssertionError(f"the gateway ended with {self.process.wait()}:\n{self.tail()}")
        raise AssertionError(f"the gateway did not say {message.decode()} within {seconds} s:\n{self.tail()}")

    def _find_addresses(self):
        """Reads the log, which may lag behind the service, until it names every listener."""
        wanted = len(re.findall(r"^ +(?:public|admin|metrics):", self.configuration.read_text(), re.MULTILINE))
        end = time.monotonic() + 20
        while True:
            lines, _, _ = self.log.read_bytes().rpartition(b"\n")
            self.addresses = {name.decode(): address.decode() for address, name in LISTENING.findall(lines)}
            if len(self.addresses) == wanted:
                return
            assert time.monotonic() < end, f"the log names {self.addresses} of {wanted} listeners:\n{self.tail()}"
            time.sleep(0.01)

    def tail(self, lines=20):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    # Requests

    def connect(self, listener="public", tls=None, uid=None, session=None):
        """An open connection after its handshake; over a Unix socket, as another user if `uid` is given."""
        address = self.addresses[listener]
        if address.startswith("unix:"):
            channel = connect_as(uid, address.removeprefix("unix:"))
        else:
            host, _, port = address.rpartition(":")
            channel = socket.create_connection((host, int(port)), timeout=10)
            channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = http.client.HTTPConnection("localhost", timeout=10)
        try:
            if tls:
                channel = tls.wrap_socket(channel, server_hostname="localhost", session=session)
            connection.sock = channel
        except BaseException:
            channel.close()
            raise
        return connection

    def ask(self, method, path, body=None, headers=(), listener="public", **how):
        """One request on its own connection: (status, header, body)."""
        with contextlib.closing(self.connect(listener, **how)) as connection:
            return exchange(connection, method, path, body, headers)

    def metric(self, name, default=None, **labels):
        """The current sum of all series of this name with these labels.

        It fails for a metric without a series, or without these names of labels, unless there is a `default`."""
        status, _, text = self.ask("GET", "/metrics", listener="metrics")
        assert status == 200, text
        found = [
            (dict(re.findall(r'(\w+)="([^"]*)"', listed or "")), float(value))
            for listed, value in re.findall(rf"^{name}(?:\{{(.*)\}})? (\S+)$", text.decode(), re.MULTILINE)
        ]
        if not any(labels.keys() <= has.keys() for has, _ in found):
            assert default is not None, f"no series {name} has the labels {list(labels)}"
            return default
        return sum(value for has, value in found if labels.items() <= has.items())

    # Changes

    def reload(self, by="admin"):
        """Lets the gateway reload its configuration, and waits for the result: (whether it was applied, message)."""
        if by == "signal":
            self.process.send_signal(signal.SIGHUP)
            self._await(READY, 60)
            status, _, body = self.ask("GET", "/v1/status", listener="admin")
            assert status == 200, body
            last = json.loads(body)["lastReload"]
            return last["level"] != "refused", last["message"]
        status, _, body = self.ask("POST", "/v1/reload", listener="admin")
        self._await(READY, 60)
        if status == 200:
            return True, json.loads(body)["outcome"]
        return False, json.loads(body)["detail"]

    # Measurements from outside

    def usage(self):
        """Resident memory in KiB, threads and file descriptors."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        value = lambda name: int(re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)[1])
        return {
            "memory": value("VmRSS"),
            "threads": value("Threads"),
            "descriptors": len(os.listdir(f"/proc/{self.process.pid}/fd")),
        }


def exchange(connection, method, path, body=None, headers=()):
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    headers = dict(headers)
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


def connect_as(uid, path):
    """A socket that a process of this user connected, which only root can do. Its later users do not count."""
    if uid is None or uid == os.geteuid():
        channel = socket.socket(socket.AF_UNIX)
        channel.settimeout(10)
        channel.connect(path)
        return channel
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
                channel = socket.socket(socket.AF_UNIX)
                channel.settimeout(10)
                channel.connect(path)
                socket.send_fds(theirs, [b"."], [channel.fileno()])
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise PermissionError(f"user {uid} could not connect to {path}")
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    channel = socket.socket(fileno=descriptors[0])
    channel.settimeout(10)
    return channel
