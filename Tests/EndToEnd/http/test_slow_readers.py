"""A client that reads its answer slowly gets the whole answer, however the connection ends."""

import concurrent.futures
import json
import re
import socket
import threading
import time

import pytest
from conftest import BINARY
from listeners import configuration
from raw import channel, lines
from running import APP, allowed
from service import Service, mint

# Longer than a connection stays open after an answer that the client has read.
PAUSE = 1.7


def batch():
    """A request whose answer has about 550 KiB: more than the kernel's buffers of a Unix socket."""
    data = {
        "operation": "CREATE_SUBSCRIPTION",
        "version": "1",
        "requestInfo": {"requestReferenceId": "f55df048-4cd8-4261-b404-b6f813ff70e5"},
        "padding": ["y" * 200] * 20,
    }
    return json.dumps({"requests": [{"request": data}] * 30}).encode()


def request(token, *fields, version="1.1"):
    body = batch()
    return lines(
        f"POST /v1/apps/{APP}/advanced-commerce-api/batch HTTP/{version}",
        "Host: localhost",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *fields,
        body=body,
    )


class Gateway(Service):
    def __init__(self, place, token, limits="{}", rest=""):
        rest = f"validation: {{advancedCommerce: envelope}}\n{rest}"
        text = configuration(place, allowed("load", token), limits=limits, rest=rest)
        text = text.replace("[promotional-offer]", "[advanced-commerce-api]")
        super().__init__(BINARY, place, text.replace('"127.0.0.1:0"', f'"unix:{place}/public.sock"', 1))


def read_slowly(connected, meanwhile=lambda: None):
    """Pauses after the first bytes of an answer: (bytes of the body received, bytes announced)."""
    connected.settimeout(20)
    data = connected.recv(10_000)
    meanwhile()
    time.sleep(PAUSE)
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), data
    length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
    assert length > 400_000
    while len(body) < length and (chunk := connected.recv(65536)):
        body += chunk
    return len(body), length


def test_a_slowly_read_answer_arrives_completely(place):
    token, ways = mint(), ("close", "HTTP/1.0", "half-closed", "age")
    for name in ("any-age", "limited-age"):
        (place / name).mkdir()
    with Gateway(place / "any-age", token) as any_age, Gateway(place / "limited-age", token, "{connectionAge: 1}") as limited:

        def read(way):
            with channel(limited if way == "age" else any_age) as connected:
                fields = ["Connection: close"] if way == "close" else []
                connected.sendall(request(token, *fields, version="1.0" if way == "HTTP/1.0" else "1.1"))
                if way == "half-closed":
                    connected.shutdown(socket.SHUT_WR)
                received, length = read_slowly(connected)
                return received == length and connected.recv(65536) == b""

        with concurrent.futures.ThreadPoolExecutor() as pool:
            assert dict(zip(ways, pool.map(read, ways))) == dict.fromkeys(ways, True)


def test_a_slowly_read_answer_arrives_completely_during_a_stop(place):
    token = mint()
    service = Gateway(place, token).start()
    stopping = threading.Thread(target=service.stop)
    with channel(service) as connected:
        connected.sendall(request(token))
        received, length = read_slowly(connected, stopping.start)
        assert received == length
        assert connected.recv(65536) == b""
    stopping.join(30)
    assert service.process.returncode == 0


def test_the_gateway_disconnects_a_client_that_does_not_read_after_the_idle_time(place):
    token = mint()
    with Gateway(place, token, "{idleTimeout: 2}") as service, channel(service) as connected:
        connected.sendall(request(token, "Connection: close"))
        connected.settimeout(20)
        data = connected.recv(10_000)
        time.sleep(4)
        while chunk := connected.recv(65536):
            data += chunk
        head, _, body = data.partition(b"\r\n\r\n")
        assert len(body) < int(re.search(rb"(?i)content-length: (\d+)", head)[1])


@pytest.mark.parametrize("way", ["close", "half-closed"])
def test_a_client_that_does_not_read_its_answer_delays_the_stop_by_the_grace_period_only(place, way):
    token = mint()
    service = Gateway(place, token, rest="shutdownGracePeriod: 1").start()
    with channel(service) as connected:
        connected.sendall(request(token, *(["Connection: close"] if way == "close" else [])))
        if way == "half-closed":
            connected.shutdown(socket.SHUT_WR)
        # The answer has begun.
        assert connected.recv(12) == b"HTTP/1.1 200"
        begun = time.monotonic()
        assert service.stop() == 0
        assert time.monotonic() - begun < 15
