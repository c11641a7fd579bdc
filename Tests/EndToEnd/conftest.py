"""A real gateway for each key backend, with the same key in both backends."""

import contextlib
import os
import pathlib
import subprocess
import tempfile

import pytest
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from leaks import leaked
from running import SOFTHSM
from service import Service, digest, mint, write_key

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
# By the seconds that they take, most first.
SLOW_FILES = (
    "test_drills",
    "test_replicas",
    "test_clients_python_node_swift",
    "test_clients_go_php_java",
    "test_postgresql",
    "test_contract",
    "test_provisioning_jobs",
    "test_signer_faults",
    "test_audit",
    "test_fleet",
    "test_witnesses",
    "test_audit_outages",
    "test_audit_edits",
    "test_awskms",
    "test_key_lifecycle",
    "test_fleet_pins",
    "test_identities",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Puts the slow files first: pytest-xdist gives out files in this order, and no worker should begin a slow one last."""
    places = {name: place for place, name in enumerate(SLOW_FILES)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


class Gateway(Service):
    """The running service with a session of its client, and all output of the service and of the command line."""

    def __init__(self, directory, uri, private_key, environment=()):
        self.private_key, self.output = private_key, b""
        self.token = mint()
        self.secrets = {"the token": self.token.encode()}
        self.http = requests.Session()
        self.http.headers["Authorization"] = f"Bearer {self.token}"
        self.push_key = directory / "push.p8"
        write_key(self.push_key)
        configuration = f"""
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
    tokens: [{{sha256: "{digest(self.token)}"}}]
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
        super().__init__(BINARY, directory, configuration, environment)

    def start(self):
        super().start()
        self.url, self.metrics_url = (f"http://{self.addresses[name]}" for name in ("public", "metrics"))
        return self

    def stop(self):
        try:
            return super().stop()
        finally:
            self.output += self.log.read_bytes()

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


def with_file(directory, private_key):
    path = directory / "AuthKey.p8"
    write_key(path, private_key)
    return Gateway(directory, f"file:{path}", private_key)


def with_token(directory, private_key):
    path, token = directory / "import.p8", directory / "token"
    write_key(path, private_key)
    subprocess.run(
        [ROOT / "softhsm-config" / "make-token", "--directory", token, "--token", "interop", "--key-label", KEY_ID]
        + ["--import", path, "--module", SOFTHSM],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    path.unlink()
    uri = f"pkcs11:token=interop;object={KEY_ID}?module-path={SOFTHSM}&pin-source=file:{token}/pin"
    gateway = Gateway(directory, uri, private_key, {"SOFTHSM2_CONF": str(token / "softhsm2.conf")})
    gateway.secrets["the PIN"] = (token / "pin").read_bytes().strip()
    return gateway


@contextlib.contextmanager
def started(gateway):
    """Runs the gateway. Its output may have no secret."""
    with gateway:
        yield gateway
    assert gateway.process.returncode == 0, gateway.tail()
    number = gateway.private_key.private_numbers().private_value
    scalar = number.to_bytes(32, "big")
    body = b"".join(line for line in gateway.pem.splitlines() if not line.startswith(b"-"))
    key = {"the key in bytes": scalar, "the key in hexadecimal": scalar.hex().encode()}
    key |= {"the key in decimal": str(number).encode(), "the key in Base64": body[20:60]}
    found = leaked(gateway.secrets | key, gateway.output)
    assert found == []


@pytest.fixture(scope="session")
def file_gateway(tmp_path_factory, private_key):
    with started(with_file(tmp_path_factory.mktemp("gateway"), private_key)) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def token_gateway(tmp_path_factory, private_key):
    with started(with_token(tmp_path_factory.mktemp("gateway"), private_key)) as gateway:
        yield gateway


@pytest.fixture(scope="session", params=["file_gateway", "token_gateway"], ids=["file", "pkcs11"])
def gateway(request):
    """Each of both gateways. A file whose tests do not depend on the backend replaces this fixture by `file_gateway`."""
    return request.getfixturevalue(request.param)


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
