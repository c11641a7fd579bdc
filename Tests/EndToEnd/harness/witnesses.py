"""Logs and witnesses according to C2SP tlog-witness and tlog-cosignature, independent of the program, and the program's
own witness as a process."""

import base64
import hashlib
import http.client
import http.server
import struct
import subprocess
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from polling import await_
from ports import free_port
from scripted_server import LocalServer

LOG, WITNESS = 0x01, 0x04


def raw(key):
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def key_id(name, kind, public):
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:4]


def vkey(name, kind, public):
    return f"{name}+{key_id(name, kind, public).hex()}+{base64.b64encode(bytes([kind]) + public).decode()}"


def line(name, identity, signature):
    return f"\u2014 {name} {base64.b64encode(identity + signature).decode()}\n"


def split(note):
    """(text, [(name, key ID, signature)]) of a signed note."""
    text, _, lines = note.rpartition("\n\n")
    signatures = [one.split(" ") for one in lines.splitlines()]
    decoded = [(name, base64.b64decode(code)) for _, name, code in signatures]
    return text + "\n", [(name, bytes_[:4], bytes_[4:]) for name, bytes_ in decoded]


def cosigned_at(key, text, signature):
    """The time of a valid cosignature by the vkey; None if it is invalid."""
    name, _, code = key.split("+", 2)
    public = base64.b64decode(code)[1:]
    found, identity, content = signature
    if found != name or identity != key_id(name, WITNESS, public) or len(content) != 72:
        return None
    moment = struct.unpack(">Q", content[:8])[0]
    try:
        message = f"cosignature/v1\ntime {moment}\n{text}".encode()
        Ed25519PublicKey.from_public_bytes(public).verify(content[8:], message)
    except InvalidSignature:
        return None
    return moment


# Merkle trees (RFC 6962)


def leaf(entry):
    return hashlib.sha256(b"\0" + entry).digest()


def node(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def middle(count):
    return 1 << ((count - 1).bit_length() - 1)


def root(leaves):
    if len(leaves) <= 1:
        return leaves[0] if leaves else hashlib.sha256().digest()
    half = middle(len(leaves))
    return node(root(leaves[:half]), root(leaves[half:]))


def consistency(old, leaves, knows_old=True):
    if old == len(leaves):
        return [] if knows_old else [root(leaves)]
    half = middle(len(leaves))
    if old <= half:
        return consistency(old, leaves[:half], knows_old) + [root(leaves[half:])]
    return consistency(old - half, leaves[half:], False) + [root(leaves[:half])]


def is_consistent(old, old_root, new, new_root, proof):
    """RFC 9162 §2.1.4.2."""
    if old == new:
        return not proof and old_root == new_root
    if old == 0:
        return not proof
    proof = list(proof)
    if old & (old - 1) == 0:
        proof.insert(0, old_root)
    if not proof:
        return False
    fn, sn = old - 1, new - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    first = second = proof[0]
    for one in proof[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            first, second = node(one, first), node(one, second)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            second = node(second, one)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and first == old_root and second == new_root


class SampleLog:
    """A log of numbered entries. `fork`: from this index on, the entries are others."""

    def __init__(self, name, key=None):
        self.name, self.key = name, key or Ed25519PrivateKey.generate()
        self.vkey = vkey(name, LOG, raw(self.key.public_key()))

    def leaves(self, size, fork=None):
        return [leaf(f"{n}{' forked' if fork is not None and n >= fork else ''}".encode()) for n in range(size)]

    def checkpoint(self, size, fork=None, key=None, name=None, tree=None, extension=""):
        tree = root(self.leaves(size, fork)) if tree is None else tree
        text = f"{name or self.name}\n{size}\n{base64.b64encode(tree).decode()}\n{extension}"
        public = raw(self.key.public_key())
        signature = (key or self.key).sign(text.encode())
        return f"{text}\n" + line(self.name, key_id(self.name, LOG, public), signature)

    def request(self, old, size, fork=None, proof=None, **how):
        if proof is None:
            proof = consistency(old, self.leaves(size, fork)) if 0 < old <= size else []
        lines = "".join(base64.b64encode(one).decode() + "\n" for one in proof)
        return f"old {old}\n{lines}\n{self.checkpoint(size, fork, **how)}"


class WitnessProcess:
    """`privyseal witness serve`."""

    def __init__(self, binary, directory, logs, name="witness.example.com/w1", options=()):
        self.binary, self.directory, self.name, self.options = binary, directory, name, options
        directory.mkdir(exist_ok=True)
        self.logs = directory / "logs.vkey"
        self.logs.write_text("".join(key + "\n" for key in logs))
        made = self.run("key", "--name", name)
        assert made.returncode == 0, made.stderr
        self.vkey = made.stdout.strip()
        self.output = directory / "output"
        self.tls = None
        # The policies name it, so it is the same at each start.
        self.port = free_port()

    def run(self, command, *options):
        arguments = [self.binary, "witness", command, "--directory", self.directory, *options]
        return subprocess.run(arguments, capture_output=True, text=True, timeout=30)

    def start(self):
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                [self.binary, "witness", "serve", "--directory", self.directory, "--logs", self.logs]
                + ["--listen", f"127.0.0.1:{self.port}", *self.options],
                stderr=output,
            )
        await_(self._listens, "the witness listens")
        return self

    def _listens(self):
        assert self.process.poll() is None, self.output.read_text()
        return f"listens on 127.0.0.1:{self.port}" in self.output.read_text()

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=30)

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=30)

    __enter__ = start

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()

    def ask(self, method, path, body=None):
        """(status, content type, text)"""
        if self.tls:
            connection = http.client.HTTPSConnection("localhost", self.port, timeout=30, context=self.tls)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body.encode() if isinstance(body, str) else body)
            answer = connection.getresponse()
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
        finally:
            connection.close()

    def add(self, request):
        return self.ask("POST", "/add-checkpoint", request)

    def latest(self, origin):
        return self.ask("GET", f"/{hashlib.sha256(origin.encode()).hexdigest()}/checkpoint")


class OtherWitness(LocalServer):
    """A witness of other software, which cosigns for every log. `fault` makes it lie or fail."""

    def __init__(self, name, fault=None):
        self.name, self.fault, self.sizes, self.requests = name, fault, {}, []
        self.key = Ed25519PrivateKey.generate()
        self.vkey = vkey(name, WITNESS, raw(self.key.public_key()))
        witness = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                witness.requests.append(body)
                if witness.fault == "hangs":
                    self.connection.recv(1)
                    return
                if witness.fault == "stalls after the head":
                    self.send_response(200)
                    self.send_header("Content-Length", "100")
                    self.end_headers()
                    self.connection.recv(1)
                    return
                status, content = witness.answer(body)
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/add-checkpoint")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        super().__init__(Handler)

    def signature(self, text, key=None, moment=None):
        moment = int(time.time()) if moment is None else moment
        message = f"cosignature/v1\ntime {moment}\n{text}".encode()
        identity = key_id(self.name, WITNESS, raw(self.key.public_key()))
        return line(self.name, identity, struct.pack(">Q", moment) + (key or self.key).sign(message)).encode()

    def answer(self, body):
        proof, _, note = body.partition("\n\n")
        old, *hashes = proof.splitlines()
        text, _ = split(note)
        origin, size, tree = text.splitlines()[:3]
        old, size, tree = int(old.removeprefix("old ")), int(size), base64.b64decode(tree)
        known, known_root = self.sizes.get(origin, (0, None))
        fault = {
            "refuses": (403, b""), "fails": (500, b""), "redirects": (302, b""), "is empty": (200, b""),
            "answers nonsense": (200, b"\xff\xfe\n"), "answers endlessly": (200, b"x" * 1_000_000),
            "gives no size": (409, b"many\n"), "gives a huge size": (409, b"99999999999999999999\n"),
            "gives a negative size": (409, b"-1\n"), "repeats the size": (409, f"{old}\n".encode()),
            "signs with another key": (200, self.signature(text, Ed25519PrivateKey.generate())),
            "signs another text": (200, self.signature(text.replace(str(size), str(size + 1)))),
            "signs without a time": (200, self.signature(text, moment=0)),
            "signs under another name": (200, self.signature(text).replace(self.name.encode(), b"other.example")),
        }.get(self.fault)  # fmt: skip
        if fault:
            return fault
        if old != known:
            return 409, f"{known}\n".encode()
        if known and not is_consistent(known, known_root, size, tree, [base64.b64decode(one) for one in hashes]):
            return 422, b""
        self.sizes[origin] = (size, tree)
        return 200, self.signature(text)


def policy(path, witnesses, quorum, logs=(), with_urls=True):
    """Writes a policy. `quorum`: the word or number of its group."""
    lines = [f"log {key}" for key in logs]
    for number, witness in enumerate(witnesses):
        lines.append(f"witness w{number} {witness.vkey}" + (f" {witness.url}" if with_urls else ""))
    names = " ".join(f"w{number}" for number in range(len(witnesses)))
    path.write_text("\n".join([*lines, f"group all-witnesses {quorum} {names}", "quorum all-witnesses", ""]))
    return path
