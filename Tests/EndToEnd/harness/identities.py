"""Issuers of JWTs, servers of their key sets, and a gateway that accepts them; without pytest."""

import base64
import contextlib
import hmac
import http.server
import json
import re
import subprocess
import threading
import time
import uuid

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from polling import await_
from running import APP, BODY, ISSUER_ID, KEY_IDS, OFFER
from scripted_server import LocalServer
from service import Service, exchange, write_key

RIGHTS = [{"apps": ["*"], "features": ["*"], "products": ["*"], "offers": ["*"]}]
REFUSAL = re.compile(r"debug privyseal\.requests: A caller was not authenticated: (.*) requestId=(\S+)$", re.MULTILINE)
ACCESS = re.compile(r"info privyseal\.access: .* client=(\S+) .*requestId=(\S+)$", re.MULTILINE)


# Tokens


def encode(data):
    """Base64url without padding (RFC 7515 §2)."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def encode_json(value):
    """`value`: bytes, or a value for JSON."""
    return encode(value if isinstance(value, bytes) else json.dumps(value).encode())


def compact(header, payload, sign):
    """A JWS in compact serialization. `header` and `payload`: JSON values or bytes."""
    text = f"{encode_json(header)}.{encode_json(payload)}"
    return f"{text}.{encode(sign(text.encode()))}"


def raw(signature, size):
    """r ‖ s (RFC 7518 §3.4) of a signature in DER."""
    return b"".join(number.to_bytes(size, "big") for number in utils.decode_dss_signature(signature))


def pss(hash_):
    return padding.PSS(padding.MGF1(hash_), padding.PSS.DIGEST_LENGTH)


SIGNERS = {
    "ES256": lambda key, text: raw(key.sign(text, ec.ECDSA(hashes.SHA256())), 32),
    "ES384": lambda key, text: raw(key.sign(text, ec.ECDSA(hashes.SHA384())), 48),
    "ES512": lambda key, text: raw(key.sign(text, ec.ECDSA(hashes.SHA512())), 66),
    "RS256": lambda key, text: key.sign(text, padding.PKCS1v15(), hashes.SHA256()),
    "RS384": lambda key, text: key.sign(text, padding.PKCS1v15(), hashes.SHA384()),
    "PS256": lambda key, text: key.sign(text, pss(hashes.SHA256()), hashes.SHA256()),
    "EdDSA": lambda key, text: key.sign(text),
}


def hmac_signer(secret):
    return lambda text: hmac.digest(secret, text, "sha256")


class IssuerKey:
    """A private key of an issuer. `kid`: None for a key without an ID."""

    def __init__(self, kid, algorithm="ES256", private=None, bits=2048):
        self.kid, self.algorithm = kid, algorithm
        self.private = private or make_private_key(algorithm, bits)

    @property
    def public(self):
        return self.private.public_key()

    @property
    def pem(self):
        return self.public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)

    def sign(self, text, algorithm=None):
        return SIGNERS[algorithm or self.algorithm](self.private, text)

    def jwk(self, **members):
        """The public key as a JWK (RFC 7517)."""
        identity = {} if self.kid is None else {"kid": self.kid}
        return public_members(self.public) | identity | members

    def header(self, **changes):
        """The header of a token. A change to None removes a member."""
        members = {"alg": self.algorithm, "typ": "JWT", "kid": self.kid} | changes
        return {name: value for name, value in members.items() if value is not None}

    def token(self, claims, sign=None, **header):
        """`sign`: a function from bytes to the signature, in place of this key and its algorithm."""
        return compact(self.header(**header), claims, sign or self.sign)


def make_private_key(algorithm, bits):
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    if algorithm.startswith("ES"):
        return ec.generate_private_key({"ES256": ec.SECP256R1, "ES384": ec.SECP384R1, "ES512": ec.SECP521R1}[algorithm]())
    return rsa.generate_private_key(65537, bits)


def number(value, size=None):
    return encode(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


def public_members(key):
    if isinstance(key, rsa.RSAPublicKey):
        numbers = key.public_numbers()
        return {"kty": "RSA", "n": number(numbers.n), "e": number(numbers.e)}
    if isinstance(key, ed25519.Ed25519PublicKey):
        return {"kty": "OKP", "crv": "Ed25519", "x": encode(key.public_bytes_raw())}
    numbers, size = key.public_numbers(), (key.key_size + 7) // 8
    return {"kty": "EC", "crv": f"P-{key.key_size}", "x": number(numbers.x, size), "y": number(numbers.y, size)}


def claims(issuer, audience, subject, **changes):
    """Claims that are valid for a minute. A change to None removes a claim."""
    members = {"iss": issuer, "aud": audience, "sub": subject, "exp": int(time.time()) + 60} | changes
    return {name: value for name, value in members.items() if value is not None}


def key_set(*keys):
    """`keys`: an `IssuerKey` or a JWK each."""
    return {"keys": [key.jwk() if isinstance(key, IssuerKey) else key for key in keys]}


# Servers of key sets


class KeySetServer(LocalServer):
    """`steps`: for each path, a function that answers a request through its handler."""

    def __init__(self, steps, identity=None):
        outer = self
        self.steps, self.requests, self.lock = steps, [], threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                with outer.lock:
                    outer.requests.append((self.path, dict(self.headers)))
                outer.steps[self.path](self)

            def log_message(self, *_):
                pass

        super().__init__(Handler, identity)

    def reads(self, path="/keys"):
        with self.lock:
            return [one for one, _ in self.requests].count(path)


class Published:
    """A step that answers with the current keys. While it is held, requests wait."""

    def __init__(self, *keys):
        self.keys, self.open = keys, threading.Event()
        self.open.set()

    def __call__(self, handler):
        assert self.open.wait(20)
        content = json.dumps(key_set(*self.keys)).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)


# Gateways


class IdentityGateway(Service):
    """A gateway with issuers, whose log has the cause of each refusal. `issuers`, `clients`: sections of the
    configuration."""

    def __init__(self, binary, directory, issuers, clients, public='address: "127.0.0.1:0"', more=""):
        self.public, self.more = public, more
        super().__init__(binary, directory, "")
        # The gateway warns of variables that it does not know.
        self.environment.pop("PRIVYSEAL_BINARY", None)
        write_key(self.directory / "AuthKey.p8")
        self.configure(issuers, clients)

    def configure(self, issuers, clients):
        """Each client without `allow` may request everything."""
        clients = [{"allow": RIGHTS} | client for client in clients]
        issuers = f"issuers: {json.dumps(issuers)}" if issuers else ""
        self.configuration.write_text(f"""
listeners:
  public: {{{self.public}}}
  admin: {{address: "unix:{self.directory}/admin.sock", mode: "0666"}}
  metrics: {{address: "127.0.0.1:0"}}
drainDelay: 0
logging: {{level: debug}}
audit: off
# A token may have 16 KiB. A request may wait for keys.
limits: {{headerBytes: 65536, requestTimeout: 60}}
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: {APP}, features: [promotional-offer]}}]
    keys: [{{keyId: {KEY_IDS[0]}, uri: "file:{self.directory}/AuthKey.p8"}}]
    activeKey: {KEY_IDS[0]}
{issuers}
clients: {json.dumps(clients)}
{self.more}
""")

    def request(self, token, authorization="Bearer {}", **how):
        """A request with this token: (status, the problem or the answer, the client in the access log or the cause in
        the log). `token`: None for none."""
        request_id = f"case-{uuid.uuid4()}"
        headers = {"X-Request-Id": request_id}
        if token is not None:
            headers["Authorization"] = authorization.format(token)
        with contextlib.closing(self.connect(**how)) as connection:
            connection.sock.settimeout(30)
            status, _, body = exchange(connection, "POST", OFFER, BODY, headers)
        wanted = REFUSAL if status == 401 else ACCESS
        return status, json.loads(body), self.logged(wanted, request_id)

    def logged(self, pattern, request_id, seconds=10):
        """The log may lag behind the answer."""
        found = lambda: [what for what, one in pattern.findall(self.log.read_text(errors="replace")) if one == request_id]
        return await_(found, lambda: f"the log has {request_id}: {self.tail(5)}", seconds, 0.01)[0]

    def client_of(self, token, **how):
        """The client that a token proves."""
        status, body, client = self.request(token, **how)
        assert status == 200, (body, client)
        return client

    def check(self, *arguments):
        """`privyseal check`: (status, output, errors)."""
        command = [self.binary, "check", "--config", self.configuration, *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=60)
        return ended.returncode, ended.stdout, ended.stderr

    def cause_of(self, token, **how):
        """Why a token proves no client."""
        status, body, cause = self.request(token, **how)
        assert (status, body["type"]) == (401, "urn:privyseal:problem:unauthenticated"), (status, body, cause)
        return cause
