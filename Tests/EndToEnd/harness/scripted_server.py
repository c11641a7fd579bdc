"""An HTTP server that gives the answers of a script, one for each request, and records the requests."""

import http.server
import json
import socket
import ssl
import sys
import threading
import time


def answer(status, body, **headers):
    """`body`: bytes, or a value for JSON. Underscores in the names of headers become hyphens."""

    def write(handler):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = "application/json" if status == 200 else "application/problem+json"
        fields = {"Content-Type": kind, "Content-Length": str(len(content)), "X-Request-Id": "fake"}
        fields.update({name.replace("_", "-"): str(value) for name, value in headers.items()})
        handler.send_response(status)
        for name, value in fields.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return write


def problem(status, **headers):
    document = {"type": "urn:privyseal:problem:scripted", "title": "t", "status": status, "detail": "d", "requestId": "fake"}
    return answer(status, document, **headers)


def broken(handler):
    """Closes the connection without an answer."""
    handler.connection.shutdown(socket.SHUT_RDWR)


def broken_in_the_body(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"jws":')


def hanging(handler):
    """Sends nothing until the client closes the connection."""
    handler.connection.recv(1)


def hanging_in_the_body(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"{")
    handler.wfile.flush()
    handler.connection.recv(1)


class Request:
    def __init__(self, handler, body):
        self.time, self.path, self.body = time.monotonic(), handler.path, body
        self.authorization = handler.headers["Authorization"]
        self.content_type = handler.headers["Content-Type"]


class LocalServer:
    """An HTTP server on this machine, or an HTTPS server with an identity of authority.py; it runs within `with`, whose end
    raises the first error of a handler."""

    def __init__(self, handler, identity=None):
        self.errors = []
        errors = self.errors

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request, client_address):
                error = sys.exception()
                # A client may refuse the certificate, or close the connection before the answer.
                if not isinstance(error, (ConnectionError, ssl.SSLError)):
                    errors.append(error)

        self.server = Server(("127.0.0.1", 0), handler)
        self.port = self.server.server_port
        self.url = f"{'https' if identity else 'http'}://127.0.0.1:{self.port}"
        if identity:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(identity.certificate_path, identity.key_path)
            # The handshake is in the thread of the connection.
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
        if self.errors:
            raise self.errors[0]


class ScriptedServer(LocalServer):
    """`script`: one function for each request. It has an end, so a client that retries too often gets no answer."""

    def __init__(self, *script):
        self.requests, self.script, self.lock = [], list(script), threading.Lock()
        scripted = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with scripted.lock:
                    scripted.requests.append(Request(self, body))
                    step = scripted.script.pop(0) if scripted.script else answer(418, {})
                step(self)

            def log_message(self, *_):
                pass

        super().__init__(Handler)

    @property
    def times(self):
        return [request.time for request in self.requests]
