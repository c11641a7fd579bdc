"""Gateways with clients of every kind, and callers of every kind."""

import collections
import dataclasses
import json
import os
import ssl
import time

from authority import SERVER, Authority, client_context, self_signed
from service import Service, digest, exchange, mint, write_key

APP, OTHER_APP = "com.example.app", "com.example.other"
KEY_ID, SECOND_KEY_ID, FOREIGN_KEY_ID = "2X9R4HXF34", "3Y8S5JYG45", "4Z7T6KZH56"
OFFER, LEGACY, INTRODUCTORY = "promotional-offer", "legacy-promotional-offer", "introductory-offer-eligibility"
SPIFFE_ID = "spiffe://example.com/kiosk"
OWN_UID = os.geteuid()
# Unused user IDs; only root can take them.
NEIGHBOUR_UID, STRANGER_UID = 40_001, 40_002
HANDSHAKE = "handshake"


class World:
    """Certificates, tokens and five gateways that accept them, in one temporary directory."""

    def __init__(self, binary, directory):
        self.binary, self.directory = binary, directory
        self.tokens = {}
        self.own = Authority(directory, "own-authority")
        self.foreign = Authority(directory, "foreign-authority")
        self.identities = {
            "shop": self.own.issue("shop"),
            "reader": self.own.issue("reader", dns=["other.example.com", "Reader.Example.COM"]),
            "kiosk": self.own.issue("kiosk", uris=[SPIFFE_ID]),
            "unmapped": self.own.issue("unmapped", dns=["nobody.example.com"], uris=[SPIFFE_ID + "/more"]),
            "named-in-subject": self.own.issue("reader.example.com"),
            "two-in-one": self.own.issue("two-in-one", dns=["reader.example.com"], uris=[SPIFFE_ID]),
            "expired": self.own.issue("expired", dns=["reader.example.com"], expired=True),
            "for-servers": self.own.issue("for-servers", SERVER, dns=["reader.example.com"]),
            "foreign": self.foreign.issue("foreign", dns=["reader.example.com"], uris=[SPIFFE_ID]),
            "self-signed": self_signed(directory, "self-signed", dns=["reader.example.com"]),
            "operator": self.own.issue("operator", uris=["spiffe://example.com/operator"]),
        }
        self.server = self.own.server()
        self.keys = {
            key_id: write_key(directory / f"AuthKey_{key_id}.p8") for key_id in (KEY_ID, SECOND_KEY_ID, FOREIGN_KEY_ID)
        }
        self.services = {}
        # The number of signatures of each client on each gateway, to compare with the gateway's counters.
        self.signed = collections.Counter()
        self.outcomes = {}

    def start(self):
        for name in ("front", "strict", "socket", "elsewhere", "open"):
            place = self.directory / name
            place.mkdir()
            # Other users must reach the sockets, and nothing else in the directory.
            place.chmod(0o711)
            self.services[name] = Service(self.binary, place, getattr(self, f"_{name}")(place)).start()

    def stop(self):
        return [service.stop() for service in self.services.values()]

    def token(self, client):
        return self.tokens.setdefault(client, mint())

    # Configurations

    def _front(self, place):
        """TLS with optional client certificates, and an admin socket."""
        return f"""
listeners:
  public:
    address: "127.0.0.1:0"
    tls: {self._tls("optional")}
  admin: {{address: "unix:{place}/admin.sock", mode: "0666"}}
  metrics: {{address: "127.0.0.1:0"}}
{self._rest()}
clients:
  - name: shop
    tokens:
      - sha256: "{digest(self.token("shop"))}"
      - {{sha256: "{digest(self.token("shop, expired"))}", expires: 2020-01-01T00:00:00Z}}
      - {{sha256: "{digest(self.token("shop, until tomorrow"))}", expires: {moment(86_400)}}}
    certificates: [{{fingerprint: "{self.identities["shop"].fingerprint}"}}]
    allow:
      - apps: [{APP}]
        features: [{OFFER}, {LEGACY}]
        products: ["com.example.*"]
        offers: ["winback*"]
        keyIds: [{KEY_ID}, 9N9N9N9N9N]
  - name: reader
    tokens: [{{sha256: "{digest(self.token("reader"))}"}}]
    certificates: [{{dnsName: reader.example.com}}]
    allow: [{{apps: ["com.example.*"], features: ["*"], products: ["*"], offers: ["*"]}}]
  - name: kiosk
    certificates: [{{uri: "{SPIFFE_ID}"}}]
    allow: [{{apps: [{APP}], features: [{OFFER}], products: ["*"], offers: ["*"]}}]
  - name: shut-out
    tokens: [{{sha256: "{digest(self.token("shut-out"))}"}}]
  - {self._limited("hurried", "rate: {perSecond: 0.001, burst: 2}")}
  - {self._limited("frugal", "dailyQuota: 2")}
  - {self._limited("gatherer", "rate: {perSecond: 0.001, burst: 5}")}
  - {self._limited("saver", "dailyQuota: 5")}
  - name: ops
    administrator: true
    tokens: [{{sha256: "{digest(self.token("ops"))}"}}]
    uids: [{NEIGHBOUR_UID}]
"""

    def _strict(self, place):
        """TLS with required client certificates, on the admin listener too."""
        return f"""
listeners:
  public:
    address: "127.0.0.1:0"
    tls: {self._tls("required")}
  admin:
    address: "127.0.0.1:0"
    tls: {self._tls("required")}
  metrics: {{address: "127.0.0.1:0"}}
{self._rest()}
clients:
  - name: reader
    tokens: [{{sha256: "{digest(self.token("reader"))}"}}]
    certificates: [{{dnsName: reader.example.com}}]
    allow: [{{apps: [{APP}], features: ["*"], products: ["*"], offers: ["*"]}}]
  - name: kiosk
    certificates: [{{uri: "{SPIFFE_ID}"}}]
    allow: [{{apps: [{APP}], features: [{OFFER}], products: ["*"], offers: ["*"]}}]
  - name: ops
    administrator: true
    certificates: [{{uri: "spiffe://example.com/operator"}}]
"""

    def _socket(self, place):
        """A Unix socket that accepts this process's user."""
        return self._unix(place, OWN_UID, NEIGHBOUR_UID)

    def _elsewhere(self, place):
        """A Unix socket that accepts other users only."""
        return self._unix(place, OWN_UID + 1, NEIGHBOUR_UID)

    def _unix(self, place, local, neighbour):
        return f"""
listeners:
  public: {{address: "unix:{place}/gateway.sock", mode: "0666"}}
  metrics: {{address: "127.0.0.1:0"}}
{self._rest()}
clients:
  - name: local
    tokens: [{{sha256: "{digest(self.token("local"))}"}}]
    uids: [{local}]
    allow: [{{apps: [{APP}], features: [{OFFER}], products: ["*"], offers: ["*"]}}]
  - name: neighbour
    tokens: [{{sha256: "{digest(self.token("neighbour"))}"}}]
    uids: [{neighbour}]
    allow: [{{apps: [{OTHER_APP}], features: [{OFFER}], products: ["*"], offers: ["*"]}}]
"""

    def _open(self, place):
        """Every user of this machine may request everything."""
        return f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
  metrics: {{address: "127.0.0.1:0"}}
anonymous: true
{self._rest()}
clients:
  - name: shop
    tokens: [{{sha256: "{digest(self.token("shop"))}"}}]
    allow: [{{apps: [{APP}], features: [{OFFER}], products: ["com.example.*"], offers: ["*"]}}]
"""

    def _tls(self, certificates):
        return (
            f"{{certificate: {self.server.certificate_path}, key: {self.server.key_path},"
            f" clientCertificates: {certificates}, trustRoots: {self.own.certificate.certificate_path}}}"
        )

    def _limited(self, name, limit):
        return f"""name: {name}
    tokens: [{{sha256: "{digest(self.token(name))}"}}]
    allow: [{{apps: [{APP}], features: [{OFFER}], products: ["*"], offers: ["*"]}}]
    {limit}"""

    def _rest(self):
        def key(key_id):
            return f'{{keyId: {key_id}, uri: "file:{self.directory}/AuthKey_{key_id}.p8"}}'

        return f"""
drainDelay: 0
accounts:
  - issuerId: 57246542-96fe-1a63-e053-0824d011072a
    apps: [{{bundleId: {APP}, features: [{OFFER}, {LEGACY}, {INTRODUCTORY}]}}]
    keys: [{key(KEY_ID)}, {key(SECOND_KEY_ID)}]
    activeKey: {KEY_ID}
  - issuerId: 67246542-96fe-1a63-e053-0824d011072b
    apps: [{{bundleId: {OTHER_APP}, features: [{OFFER}]}}]
    keys: [{key(FOREIGN_KEY_ID)}]
    activeKey: {FOREIGN_KEY_ID}
"""


def moment(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


# Requests


@dataclasses.dataclass(frozen=True)
class Request:
    """A request for one signature or a batch; `name` describes it to a reader."""

    name: str
    path: str
    body: object = None
    method: str = "POST"


def offer(app=APP, feature=OFFER, product="com.example.monthly", offer="winback", name=None):
    body = {"productId": product, "offerIdentifier": offer}
    return Request(name or "an offer", f"/v1/apps/{app}/{feature}", body)


def batch(count, products=("com.example.monthly",)):
    requests = [{"productId": products[i % len(products)], "offerIdentifier": "winback"} for i in range(count)]
    return Request(f"a batch of {count}", f"/v1/apps/{APP}/{OFFER}/batch", {"requests": requests})


def compatibility(key_id=KEY_ID, app=APP, name=None):
    query = f"appBundleID={app}&keyIdentifier={key_id}&productIdentifier=com.example.monthly"
    path = f"/?{query}&offerIdentifier=winback&applicationUsername=Alice"
    return Request(name or f"the compatibility call with {key_id}", path, method="GET")


STATUS = Request("the status", "/v1/status", method="GET")
RELOAD = Request("a reload", "/v1/reload?dryRun=true")
ONE_OFFER = offer()


# Callers


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    """One caller with one request, and the expected answer."""

    caller: str
    expect: object
    problem: str = ""
    request: Request = ONE_OFFER
    gateway: str = "front"
    listener: str = "public"
    # Functions from the world to a header `Authorization`; several for several headers.
    authorization: tuple = ()
    certificate: str | None = None
    version: ssl.TLSVersion | None = None
    uid: int | None = None
    # The client whose counters must include the signature.
    client: str | None = None
    # The number of times that the same request is granted first.
    before: int = 0
    # The number of signatures; None for one with status 200 and none with any other status.
    signatures: int | None = None

    @property
    def count(self):
        if self.signatures is not None:
            return self.signatures
        return 1 if self.expect == 200 and self.listener == "public" else 0


def bearer(client):
    return (lambda world: f"Bearer {world.token(client)}",)


def edited(client, edit):
    return (lambda world: edit(world.token(client)),)


def text(value):
    return (lambda world: value,)


def perform(world, row):
    """Sends a row's request after those of `before`: (status or HANDSHAKE, header, body)."""
    service = world.services[row.gateway]
    for _ in range(row.before):
        assert attempt(world, service, row)[0] == 200
    return attempt(world, service, row)


def attempt(world, service, row):
    tls = None
    if row.listener != "metrics" and row.gateway in ("front", "strict"):
        if not service.addresses[row.listener].startswith("unix:"):
            identity = world.identities[row.certificate] if row.certificate else None
            tls = client_context([world.own], identity, row.version)
    try:
        connection = service.connect(row.listener, tls=tls, uid=row.uid)
    except (ssl.SSLError, ConnectionError):
        return HANDSHAKE, {}, b""
    try:
        return speak(connection, world, row)
    except (ssl.SSLError, ConnectionResetError, BrokenPipeError):
        # In TLS 1.3 the client finishes before the server has verified its certificate (RFC 8446 §4.4.2.4).
        assert tls, "only a handshake may end like this"
        return HANDSHAKE, {}, b""
    finally:
        connection.close()


def speak(connection, world, row):
    values = [value(world) for value in row.authorization]
    if len(values) < 2:
        headers = {"Authorization": value for value in values}
        return exchange(connection, row.request.method, row.request.path, row.request.body, headers)
    body = json.dumps(row.request.body).encode()
    connection.putrequest(row.request.method, row.request.path)
    for value in values:
        connection.putheader("Authorization", value)
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", len(body))
    connection.endheaders(body)
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()
