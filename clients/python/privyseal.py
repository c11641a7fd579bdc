"""A client of the PrivySeal gateway. It needs only the standard library of Python 3.9 or later."""

import base64
import concurrent.futures
import email.utils
import http.client
import json
import math
import os
import random
import re
import socket
import ssl
import threading
import time
import urllib.parse

# Shorter than the time after which the gateway closes an idle connection (60 s).
_IDLE_SECONDS = 30
# RFC 6750 §2.1.
_BEARER_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")


class PrivySealError(Exception):
    """No signature and no token."""


class Problem(PrivySealError):
    """An error answer of the gateway (RFC 9457). `field` is the wrong member of the request, or None. `retry_after` is in
    seconds; None if the answer has no Retry-After, and infinite if it is not a number of at most 9 digits."""

    def __init__(self, status, retry_after=None, type="about:blank", title="", detail="", field=None, request_id=None):
        super().__init__(f"the gateway answered {status} {type}: {detail} (request {request_id})")
        self.status, self.retry_after = status, retry_after
        self.type, self.title, self.detail, self.field, self.request_id = type, title, detail, field, request_id


class InvalidAnswer(PrivySealError):
    """An answer that does not follow the HTTP API."""

    def __init__(self, reason, request_id=None):
        super().__init__(f"the answer is invalid: {reason} (request {request_id})")
        self.reason, self.request_id = reason, request_id


class NoAnswer(PrivySealError):
    """An attempt without a complete answer: no connection, a broken one, or a timeout."""


class Client:
    """Several threads may use one client."""

    def __init__(self, url, token_file, ca_file=None, timeout=15, max_wait=10, max_answer_bytes=1 << 20):
        """`url`: of the public listener, such as https://gateway.example.com:8443.
        `token_file`: contains the client's bearer token. It is read for each request, so the token can be replaced.
        `ca_file`: trusted certificates in PEM, by default those of the system.
        `timeout`: seconds for each attempt. The gateway's own limit is 10 s.
        `max_wait`: the longest Retry-After, in seconds, that the client waits for.
        """
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("https", "http") or not parts.hostname or parts.username or "?" in url or "#" in url:
            raise ValueError("the URL must be https://HOST or http://HOST, with an optional port and path")
        self._host, self._port, self._base = parts.hostname, parts.port, parts.path.rstrip("/")
        # Without a port, http.client would read the end of an IPv6 address as one.
        if self._port is None:
            self._port = 443 if parts.scheme == "https" else 80
        self._tls = None
        if parts.scheme == "https":
            self._tls = ssl.create_default_context(cafile=ca_file or None)
            self._tls.minimum_version = ssl.TLSVersion.TLSv1_2
        self._token_file = token_file
        self._timeout, self._max_wait, self._max_answer_bytes = timeout, max_wait, max_answer_bytes
        self._lock = threading.Lock()
        # Idle connections with the time of their last answer, and futures of tokens.
        self._idle, self._tokens = [], {}

    @classmethod
    def from_environment(cls, url=None, token_file=None, ca_file=None):
        """The gateway of PRIVYSEAL_URL, PRIVYSEAL_TOKEN_FILE and, if it is set, PRIVYSEAL_CA_FILE. An argument replaces its
        variable."""
        url = url or os.environ.get("PRIVYSEAL_URL")
        token_file = token_file or os.environ.get("PRIVYSEAL_TOKEN_FILE")
        for value, name in ((url, "PRIVYSEAL_URL"), (token_file, "PRIVYSEAL_TOKEN_FILE")):
            if not value:
                raise ValueError(f"the environment variable {name} is not set")
        return cls(url, token_file, ca_file or os.environ.get("PRIVYSEAL_CA_FILE"))

    def close(self):
        """Closes the idle connections."""
        with self._lock:
            while self._idle:
                self._idle.pop()[1].close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def offer(self, bundle_id, feature, fields):
        """The answer of a feature, as a dictionary with the members of docs/http-api.md."""
        return self._post(f"/v1/apps/{_quote(bundle_id)}/{_quote(feature)}", _json(fields), _OFFERS.get(feature, {}))[0]

    def app_token(self, bundle_id):
        """A token for the App Store Server API, as a dictionary."""
        return self._token(f"/v1/apps/{_quote(bundle_id)}/app-store-server-api", b"{}")

    def service_token(self, name, fields=None):
        """A token for a service of the gateway's configuration, as a dictionary."""
        return self._token(f"/v1/services/{_quote(name)}/token", _json(fields or {}))

    def _token(self, path, body):
        key = (path, body)
        with self._lock:
            self._tokens = {name: future for name, future in self._tokens.items() if not _is_over(future)}
            future = self._tokens.get(key)
            is_first = future is None
            if is_first:
                future = concurrent.futures.Future()
                # A thread of its own: an interrupt of this caller must not end the request for the others.
                threading.Thread(target=self._request_token, args=(future, path, body), daemon=True).start()
                self._tokens[key] = future
        answer, _ = future.result()
        # If Apple wants a new token for each request, only the caller that asked may use this one.
        if not is_first and _is_over(future):
            answer, _ = self._post(path, body, _TOKEN)
        return dict(answer)

    def _request_token(self, future, path, body):
        try:
            future.set_result(self._post(path, body, _TOKEN))
        except BaseException as error:
            future.set_exception(error)

    def _post(self, path, body, members):
        """The answer, and for a token the end of its use by the monotonic clock."""
        for attempt in (1, 2, 3):
            try:
                return self._attempt(path, body, members, attempt)
            except PrivySealError as error:
                wait = self._wait_before_retry(error, attempt)
                if wait is None:
                    raise
            time.sleep(wait)

    def _wait_before_retry(self, error, attempt):
        """Seconds, or None for no retry; as "Retrying" of docs/http-api.md says."""
        if attempt == 3:
            return None
        if isinstance(error, NoAnswer):
            return 0
        after = getattr(error, "retry_after", None)
        if not isinstance(error, Problem) or after == math.inf or (after or 0) > self._max_wait:
            return None
        if error.status == 408 or (error.status == 500 and attempt == 1):
            return 0
        if error.status == 504:
            return after or 0
        # Callers that were refused together must not return together.
        if error.status == 429 and after is not None:
            return after + random.random()
        if error.status == 503:
            # The gateway always sends Retry-After. A proxy may not.
            return (1 if after is None else after) + random.random()
        return None

    def _attempt(self, path, body, members, attempt):
        headers = {"Authorization": f"Bearer {_read_token(self._token_file)}", "Content-Type": "application/json"}
        begun = time.monotonic()
        connection = None
        try:
            # The gateway may have closed an idle connection, so a retry does not use one.
            connection = (attempt == 1 and self._take_idle()) or self._connect()
            # The timeout of a socket begins again with each byte, so a timer ends the attempt.
            is_late = threading.Event()
            timer = threading.Timer(self._timeout, _shut_down, [connection.sock, is_late])
            timer.daemon = True
            timer.start()
            try:
                connection.request("POST", self._base + path, body, headers)
                answer = connection.getresponse()
                content = answer.read(self._max_answer_bytes + 1)
                # Without an error: `getresponse` reads the end of the connection as the end of the header, and `read`
                # with a limit reads it as the end of the body.
                if is_late.is_set():
                    raise TimeoutError(f"no complete answer in {self._timeout} s")
                if len(content) <= self._max_answer_bytes and answer.length:
                    raise http.client.IncompleteRead(content, answer.length)
            finally:
                timer.cancel()
        except (OSError, http.client.HTTPException) as error:
            if connection:
                connection.close()
            raise NoAnswer(f"no answer from the gateway: {type(error).__name__}: {_describe(error)}") from error
        if len(content) > self._max_answer_bytes:
            connection.close()
            raise InvalidAnswer(f"it has more than {self._max_answer_bytes} bytes", answer.headers["X-Request-Id"])
        if answer.status < 200:
            # The final answer may follow, and must not become the answer to the next request.
            connection.close()
        if connection.sock is not None:
            with self._lock:
                self._idle.append((time.monotonic(), connection))
        value = _read_answer(answer, content, members)
        if members is not _TOKEN:
            return value, None
        return value, begun + _seconds_to_keep(value, answer.headers["Date"])

    def _take_idle(self):
        with self._lock:
            since = time.monotonic() - _IDLE_SECONDS
            for _, connection in [entry for entry in self._idle if entry[0] < since]:
                connection.close()
            self._idle = [entry for entry in self._idle if entry[0] >= since]
            return self._idle.pop()[1] if self._idle else None

    def _connect(self):
        # http.client reads no proxy from the environment, and follows no redirect to another server.
        if self._tls:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._tls)
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        connection.response_class = _FinalResponse
        connection.connect()
        return connection


class _FinalResponse(http.client.HTTPResponse):
    """Skips up to ten interim answers (RFC 9110 §15.2). http.client skips only those with status 100."""

    def begin(self):
        super().begin()
        for _ in range(10):
            # 101 ends HTTP on this connection.
            if self.status >= 200 or self.status == 101:
                break
            # With headers, `begin` would return at once.
            self.headers = None
            super().begin()


def _shut_down(channel, is_late):
    is_late.set()
    try:
        # The method of a TLS socket would also change the object that another thread reads from.
        socket.socket.shutdown(channel, socket.SHUT_RDWR)
    except OSError:
        pass


def _describe(error):
    # The text of IncompleteRead and BadStatusLine can be part of an answer.
    return "" if isinstance(error, http.client.HTTPException) else str(error)


def _is_over(future):
    if not future.done():
        return False
    if future.exception() is not None:
        return True
    answer, end = future.result()
    return time.time() >= answer["refreshAfter"] or time.monotonic() >= end


def _seconds_to_keep(token, date):
    """Compares only times of the gateway, because the clock of this machine may be wrong. `issuedAt` is not enough: the
    gateway may have issued the token long before this answer."""
    try:
        answered = email.utils.parsedate_to_datetime(date).timestamp()
    # An absent or invalid date. The kind of the error depends on the version of Python.
    except (TypeError, ValueError, IndexError, OverflowError):
        answered = 0
    return token["refreshAfter"] - max(token["issuedAt"], answered)


def _quote(segment):
    return urllib.parse.quote(segment, safe="")


def _json(fields):
    return json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()


def _read_token(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        token = file.read().strip()
    if not _BEARER_TOKEN.fullmatch(token):
        raise ValueError(f"{path} does not contain a bearer token")
    return token


def _read_answer(answer, content, members):
    request_id = answer.headers["X-Request-Id"]
    if answer.status >= 400:
        raise _read_problem(answer, content)
    if answer.status != 200:
        raise InvalidAnswer(f"its status is {answer.status}", request_id)
    value = _read_object(content)
    if value is None:
        raise InvalidAnswer("it is not a JSON object", request_id)
    for name, (is_valid, kind) in members.items():
        if name not in value:
            raise InvalidAnswer(f'"{name}" is missing', request_id)
        if not is_valid(value[name]):
            raise InvalidAnswer(f'"{name}" is not {kind}', request_id)
    if members is _TOKEN and not value["issuedAt"] <= value["refreshAfter"] <= value["expiresAt"]:
        raise InvalidAnswer('"issuedAt", "refreshAfter" and "expiresAt" are not in order', request_id)
    return value


def _read_problem(answer, content):
    after = answer.headers["Retry-After"]
    if after is not None:
        after = int(after) if re.fullmatch(r"\s*[0-9]{1,9}\s*", after, re.ASCII) else math.inf
    members = {"request_id": answer.headers["X-Request-Id"]}
    # A proxy may answer with another content type. Then only the status is known.
    if answer.headers.get_content_type() == "application/problem+json":
        document = _read_object(content) or {}
        names = {"type": "type", "title": "title", "detail": "detail", "field": "field", "requestId": "request_id"}
        # RFC 9457 §3.1: a member of the wrong kind is ignored.
        members.update({names[name]: document[name] for name in names if isinstance(document.get(name), str)})
    return Problem(answer.status, after, **members)


def _read_object(content):
    """The JSON object, or None. JSON that is nested too deeply ends in a RecursionError."""
    try:
        value = json.loads(content.decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_base64(text, url_safe=False):
    """Whether the text is exactly the encoding of its bytes: nothing else decodes and encodes to itself."""
    if not isinstance(text, str) or not text.isascii():
        return False
    try:
        if url_safe:
            padded = text + "=" * (-len(text) % 4)
            return bool(text) and base64.urlsafe_b64encode(base64.urlsafe_b64decode(padded)).decode().rstrip("=") == text
        return bool(text) and base64.b64encode(base64.b64decode(text, validate=True)).decode() == text
    except ValueError:
        return False


def _is_jws(text):
    parts = text.split(".") if isinstance(text, str) else []
    return len(parts) == 3 and all(_is_base64(part, url_safe=True) for part in parts)


def _is_nonce(text):
    return isinstance(text, str) and bool(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text))


# The required members of an answer: the check of a value, and what the value is.
_TEXT = (lambda value: isinstance(value, str) and value != "", "a text that is not empty")
_TIME = (lambda value: type(value) is int and 0 < value < 1 << 53, "a positive integer")
_NONCE = (_is_nonce, "a UUID in lower case")
_JWS = (_is_jws, "a JWS in compact serialization")
_BASE64 = (_is_base64, "padded Base64")
_TOKEN = {"token": _JWS, "keyId": _TEXT, "issuedAt": _TIME, "expiresAt": _TIME, "refreshAfter": _TIME}
_JWS_OFFER = {"jws": _JWS, "keyId": _TEXT, "nonce": _NONCE, "issuedAt": _TIME}
_OFFERS = {
    "legacy-promotional-offer": {"keyIdentifier": _TEXT, "nonce": _NONCE, "timestamp": _TIME, "signature": _BASE64},
    "promotional-offer": _JWS_OFFER,
    "introductory-offer-eligibility": _JWS_OFFER,
    "advanced-commerce-api": {**_JWS_OFFER, "advancedCommerceData": _BASE64},
    "app-store-server-api": _TOKEN,
}
