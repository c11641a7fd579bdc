"""A real gateway for each key backend, with the same key in both backends."""

import hashlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import pytest
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from service import mint, write_key

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ["PRIVYSEAL_BINARY"]
BUNDLE_ID = "com.example.app"
ISSUER_ID = "57246542-96fe-1a63-e053-0824d011072a"
KEY_ID = "2X9R4HXF34"
PUSH_KEY_ID = "P5H2X4HXF3"
FEATURES = (
    "legacy-promotional-offer",
    "promotional-offer",
    "introductory-offer-eligibility",
    "advanced-commerce-api",
    "app-store-server-api",
)


class Gateway:
    """The running service, and all output of the service and of the command line."""

    def __init__(self, directory, uri, private_key, secrets, environment):
        self.directory = directory
        self.private_key = private_key
        self.secrets = secrets
        self.environment = {**os.environ, **environment}
        self.output = b""
        self.token = mint()
        secrets.append(self.token.encode())
        self.http = requests.Session()
        self.http.headers["Authorization"] = f"Bearer {self.token}"
        self.push_key = directory / "push.p8"
        write_key(self.push_key)
        self.configuration = directory / "gateway.yaml"
        self.configuration.write_text(
            f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
  metrics: {{address: "127.0.0.1:0"}}
drainDelay: 0
accounts:
  - issuerId: {ISSUER_ID}
    apps:
      - bundleId: {BUNDLE_ID}
        features: [{", ".join(FEATURES)}]
    keys:
      - keyId: {KEY_ID}
        uri: "{uri}"
    activeKey: {KEY_ID}
services:
  - name: push
    profile: apns
    teamId: ABCDE12345
    keys: [{{keyId: {PUSH_KEY_ID}, uri: "file:{self.push_key}"}}]
    activeKey: {PUSH_KEY_ID}
clients:
  - name: interop
    tokens: [{{sha256: "{hashlib.sha256(self.token.encode()).hexdigest()}"}}]
    allow:
      - apps: ["*"]
        features: ["*", app-store-server-api]
        products: ["*"]
        offers: ["*"]
        keyIds: ["*"]
      - services: ["*"]
    # So much that it is never used up, and the answers still carry the headers of a limit.
    rate: {{perSecond: 10000, burst: 100000}}
"""
        )

    def start(self):
        self.log = open(self.directory / "gateway.log", "w+b")
        self.process = subprocess.Popen(
            [BINARY, "serve", "--config", self.configuration],
            stdout=self.log,
            stderr=subprocess.STDOUT,
            env=self.environment,
        )
        # `tail` blocks until the next line; the loop ends when the log names every port.
        follow = subprocess.Popen(
            ["tail", "--follow", "--lines=+1", f"--pid={self.process.pid}", self.log.name], stdout=subprocess.PIPE
        )
        found = {}
        for line in follow.stdout:
            match = re.search(rb"Listening on (127\.0\.0\.1:\d+) listener=(\w+)", line)
            if match:
                found[match[2].decode()] = f"http://{match[1].decode()}"
                if len(found) == 2:
                    self.url, self.metrics_url = found["public"], found["metrics"]
                    break
        follow.kill()
        follow.wait()
        follow.stdout.close()
        assert hasattr(self, "url"), pathlib.Path(self.log.name).read_text()
        # The gateway opens its listeners before its key.
        end = time.monotonic() + 10
        while self.http.get(f"{self.url}/readyz", timeout=10).status_code != 200:
            assert time.monotonic() < end, pathlib.Path(self.log.name).read_text()
            time.sleep(0.02)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=30)
        self.log.seek(0)
        self.output += self.log.read()
        self.log.close()
        return status

    def run(self, *arguments, **keywords):
        """Runs the command line; returns (status, standard output)."""
        result = subprocess.run(
            [BINARY, *map(str, arguments)], capture_output=True, env=self.environment, timeout=60, **keywords
        )
        self.output += result.stdout + result.stderr
        return result.returncode, result.stdout

    @property
    def pem(self):
        return self.private_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


@pytest.fixture(scope="session")
def private_key():
    return ec.generate_private_key(ec.SECP256R1())


def file_gateway(directory, private_key):
    path = directory / "AuthKey.p8"
    gateway = Gateway(directory, f"file:{path}", private_key, [], {})
    path.touch(mode=0o600)
    path.write_bytes(gateway.pem)
    return gateway


def token_gateway(directory, private_key):
    path = directory / "import.p8"
    token = directory / "token"
    uri = (
        f"pkcs11:token=interop;object={KEY_ID}"
        f"?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:{token}/pin"
    )
    gateway = Gateway(directory, uri, private_key, [], {"SOFTHSM2_CONF": str(token / "softhsm2.conf")})
    path.touch(mode=0o600)
    path.write_bytes(gateway.pem)
    subprocess.run(
        [ROOT / "softhsm-config" / "make-token", "--directory", token, "--token", "interop", "--key-label", KEY_ID]
        + ["--import", path],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    path.unlink()
    gateway.secrets.append((token / "pin").read_bytes().strip())
    return gateway


@pytest.fixture(scope="session", params=[file_gateway, token_gateway], ids=["file", "pkcs11"])
def gateway(request, tmp_path_factory, private_key):
    gateway = request.param(tmp_path_factory.mktemp("gateway"), private_key)
    gateway.start()
    yield gateway
    assert gateway.stop() == 0, gateway.output.decode(errors="replace")
    number = private_key.private_numbers().private_value
    scalar = number.to_bytes(32, "big")
    body = b"".join(line for line in gateway.pem.splitlines() if not line.startswith(b"-"))
    for secret in [*gateway.secrets, scalar, scalar.hex().encode(), str(number).encode(), body[20:60]]:
        assert secret not in gateway.output, "a secret was printed"


@pytest.fixture
def place():
    with tempfile.TemporaryDirectory(prefix="privyseal-") as place:
        yield pathlib.Path(place)


@pytest.fixture(scope="session")
def moto():
    # Imported here, because moto takes a second and few tests need it.
    from cloud import Moto

    with Moto() as moto:
        yield moto


@pytest.fixture
def kms(moto):
    """AWS KMS without keys."""
    from cloud import Kms

    moto.reset()
    with Kms(moto.origin) as kms:
        yield kms
