"""The lifetime of connections, their limits, and their ends."""

import contextlib
import json
import os
import re
import ssl
import threading
import time

import pytest
import yaml
from auditing import await_
from authority import Authority, client_context
from conftest import BINARY, ROOT
from listeners import configuration
from raw import Answers, channel, lines
from running import BODY, OFFER, allowed, request_bytes
from service import Service, exchange, mint, write_secret

V12, V13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
HOST = "Host: localhost"


def is_closed(connected, seconds=5):
    """Whether the peer closes the connection within this time, without an answer."""
    connected.settimeout(seconds)
    try:
        return connected.recv(65536) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


# Certificates


class CertificateWorld:
    """A gateway that requests client certificates, with trust roots that change."""

    def __init__(self, place, certificates="optional", limits="{}"):
        self.authority, self.other = Authority(place, "authority"), Authority(place, "other-authority")
        self.certificates = certificates
        server = self.authority.server()
        self.roots = place / "roots.pem"
        self.trust(self.authority, self.other)
        tls = (
            f", tls: {{certificate: {server.certificate_path}, key: {server.key_path},"
            f" clientCertificates: {certificates}, trustRoots: {self.roots}}}"
        )
        shop = """  - name: shop
    certificates: [{dnsName: shop.example.com}]
    allow: [{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"]}]"""
        self.token = mint()
        clients = f"{shop}\n{allowed('load', self.token)}"
        self.service = Service(BINARY, place, configuration(place, clients, tls, limits))

    def trust(self, *authorities):
        write_secret(self.roots, b"".join(authority.certificate.certificate_pem for authority in authorities))

    def context(self, identity=None, version=None):
        return client_context([self.authority], identity, version)


def offer(connection, token=None):
    return exchange(connection, "POST", OFFER, BODY, {"Authorization": f"Bearer {token}"} if token else {})[0]


class Handshake:
    """A TLS client whose bytes the test sends itself."""

    def __init__(self, service, context):
        self.connected = channel(service)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")

    def step(self, action, *arguments):
        """Calls the action, and reads what it needs. Bytes to send stay in `outgoing`."""
        while True:
            try:
                return action(*arguments)
            except ssl.SSLWantReadError:
                self.flush()
                chunk = self.connected.recv(65536)
                if not chunk:
                    return b""
                self.incoming.write(chunk)

    def flush(self):
        if data := self.outgoing.read():
            self.connected.sendall(data)


def test_a_handshake_that_ends_after_a_change_of_trust_roots_gets_no_answer(place):
    world = CertificateWorld(place)
    shop = world.other.issue("shop", dns=["shop.example.com"])
    with world.service as service:
        client = Handshake(service, world.context(shop, V13))
        # In TLS 1.3, the client's certificate is in its last flight, which the test holds back.
        client.step(client.tls.do_handshake)
        held = client.outgoing.read()
        assert held
        world.trust(world.authority)
        assert service.reload()[0]
        head, body = request_bytes(world.token)
        try:
            client.connected.sendall(held)
            client.tls.write(b"\r\n".join(l for l in head.split(b"\r\n") if not l.startswith(b"Authorization")) + body)
            client.flush()
            client.connected.settimeout(5)
            answer = client.step(client.tls.read, 65536)
        except (ConnectionError, ssl.SSLError):
            answer = b""
        client.connected.close()
        assert b"HTTP/1.1 200" not in answer


def test_a_change_of_trust_roots_closes_unfinished_handshakes(place):
    world = CertificateWorld(place, limits="{handshakeTimeout: 60}")
    with world.service as service:
        client = Handshake(service, world.context(version=V13))
        with pytest.raises(ssl.SSLWantReadError):
            client.tls.do_handshake()
        client.flush()
        kept = service.connect(tls=world.context())
        # This handshake completes after the other client's first bytes.
        assert offer(kept, world.token) == 200
        world.trust(world.authority)
        assert service.reload()[0]
        # The server's pending bytes can still be read.
        await_(lambda: client.connected.recv(65536) == b"", "the gateway closes the connection")
        client.connected.close()
        assert offer(kept, world.token) == 200
        kept.close()


def test_requiring_certificates_closes_connections_without_one(place):
    world = CertificateWorld(place)
    with world.service as service, contextlib.closing(service.connect(tls=world.context())) as kept:
        assert offer(kept, world.token) == 200
        text = service.configuration.read_text()
        service.configuration.write_text(text.replace("clientCertificates: optional", "clientCertificates: required"))
        assert service.reload()[0]
        assert is_closed(kept.sock)


@pytest.mark.parametrize("version", [V12, V13])
@pytest.mark.parametrize("certificates", ["optional", "required"])
def test_a_listener_that_asks_for_certificates_resumes_no_tls_session(place, certificates, version):
    world = CertificateWorld(place, certificates)
    context = world.context(world.authority.issue("shop", dns=["shop.example.com"]), version)
    with world.service as service:
        with contextlib.closing(service.connect(tls=context)) as first:
            assert offer(first) == 200
            session = first.sock.session
        with contextlib.closing(service.connect(tls=context, session=session)) as second:
            assert not second.sock.session_reused
            assert offer(second) == 200


def test_the_gateway_refuses_requests_after_the_client_certificate_or_its_trust_root_expires(place):
    world = CertificateWorld(place)
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(world.service)
        # Issued here, because they are valid only for a few seconds.
        root = Authority(place, "short", seconds=6)
        shop = world.authority.issue("shop", dns=["shop.example.com"], seconds=6)
        other = root.issue("other", dns=["shop.example.com"])
        world.trust(world.authority, root)
        assert service.reload()[0]
        contexts = [world.context(shop, V12), world.context(shop, V13), world.context(other)]
        kept = [stack.enter_context(contextlib.closing(service.connect(tls=context))) for context in contexts]
        assert [offer(connection) for connection in kept] == [200] * 3
        sessions = [connection.sock.session for connection in kept]
        time.sleep(max(0, shop.certificate.not_valid_after_utc.timestamp() + 1.1 - time.time()))
        assert [offer(connection) for connection in kept] == [401] * 3
        assert [offer(connection, world.token) for connection in kept] == [401] * 3
        # A new connection with the session of the old one fails too.
        for context, session in zip(contexts, sessions):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                with contextlib.closing(service.connect(tls=context, session=session)) as second:
                    assert offer(second) != 200
                    raise ConnectionError


def test_a_listener_accepts_at_most_64_different_trust_roots(place):
    world = CertificateWorld(place)
    with world.service as service:
        more = [Authority(place, f"authority-{index}") for index in range(63)]
        world.trust(world.authority, *more, world.authority, *more)
        assert service.reload()[0]
        world.trust(world.authority, world.other, *more)
        is_applied, said = service.reload()
        assert not is_applied
        assert "roots.pem holds 65 different certificates, and at most 64 may vouch for clients" in said


def test_a_certificate_file_replaced_by_a_fifo_does_not_block_the_gateway(place):
    world = CertificateWorld(place)
    with world.service as service:
        fifo = place / "fifo"
        os.mkfifo(fifo)
        fifo.rename(world.roots)
        await_(lambda: "is not a regular file" in service.log.read_text(), "the log names the file")
        assert service.ask("GET", "/livez", listener="metrics")[0] == 200
        said = service.ask("POST", "/v1/reload", listener="admin")
        assert said[0] == 409 and b"is not a regular file" in said[2]
    assert service.process.returncode == 0


def test_a_configuration_file_replaced_by_a_fifo_is_refused_without_blocking(place):
    with Service(BINARY, place, configuration(place, allowed("load", mint()))) as service:
        fifo = place / "fifo"
        os.mkfifo(fifo)
        fifo.rename(service.configuration)
        for by in ("admin", "signal"):
            is_applied, said = service.reload(by)
            assert not is_applied and "is not a regular file" in said
        assert service.ask("GET", "/livez")[0] == 200
    assert service.process.returncode == 0


# Age


def test_a_connection_closes_with_an_answer_at_its_age_limit(place):
    token = mint()
    with Service(BINARY, place, configuration(place, allowed("load", token), limits="{connectionAge: 2}")) as service:
        head, body = request_bytes(token)
        with channel(service) as connected:
            begun, reader = time.monotonic(), Answers(connected)
            answered = 0
            while True:
                connected.sendall(head + body)
                status, fields, _ = reader.next()
                assert status == 200
                answered += 1
                if fields.get("connection") == "close":
                    break
                assert time.monotonic() - begun < 8
                time.sleep(0.05)
            assert 1.5 < time.monotonic() - begun and answered > 5
            assert reader.next() is None
        # A silent connection ends by itself.
        with channel(service) as connected:
            assert is_closed(connected, 8)


def test_a_connection_with_pipelined_requests_closes_at_its_age_limit(place):
    token = mint()
    with Service(BINARY, place, configuration(place, allowed("load", token), limits="{connectionAge: 1}")) as service:
        request = b"".join(request_bytes(token))
        with channel(service) as connected:
            begun, reader = time.monotonic(), Answers(connected)
            connected.sendall(request * 64)
            while answer := reader.next():
                assert answer[0] == 200 and time.monotonic() - begun < 10
                # Sixty-three more requests have been sent whenever an answer comes.
                try:
                    connected.sendall(request)
                except OSError:
                    break
            assert 0.5 < time.monotonic() - begun


# Request bodies in memory


def unfinished(token, length, path=OFFER + "/batch", sent=None):
    head = lines(
        f"POST {path} HTTP/1.1", HOST, f"Authorization: Bearer {token}", "Content-Type: application/json",
        f"Content-Length: {length}",
    )
    return head + b" " * (length - 1 if sent is None else sent)


def test_the_gateway_reads_no_body_of_a_client_over_its_rate(place):
    token = mint()
    clients = allowed("load", token).replace("perSecond: 100000, burst: 1000000", "perSecond: 0.001, burst: 2")
    with Service(BINARY, place, configuration(place, clients)) as service:
        with contextlib.ExitStack() as stack:
            opened = [stack.enter_context(channel(service)) for _ in range(3)]
            for connected in opened[:2]:
                connected.sendall(unfinished(token, 4096))
            # Both requests count for the rate. The order in which the gateway reads connections is undefined.
            await_(lambda: remaining(service) == 0, "both requests are counted")
            opened[2].sendall(unfinished(token, 4096))
            status, fields, body = Answers(opened[2]).next()
            assert (status, json.loads(body)["type"]) == (429, "urn:privyseal:problem:rate-limited")


def remaining(service):
    status, _, body = service.ask("GET", "/v1/status", listener="admin")
    assert status == 200
    return json.loads(body)["clients"][0]["rate"]["remaining"]


def test_a_batch_takes_its_number_of_requests_from_the_rate_once(place):
    token = mint()
    clients = allowed("load", token).replace("perSecond: 100000, burst: 1000000", "perSecond: 0.001, burst: 10")
    with Service(BINARY, place, configuration(place, clients)) as service:
        ask = lambda count: service.ask(
            "POST", OFFER + "/batch", {"requests": [BODY] * count}, {"Authorization": f"Bearer {token}"}
        )
        for count, status, left in ((4, 200, 6), (7, 429, 6), (11, 429, 6), (6, 200, 0), (1, 429, 0)):
            assert ask(count)[0] == status
            assert remaining(service) == left


@pytest.mark.parametrize("way", ["declared", "in chunks"])
def test_the_gateway_limits_the_body_bytes_in_flight_of_each_client(place, way):
    first, second = mint(), mint()
    clients = allowed("first", first) + "\n" + allowed("second", second)
    limits = "{batchBodyBytes: 65536, clientBodyBytes: 131072, totalBodyBytes: 196608}"
    with Service(BINARY, place, configuration(place, clients, limits=limits)) as service:
        with contextlib.ExitStack() as stack:

            def send(token):
                connected = stack.enter_context(channel(service))
                connected.sendall(unfinished(token, 65536) if way == "declared" else chunked(token, 65536))
                return connected

            def refused(token, whose):
                connected = send(token)
                status, fields, body = Answers(connected).next()
                problem = json.loads(body)
                assert (status, problem["type"]) == (503, "urn:privyseal:problem:too-many-bytes")
                assert whose in problem["detail"] and fields["retry-after"] == "1"

            held = [send(first), send(first)]
            await_(lambda: in_flight(service) >= 131072 - 2, "the bodies of the first client are in memory")
            refused(first, "The client first has")
            # Other clients have room until the total is used up.
            held.append(send(second))
            await_(lambda: in_flight(service) >= 196608 - 3, "the bodies of both clients are in memory")
            refused(second, "All clients together")
            for connected in held:
                connected.close()
            await_(lambda: in_flight(service) == 0, "no body is in memory")
            answer = service.ask("POST", OFFER, BODY, {"Authorization": f"Bearer {first}"})
            assert answer[0] == 200, answer


def chunked(token, length):
    head = lines(
        f"POST {OFFER}/batch HTTP/1.1", HOST, f"Authorization: Bearer {token}", "Content-Type: application/json",
        "Transfer-Encoding: chunked",
    )
    return head + b"%x\r\n" % length + b" " * length + b"\r\n"


def in_flight(service):
    return service.metric("privyseal_body_bytes")


def test_the_systemd_unit_allows_the_memory_that_the_default_limits_need():
    unit = (ROOT / "packaging" / "systemd" / "privyseal.service").read_text()
    gigabytes = int(re.search(r"^MemoryMax=(\d+)G$", unit, re.MULTILINE)[1])
    limits = yaml.safe_load(
        re.search(r"^limits:\n(?:  .*\n)+", (ROOT / "docs" / "configuration.md").read_text(), re.MULTILINE)[0]
    )["limits"]
    # In bytes: a TLS connection takes about 90 KiB.
    assert gigabytes << 30 > 2 * (limits["connections"] * (90 << 10) + limits["totalBodyBytes"])


# Shutdown


class BusyClient(threading.Thread):
    """Sends requests without a pause on one connection; opens another one only after the answer announces its close."""

    def __init__(self, service, token):
        super().__init__(daemon=True)
        self.service, self.request = service, b"".join(request_bytes(token))
        self.answered, self.lost, self.closed = 0, None, False

    def run(self):
        with channel(self.service) as connected:
            reader = Answers(connected)
            while not self.closed:
                try:
                    connected.sendall(self.request)
                    answer = reader.next()
                except OSError as error:
                    answer, self.lost = None, error
                if answer is None or answer[0] != 200:
                    self.lost = self.lost or answer or "closed without an answer"
                    return
                self.answered += 1
                self.closed = answer[1].get("connection") == "close"


@pytest.mark.parametrize("delay", [0, 1])
def test_a_stop_loses_no_request_of_a_busy_connection(place, delay):
    token = mint()
    text = configuration(place, allowed("load", token)).replace("drainDelay: 0", f"drainDelay: {delay}")
    service = Service(BINARY, place, text).start()
    busy = [BusyClient(service, token) for _ in range(32)]
    for client in busy:
        client.start()
    await_(lambda: all(client.answered > 10 for client in busy), "each client has answers")
    assert service.stop() == 0
    for client in busy:
        client.join(10)
    assert [client.lost for client in busy if client.lost] == []
    assert all(client.closed for client in busy)


def test_a_request_in_transit_during_a_stop_is_answered(place):
    token = mint()
    service = Service(BINARY, place, configuration(place, allowed("load", token))).start()
    with channel(service) as connected, channel(service) as silent:
        reader, request = Answers(connected), b"".join(request_bytes(token))
        connected.sendall(request)
        assert reader.next()[0] == 200
        stopping = threading.Thread(target=service.stop)
        stopping.start()
        await_(lambda: refuses(service), "the gateway has closed its listeners")
        connected.sendall(request)
        status, fields, _ = reader.next()
        assert (status, fields["connection"]) == (200, "close")
        assert reader.next() is None
        assert is_closed(silent)
    stopping.join(30)
    assert service.process.returncode == 0


def refuses(service):
    try:
        channel(service).close()
    except ConnectionRefusedError:
        return True
    return False
