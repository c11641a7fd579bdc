"""Requests as bytes on a socket, for tests that HTTP libraries cannot send."""

import re
import socket
import ssl
import time


def channel(service, listener="public", tls=None):
    address = service.addresses[listener]
    if address.startswith("unix:"):
        result = socket.socket(socket.AF_UNIX)
        result.settimeout(10)
        result.connect(address.removeprefix("unix:"))
    else:
        host, _, port = address.rpartition(":")
        result = socket.create_connection((host, int(port)), timeout=10)
        result.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return tls.wrap_socket(result, server_hostname="localhost") if tls else result


def lines(*texts, body=b""):
    return "\r\n".join([*texts, "", ""]).encode("latin-1") + body


class Answers:
    """Reads the answers on a connection one after the other."""

    def __init__(self, connected):
        self.connected, self.rest = connected, b""

    def next(self):
        """(status, fields with lower-case names, body); None if the peer has closed."""
        while b"\r\n\r\n" not in self.rest:
            if not self._more():
                assert self.rest == b"", f"the connection was closed within an answer: {self.rest!r}"
                return None
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        first, *fields = head.decode().split("\r\n")
        fields = {name.lower(): value for name, _, value in (field.partition(": ") for field in fields)}
        length = int(fields.get("content-length", 0))
        while len(self.rest) < length:
            assert self._more(), f"the connection was closed within a body: {self.rest!r}"
        body, self.rest = self.rest[:length], self.rest[length:]
        return int(re.match(r"HTTP/1\.1 (\d{3})", first)[1]), fields, body

    def _more(self):
        try:
            chunk = self.connected.recv(65536)
        except (ConnectionResetError, ssl.SSLEOFError):
            chunk = b""
        self.rest += chunk
        return chunk


def send_until_closed(connected, size, piece=bytes(65536), seconds=5):
    """Sends at most `size` bytes, while the peer accepts them. Returns the number of bytes sent."""
    sent, end = 0, time.monotonic() + seconds
    connected.settimeout(0.5)
    try:
        while sent < size and time.monotonic() < end:
            connected.sendall(piece)
            sent += len(piece)
    except OSError:
        pass
    return sent
