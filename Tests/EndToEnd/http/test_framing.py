"""The beginning and end of a request (RFC 9112), on every listener."""

import json
import pathlib
import tempfile

import pytest
from authority import Authority, client_context
from conftest import BINARY
import running
from raw import Answers, channel, lines, send_until_closed
from running import APP, ISSUER_ID, KEY_IDS, OFFER
from service import Service, digest, mint, write_key

GET = "GET /livez HTTP/1.1"
HOST = "Host: localhost"
BODY = json.dumps(running.BODY).encode()
LISTENERS = ("public", "admin", "metrics", "TLS")


class World:
    """A gateway with a listener of each kind, and a gateway with TLS."""

    def __init__(self, place):
        self.token = mint()
        self.authority = Authority(place, "authority")
        server = self.authority.server()
        tls = f", tls: {{certificate: {server.certificate_path}, key: {server.key_path}}}"
        write_key(place / "AuthKey.p8")
        self.services = []
        for name, more in (("plain", ""), ("secure", tls)):
            directory = place / name
            directory.mkdir()
            self.services.append(Service(BINARY, directory, self.configuration(place, directory, more)))

    def configuration(self, place, directory, tls):
        return f"""
listeners:
  public: {{address: "127.0.0.1:0"{tls}}}
  admin: {{address: "unix:{directory}/admin.sock"}}
  metrics: {{address: "127.0.0.1:0"}}
drainDelay: 0
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: {APP}, features: [promotional-offer, legacy-promotional-offer]}}]
    keys: [{{keyId: {KEY_IDS[0]}, uri: "file:{place}/AuthKey.p8"}}]
    activeKey: {KEY_IDS[0]}
clients:
  - name: shop
    tokens: [{{sha256: "{digest(self.token)}"}}]
    allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"], keyIds: ["*"]}}]
"""

    def service(self, listener):
        return self.services[listener == "TLS"]

    def connect(self, listener="public"):
        if listener == "TLS":
            return channel(self.services[1], tls=client_context([self.authority]))
        return channel(self.services[0], listener)

    def answers(self, data, listener="public"):
        """All answers to these bytes until the connection ends. The test fails if an answer takes too long."""
        with self.connect(listener) as connected:
            connected.settimeout(5)
            connected.sendall(data)
            reader = Answers(connected)
            return list(iter(reader.next, None))


@pytest.fixture(scope="module")
def world():
    with tempfile.TemporaryDirectory(prefix="privyseal-") as place:
        world = World(pathlib.Path(place))
        for service in world.services:
            service.start()
        yield world
        assert {service.stop() for service in world.services} == {0}


def kind(answer):
    status, fields, body = answer
    assert fields["content-type"] == "application/problem+json"
    problem = json.loads(body)
    assert problem["status"] == status
    return status, problem["type"].rpartition(":")[2]


def refused(world, data, listener="public"):
    """The only answer to these bytes; the connection is closed afterwards."""
    answers = world.answers(data, listener)
    assert len(answers) == 1, answers
    assert answers[0][1]["connection"] == "close"
    return kind(answers[0])


MALFORMED, UNKNOWN = (400, "malformed-request"), (501, "not-implemented")
NEXT = lines(GET, HOST)


@pytest.mark.parametrize("listener", LISTENERS)
@pytest.mark.parametrize(
    "head, expected",
    [
        ([GET], MALFORMED),
        ([GET, HOST, HOST], MALFORMED),
        ([GET, HOST, "host: other"], MALFORMED),
        ([GET, "Host: a/b"], MALFORMED),
        ([GET, "Host: a b"], MALFORMED),
        ([GET, "Host: user@host"], MALFORMED),
        ([GET, "Host: a:b:c"], MALFORMED),
        ([GET, "Host: a:b"], MALFORMED),
        ([GET, "Host: a:80:80"], MALFORMED),
        ([GET, "Host: %zz"], MALFORMED),
        ([GET, "Host: a%4"], MALFORMED),
        ([GET, "Host: ["], MALFORMED),
        ([GET, "Host: []"], MALFORMED),
        ([GET, "Host: [::1"], MALFORMED),
        ([GET, "Host: ]:["], MALFORMED),
        ([GET, "Host: [::1]a"], MALFORMED),
        ([GET, "Host: [localhost]"], MALFORMED),
        (["GET /livez#fragment HTTP/1.1", HOST], MALFORMED),
        (["GET http://localhost/livez#fragment HTTP/1.1", HOST], MALFORMED),
        ([GET, HOST, "Transfer-Encoding: gzip, chunked"], UNKNOWN),
        ([GET, HOST, "Transfer-Encoding: identity, chunked"], UNKNOWN),
        ([GET, HOST, "Transfer-Encoding: chunked, chunked"], MALFORMED),
        ([GET, HOST, "Transfer-Encoding: gzip"], UNKNOWN),
        # U+212A KELVIN SIGN in UTF-8: its Unicode lower case is "k".
        ([GET, HOST, "Transfer-Encoding: chun\u00e2\u0084\u00aaed"], UNKNOWN),
        ([GET, HOST, "Transfer-Encoding: identity"], UNKNOWN),
        ([GET, HOST, "Transfer-Encoding:"], UNKNOWN),
        ([GET, HOST, "Transfer-Encoding: gzip", "Transfer-Encoding: chunked"], MALFORMED),
        ([GET, HOST, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], MALFORMED),
        ([GET, HOST, "Transfer-Encoding: chunked", "Transfer-Encoding: identity"], MALFORMED),
        ([GET, HOST, "Content-Length: 5", "Transfer-Encoding:"], MALFORMED),
        ([GET, HOST, "Transfer-Encoding:", "Content-Length: 5"], MALFORMED),
        ([GET, HOST, "Content-Length: 5", "Transfer-Encoding: chunked"], MALFORMED),
        ([GET, HOST, "Transfer-Encoding: chunked", "Content-Length: 5"], MALFORMED),
        ([GET, HOST, "Content-Length: 5", "Content-Length: 5"], MALFORMED),
        (["GET /livez HTTP/1.0", "Transfer-Encoding: chunked"], MALFORMED),
        (["GET /livez HTTP/1.0", "Connection: keep-alive", "Transfer-Encoding: chunked"], MALFORMED),
        (["GET /livez HTTP/1.0", HOST, HOST], MALFORMED),
        ([GET, HOST, f"Content-Length: {1 << 63}"], (413, "body-too-large")),
        ([GET, HOST, f"Content-Length: {(1 << 64) - 1}"], (413, "body-too-large")),
        ([GET, HOST, f"Content-Length: {1 << 64}"], (413, "body-too-large")),
        ([GET, HOST, "content-length:\t" + 40 * "9"], (413, "body-too-large")),
        ([GET, HOST, "Content-Length: 5a"], MALFORMED),
        ([GET, HOST, "Content-Length: -1"], MALFORMED),
        (["CONNECT localhost:443 HTTP/1.1", "Host: localhost:443"], UNKNOWN),
        (["FOO /livez HTTP/1.1", HOST], UNKNOWN),
        (["get /livez HTTP/1.1", HOST], UNKNOWN),
        *(
            ([f"{method} /livez HTTP/1.1", HOST], UNKNOWN)
            for method in ("DESCRIBE", "ANNOUNCE", "SETUP", "PLAY", "TEARDOWN", "FLUSH", "PRI")
        ),
        (["\x16\x03\x01 /livez HTTP/1.1", HOST], MALFORMED),
    ],
    ids=lambda value: ", ".join(value[:6]).replace("\x16\x03\x01", "TLS") if isinstance(value, list) else "",
)
def test_an_ambiguous_head_ends_the_connection(world, listener, head, expected):
    # The bytes after the head look like a chunked body and another request.
    assert refused(world, lines(*head, body=b"0\r\n\r\n" + NEXT), listener) == expected


@pytest.mark.parametrize("listener", LISTENERS)
@pytest.mark.parametrize(
    "head, body",
    [
        ([GET, HOST, "Connection: close"], b""),
        ([GET, "Host:", "Connection: close"], b""),
        ([GET, "Host: [::1]:8443", "Connection: Close"], b""),
        ([GET, "Host: [::ffff:192.0.2.1]", "Connection: close"], b""),
        ([GET, "Host: a%2Db:", "Connection: close"], b""),
        ([GET, "Host: signer_1.example.com", "Connection: close"], b""),
        (["GET /livez HTTP/1.0"], b""),
        (["GET http://localhost/livez HTTP/1.1", HOST, "Connection: close"], b""),
        ([GET, HOST, "Connection: close", "Transfer-Encoding: Chunked"], b"0\r\n\r\n"),
        ([GET, HOST, "Connection: close", "Transfer-Encoding: chunked \t"], b"0\r\n\r\n"),
        ([GET, HOST, "Connection: close", "Content-Length: 3 "], b"abc"),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, list) else "",
)
def test_a_valid_head_gets_an_answer_and_close_ends_the_connection(world, listener, head, body):
    answers = world.answers(lines(*head, body=body), listener)
    assert [status for status, _, _ in answers] == [200]
    assert answers[0][1]["connection"] == "close"


def test_a_valid_request_before_a_refused_one_is_answered(world):
    first, second = world.answers(NEXT + lines(GET) + NEXT)
    assert first[0] == 200
    assert kind(second) == MALFORMED


def test_pipelined_requests_are_answered_in_order(world):
    answers = world.answers(NEXT * 3 + lines(GET, HOST, "Connection: close") + NEXT)
    assert [status for status, _, _ in answers] == [200] * 4
    assert ["connection" in fields for _, fields, _ in answers] == [False, False, False, True]


def test_a_raw_number_sign_in_a_query_is_refused(world):
    query = f"appBundleID={APP}&keyIdentifier={KEY_IDS[0]}&productIdentifier=p&offerIdentifier=o"
    head = [HOST, f"Authorization: Bearer {world.token}"]
    assert refused(world, lines(f"GET /?{query}&applicationUsername=Alice#1 HTTP/1.1", *head)) == MALFORMED
    escaped = lines(f"GET /?{query}&applicationUsername=Alice%231 HTTP/1.1", *head, "Connection: close")
    assert [status for status, _, _ in world.answers(escaped)] == [200]


@pytest.mark.parametrize(
    "method, path",
    [
        ("POST", "/" + OFFER),
        ("POST", OFFER + "/"),
        ("POST", OFFER.replace("apps/", "apps//")),
        ("POST", f"//v1///apps//{APP}/promotional-offer/"),
        ("POST", OFFER + "//batch"),
        ("GET", "/livez/"),
        ("GET", "//livez"),
        ("DELETE", "/livez/"),
        ("GET", "//"),
    ],
)
def test_a_path_with_an_empty_segment_is_not_found(world, method, path):
    head = [HOST, f"Authorization: Bearer {world.token}", "Content-Type: application/json", "Connection: close"]
    (answer,) = world.answers(lines(f"{method} {path} HTTP/1.1", *head, f"Content-Length: {len(BODY)}", body=BODY))
    assert kind(answer) == (404, "not-found")


UPGRADE = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"]


@pytest.mark.parametrize("listener", LISTENERS)
@pytest.mark.parametrize("head", [[GET, HOST, *UPGRADE], ["CONNECT localhost:443 HTTP/1.1", "Host: localhost:443"]])
def test_the_gateway_does_not_keep_the_bytes_after_an_upgrade_or_a_tunnel(world, listener, head):
    service = world.service(listener)
    before = service.usage()["memory"]
    with world.connect(listener) as connected:
        connected.sendall(lines(*head))
        status, fields, _ = Answers(connected).next()
        assert (status, fields["connection"]) == (200 if head[0] == GET else 501, "close")
        send_until_closed(connected, 256 << 20)
        grown = service.usage()["memory"] - before
    assert grown < 48 << 10, f"{grown} KiB more"


def test_a_request_with_an_upgrade_is_answered_and_ends_the_connection(world):
    head = [f"POST {OFFER} HTTP/1.1", HOST, *UPGRADE, f"Authorization: Bearer {world.token}"]
    head += ["Content-Type: application/json", f"Content-Length: {len(BODY)}"]
    # The next request is not answered, because the connection closes.
    answers = world.answers(lines(*head, body=BODY) + NEXT)
    assert [status for status, _, _ in answers] == [200]
    assert answers[0][1]["connection"] == "close"


def test_an_upgrade_without_its_connection_option_ends_the_connection(world):
    assert [status for status, _, _ in world.answers(lines(GET, HOST, "Upgrade: h2c") + NEXT)] == [200]
