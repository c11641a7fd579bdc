"""The clients in Go, PHP and Java: against a gateway with TLS, and against a server with scripted answers."""

import base64
import contextlib
import email.utils
import json
import os
import pathlib
import select
import shutil
import subprocess
import threading
import time
import uuid

import jwt
import pytest
from auditing import AuditCopy
from authority import SERVER, Authority
from conftest import BINARY, BUNDLE_ID, FEATURES, ISSUER_ID, KEY_ID, ROOT
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from identities import IssuerKey, claims, key_set
from scripted_server import (
    ScriptedServer,
    answer,
    broken,
    broken_in_the_body,
    hanging,
    hanging_in_the_body,
    problem,
)
from service import Service, digest, mint, write_key, write_secret

CLIENTS = ROOT / "clients"
DRIVERS = pathlib.Path(__file__).parent / "drivers"
TOKEN = mint()
TEAM, PUSH_KEY = "ABCDE12345", "PUSHKEY001"
ISSUER, AUDIENCE = "https://platform.example.com", "https://privyseal.example.com"
OFFER = {"productId": "com.example.monthly", "offerIdentifier": "winback"}


def run(*command, **keywords):
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, **keywords)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def go(directory):
    shutil.copy(DRIVERS / "driver.go", directory)
    (directory / "go.mod").write_text(
        f"module driver\n\ngo 1.19\n\nrequire privyseal v0.0.0\n\nreplace privyseal => {CLIENTS / 'go'}\n"
    )
    # The build needs no network and no C compiler.
    environment = {**os.environ, "GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOCACHE": str(directory / "cache"), "CGO_ENABLED": "0"}
    run("go", "vet", ".", cwd=CLIENTS / "go", env=environment)
    run("go", "build", "-o", "driver", ".", cwd=directory, env=environment)
    return [directory / "driver"]


def php(_):
    errors = ["-d", "display_errors=stderr", "-d", "error_reporting=-1", "-d", "zend.exception_ignore_args=0"]
    return ["php", *errors, DRIVERS / "driver.php", CLIENTS / "php" / "PrivySeal.php"]


def java(directory):
    sources = CLIENTS / "java" / "PrivySeal.java", DRIVERS / "Driver.java"
    # Exceptions are serializable, but the client's need no version.
    run("javac", "--release", "17", "-Xlint:all,-serial", "-Werror", "-d", directory, *sources)
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", directory, "privyseal.Driver"]


class Client:
    """A running driver. Its standard error must stay empty."""

    def __init__(self, command, directory, url, ca_file="", timeout=10, max_wait=5, max_answer_bytes=1 << 20):
        self.token_file = directory / "token"
        if not self.token_file.exists():
            write_secret(self.token_file, TOKEN.encode() + b"\n")
        arguments = [url, self.token_file, ca_file, timeout, max_wait, max_answer_bytes]
        self.errors = open(directory / "errors", "w+")
        self.process = subprocess.Popen(
            list(map(str, [*command, *arguments])), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors
        )

    def calls(self, call, callers=1, **members):
        """The results of simultaneous calls."""
        line = json.dumps({"call": call, "callers": callers, "fields": {}, **members}).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        assert select.select([self.process.stdout], [], [], 60)[0], "the driver did not answer"
        text = self.process.stdout.readline()
        self.errors.seek(0)
        assert text, self.errors.read()
        return json.loads(text)

    def offer(self, feature="promotional-offer", fields=OFFER, bundle=BUNDLE_ID):
        return self.calls("offer", bundleId=bundle, feature=feature, fields=fields)[0]

    def app_token(self):
        return self.calls("appToken", bundleId=BUNDLE_ID)[0]

    def service_token(self, name="push", fields={}):
        return self.calls("serviceToken", name=name, fields=fields)[0]

    def stop(self):
        self.process.stdin.close()
        status = self.process.wait(timeout=30)
        self.process.stdout.close()
        self.errors.seek(0)
        text = self.errors.read()
        self.errors.close()
        assert (status, text) == (0, "")


@pytest.fixture(scope="session", params=[go, php, java], ids=lambda language: language.__name__)
def command(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp(request.param.__name__))


@pytest.fixture
def connect(command, tmp_path):
    """Starts a client of a URL."""
    with contextlib.ExitStack() as stack:

        def start(url, **options):
            client = Client(command, tmp_path, url, **options)
            stack.callback(client.stop)
            return client

        yield start


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    directory = tmp_path_factory.mktemp("gateway")
    authority = Authority(directory, "authority")
    # The certificate does not have the address, for the test with the wrong name.
    server = authority.issue("server", SERVER, dns=["localhost"])
    key = write_key(directory / "AuthKey.p8")
    push = write_key(directory / "PushKey.p8")
    issuer = IssuerKey("platform")
    (directory / "keys.json").write_text(json.dumps(key_set(issuer)))
    service = Service(
        BINARY,
        directory,
        f"""
listeners:
  public:
    address: "127.0.0.1:0"
    tls: {{certificate: {server.certificate_path}, key: {server.key_path}}}
drainDelay: 0
audit: {{database: {directory}/audit.db}}
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: {BUNDLE_ID}, features: [{", ".join(FEATURES)}]}}]
    keys: [{{keyId: {KEY_ID}, uri: "file:{directory}/AuthKey.p8"}}]
    activeKey: {KEY_ID}
services:
  - name: push
    profile: apns
    teamId: {TEAM}
    keys: [{{keyId: {PUSH_KEY}, uri: "file:{directory}/PushKey.p8"}}]
    activeKey: {PUSH_KEY}
issuers:
  - {{name: platform, issuer: "{ISSUER}", audience: "{AUDIENCE}", keys: {directory}/keys.json}}
clients:
  - name: shop
    tokens: [{{sha256: "{digest(TOKEN)}"}}]
    identities: [{{issuer: platform, subject: web}}]
    allow:
      - {{apps: ["*"], features: ["*", app-store-server-api], products: ["com.example.*"], offers: ["*"]}}
      - {{services: [push, push-*]}}
""",
    )
    with service:
        service.public_key, service.push_key, service.issuer = key.public_key(), push.public_key(), issuer
        service.database = directory / "audit.db"
        service.url = "https://localhost:" + service.addresses["public"].rpartition(":")[2]
        service.ca_file = authority.certificate.certificate_path
        yield service


# A gateway


def claims_of(gateway, token, audience):
    header = jwt.get_unverified_header(token)
    assert header == {"alg": "ES256", "kid": KEY_ID, "typ": "JWT"}
    return jwt.decode(token, gateway.public_key, algorithms=["ES256"], audience=audience)


REQUEST = {
    "operation": "REACTIVATE_SUBSCRIPTION",
    "version": "1",
    "requestInfo": {"requestReferenceId": "f55df048-4cd8-4261-b404-b6f813ff70e5"},
    "transactionId": "1000011859217",
}
JWS_REQUESTS = {
    "promotional-offer": {**OFFER, "transactionId": "1"},
    "introductory-offer-eligibility": {
        "productId": "com.example.\"ü\"\\/<&>日本", "allowIntroductoryOffer": True, "transactionId": "1",
    },
    "advanced-commerce-api": {"request": REQUEST},
}


@pytest.mark.parametrize("feature", JWS_REQUESTS)
def test_a_client_gets_a_jws_that_verifies(connect, gateway, feature):
    client = connect(gateway.url, ca_file=gateway.ca_file)
    fields = JWS_REQUESTS[feature]
    found = client.offer(feature, fields)["answer"]
    claims = claims_of(gateway, found["jws"], feature)
    assert (claims["bid"], claims["iss"]) == (BUNDLE_ID, ISSUER_ID)
    assert (found["keyId"], found["nonce"], found["issuedAt"]) == (KEY_ID, claims["nonce"], claims["iat"])
    if feature == "advanced-commerce-api":
        assert json.loads(base64.b64decode(claims["request"], validate=True)) == REQUEST
        signed = json.loads(base64.b64decode(found.pop("advancedCommerceData"), validate=True))
        assert signed == {"signatureInfo": {"token": found["jws"]}}
    else:
        assert {name: claims[name] for name in fields} == fields
    assert found.keys() == {"jws", "keyId", "nonce", "issuedAt"}


def test_a_client_gets_a_legacy_signature_that_verifies(connect, gateway):
    client = connect(gateway.url, ca_file=gateway.ca_file)
    found = client.offer("legacy-promotional-offer", {**OFFER, "applicationUsername": "Jane Döe"})["answer"]
    assert found.keys() == {"keyIdentifier", "nonce", "timestamp", "signature"}
    text = [BUNDLE_ID, KEY_ID, *OFFER.values(), "Jane Döe", found["nonce"], str(found["timestamp"])]
    signature = base64.b64decode(found["signature"], validate=True)
    gateway.public_key.verify(signature, "\u2063".join(text).encode(), ec.ECDSA(SHA256()))


def test_a_client_gets_a_token_for_the_app_store_server_api(connect, gateway):
    client = connect(gateway.url, ca_file=gateway.ca_file)
    found = client.app_token()["answer"]
    assert found.keys() == {"token", "keyId", "issuedAt", "expiresAt", "refreshAfter"}
    claims = claims_of(gateway, found["token"], "appstoreconnect-v1")
    assert (claims["bid"], claims["iat"], claims["exp"]) == (BUNDLE_ID, found["issuedAt"], found["expiresAt"])
    # Apple wants a new token for each request, so `refreshAfter` is the time of the answer.
    assert client.app_token()["answer"]["token"] != found["token"]


def test_a_client_gets_one_token_for_push_notifications_and_keeps_it(connect, gateway):
    before = len(AuditCopy(gateway.database).of_kind("handout"))
    client = connect(gateway.url, ca_file=gateway.ca_file)
    answers = [client.service_token()["answer"] for _ in range(3)]
    assert answers == [answers[0]] * 3
    found = answers[0]
    assert jwt.get_unverified_header(found["token"]) == {"alg": "ES256", "kid": PUSH_KEY}
    claims = jwt.decode(found["token"], gateway.push_key, algorithms=["ES256"])
    assert claims == {"iss": TEAM, "iat": found["issuedAt"]}
    assert (found["keyId"], found["refreshAfter"] - found["issuedAt"]) == (PUSH_KEY, 3000)
    assert len(AuditCopy(gateway.database).of_kind("handout")) == before + 1


@pytest.mark.parametrize("name, status, kind", [("pull", 403, "forbidden"), ("push-later", 404, "unknown-service")])
def test_a_service_that_the_gateway_does_not_give_is_an_error(connect, gateway, name, status, kind):
    error = connect(gateway.url, ca_file=gateway.ca_file).service_token(name)
    assert (error["error"], error["status"], error["type"]) == ("problem", status, f"urn:privyseal:problem:{kind}"), error
    assert f'"{name}"' in error["detail"]


def test_a_client_proves_who_it_is_with_the_jwt_of_its_platform(connect, gateway):
    client = connect(gateway.url, ca_file=gateway.ca_file)
    for subject, is_known in (("web", True), ("other", False), ("web", True)):
        write_secret(client.token_file, gateway.issuer.token(claims(ISSUER, AUDIENCE, subject)).encode() + b"\n")
        found = client.offer()
        assert ("answer" in found) == is_known, found
        assert is_known or found["type"] == "urn:privyseal:problem:unauthenticated"


REFUSALS = {
    "a wrong member": ("promotional-offer", {**OFFER, "productID": "p"}, BUNDLE_ID, 422, "invalid-request", "productID"),
    "an empty object": ("promotional-offer", {}, BUNDLE_ID, 422, "invalid-request", "productId"),
    "a product that the client may not use": ("promotional-offer", {**OFFER, "productId": "x"}, BUNDLE_ID, 403, "forbidden", ""),
    "a bundle ID with a slash": ("promotional-offer", OFFER, "com.example/app ü", 404, "unknown-app", ""),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_of_the_gateway_is_an_error_with_its_members(connect, gateway, refusal):
    feature, fields, bundle, status, kind, field = REFUSALS[refusal]
    error = connect(gateway.url, ca_file=gateway.ca_file).offer(feature, fields, bundle)
    assert (error["error"], error["status"], error["type"]) == ("problem", status, f"urn:privyseal:problem:{kind}"), error
    assert error["field"] == field
    assert error["detail"] and error["title"] and error["detail"] in error["message"]
    assert error["requestId"] and f"(request {error['requestId']})" in error["message"]


def test_a_changed_token_file_is_used_by_the_next_request(connect, gateway):
    client = connect(gateway.url, ca_file=gateway.ca_file)
    assert "answer" in client.offer()
    other = mint()
    write_secret(client.token_file, other.encode())
    error = client.offer()
    assert (error["status"], error["type"]) == (401, "urn:privyseal:problem:unauthenticated")
    assert other not in json.dumps(error)
    # The file keeps its length, and perhaps its time.
    write_secret(client.token_file, TOKEN.encode())
    assert "answer" in client.offer()


def test_a_token_file_without_a_token_is_refused_without_its_content(connect, gateway):
    client = connect(gateway.url, ca_file=gateway.ca_file)
    for content in (b"", b"sesame\nsesame", b"sesame\r\nX-Injected: 1", b"sesame " * 2):
        write_secret(client.token_file, content)
        error = client.offer()
        assert error["error"] == "other" and str(client.token_file) in error["message"]
        assert "sesame" not in error["message"]
    client.token_file.unlink()
    assert client.offer()["error"] == "other"


def test_a_server_that_no_trusted_authority_certified_gets_no_request(connect, gateway, tmp_path):
    foreign = Authority(tmp_path, "foreign").certificate.certificate_path
    for ca_file in ("", foreign):
        assert connect(gateway.url, ca_file=ca_file).offer()["error"] == "connection"
    url = gateway.url.replace("localhost", "127.0.0.1")
    assert connect(url, ca_file=gateway.ca_file).offer()["error"] == "connection"


def test_a_url_with_a_query_or_a_fragment_is_refused(command, tmp_path):
    for url in ("http://127.0.0.1:1?", "http://127.0.0.1:1#", "http://127.0.0.1:1/path?name=value", "http://127.0.0.1:1/#name"):
        arguments = [url, tmp_path / "token", "", 10, 5, 1000]
        ended = subprocess.run(
            list(map(str, [*command, *arguments])), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
        assert ended.returncode != 0 and "the URL must be https://HOST or http://HOST" in ended.stderr, url


# Scripted answers


def part(text=b'{"a":1}'):
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


JWS = ".".join([part(), part(), part(b"\x01" * 64)])
GOOD = {"jws": JWS, "keyId": KEY_ID, "nonce": str(uuid.UUID(int=1)), "issuedAt": 1795250162}
GOOD_LEGACY = {"keyIdentifier": KEY_ID, "nonce": str(uuid.UUID(int=1)), "timestamp": 1795250162277, "signature": "AAAA"}


def token(seconds=600, **members):
    now = int(time.time())
    return {
        "token": JWS, "keyId": KEY_ID, "issuedAt": now - 60, "expiresAt": now + 1200, "refreshAfter": now + seconds, **members,
    }  # fmt: skip


def without(name, of=GOOD):
    return {member: value for member, value in of.items() if member != name}


@pytest.mark.parametrize(
    "first",
    [problem(408), broken, broken_in_the_body, problem(500), problem(504)],
    ids=["408", "broken", "broken in the body", "500", "504"],
)
def test_a_request_is_sent_again_at_once(connect, first):
    with ScriptedServer(first, answer(200, GOOD)) as server:
        assert connect(server.url).offer()["answer"] == GOOD
        one, two = server.requests
        assert two.time - one.time < 0.9
        assert (one.path, one.authorization, one.body) == (two.path, two.authorization, two.body)
        assert one.path == f"/v1/apps/{BUNDLE_ID}/promotional-offer"
        assert (one.authorization, one.content_type) == (f"Bearer {TOKEN}", "application/json")
        assert json.loads(one.body) == OFFER


@pytest.mark.parametrize("status", [429, 503])
def test_a_retry_waits_for_retry_after_and_a_random_part_of_a_second(connect, status):
    steps = [problem(status, Retry_After=1), answer(200, GOOD)] + [problem(status, Retry_After=0)] * 6
    with ScriptedServer(*steps) as server:
        client = connect(server.url)
        assert client.offer()["answer"] == GOOD
        one, two = server.times
        # Less than the two seconds that are the limit, and half a second for a busy machine.
        assert 1 <= two - one < 2.5
        for _ in range(2):
            assert client.offer()["status"] == status
        times = server.times[2:]
    assert len(times) == 6
    waits = [times[1] - times[0], times[2] - times[1], times[4] - times[3], times[5] - times[4]]
    # Four random parts are together less than 0.1 s once in 240,000 runs.
    assert sum(waits) > 0.1 and max(waits) < 1.5 and max(waits) - min(waits) > 0.001


def test_a_retry_after_504_waits_for_retry_after(connect):
    with ScriptedServer(problem(504, Retry_After=1), answer(200, GOOD)) as server:
        assert connect(server.url).offer()["answer"] == GOOD
        one, two = server.times
        assert 1 <= two - one < 2.5


def test_a_503_without_retry_after_is_retried_after_a_second(connect):
    with ScriptedServer(problem(503), answer(200, GOOD)) as server:
        assert connect(server.url).offer()["answer"] == GOOD
        one, two = server.times
        assert 1 <= two - one < 2.5


NOT_RETRIED = {
    "429 without Retry-After": problem(429),
    "429 with a Retry-After above the limit": problem(429, Retry_After=6),
    "503 with a Retry-After above the limit": problem(503, Retry_After=3600),
    "504 with a Retry-After above the limit": problem(504, Retry_After=6),
    "429 with a date": problem(429, Retry_After="Mon, 30 Nov 2026 09:00:00 GMT"),
    "503 with a date": problem(503, Retry_After="Mon, 30 Nov 2026 09:00:00 GMT"),
    "503 with ten digits": problem(503, Retry_After="0000000001"),
    "503 with a fraction": problem(503, Retry_After="1.5"),
    "503 with an empty Retry-After": problem(503, Retry_After=""),
    "504 with a date": problem(504, Retry_After="Mon, 30 Nov 2026 09:00:00 GMT"),
    **{str(status): problem(status, Retry_After=0) for status in (400, 401, 403, 404, 409, 413, 415, 422, 431, 501, 502)},
}


@pytest.fixture(scope="module")
def shared(command, tmp_path_factory):
    """One client and one server for many answers, because a Java process needs half a second to start."""
    with ScriptedServer() as server:
        client = Client(command, tmp_path_factory.mktemp("shared"), server.url)
        yield client, server
        client.stop()


def ask(shared, call, *script):
    """The result of a call for which the client must send one request."""
    client, server = shared
    server.script[:] = script
    before = len(server.requests)
    result = call(client)
    assert len(server.requests) == before + 1
    return result


@pytest.mark.parametrize("case", NOT_RETRIED)
def test_a_problem_that_a_retry_does_not_change_is_not_retried(shared, case):
    error = ask(shared, Client.offer, NOT_RETRIED[case], answer(200, GOOD))
    assert (error["error"], error["type"]) == ("problem", "urn:privyseal:problem:scripted")


@pytest.mark.parametrize(
    "step, requests, kind",
    [(problem(408), 3, "problem"), (problem(504), 3, "problem"), (broken, 3, "connection"), (problem(500), 2, "problem")],
    ids=["408", "504", "broken connection", "500"],
)
def test_the_number_of_retries_is_limited(connect, step, requests, kind):
    with ScriptedServer(*[step] * 5) as server:
        assert connect(server.url).offer()["error"] == kind
        assert len(server.requests) == requests


@pytest.mark.parametrize("step", [hanging, hanging_in_the_body])
def test_an_attempt_ends_after_the_timeout(connect, step):
    with ScriptedServer(step, answer(200, GOOD)) as server:
        begun = time.monotonic()
        assert connect(server.url, timeout=0.5).offer()["answer"] == GOOD
        # From the client's begin, because a busy server gets the first request later.
        assert begun + 0.5 <= server.times[1] < begun + 3


def on_kept_connections(server):
    """Lets the server keep its connections open after an answer."""
    server.server.RequestHandlerClass.protocol_version = "HTTP/1.1"


def after_interim_answers(step, *statuses):
    def write(handler):
        for status in statuses:
            handler.wfile.write(f"HTTP/1.1 {status} Interim\r\nLink: </x>\r\n\r\n".encode())
        step(handler)

    return write


@pytest.mark.parametrize("status", [100, 102, 103])
def test_an_interim_answer_is_skipped(connect, status):
    other = {**GOOD, "keyId": "SECOND"}
    with ScriptedServer(*(after_interim_answers(answer(200, one), status) for one in (GOOD, other))) as server:
        on_kept_connections(server)
        client = connect(server.url)
        assert client.offer()["answer"] == GOOD
        assert client.offer()["answer"] == other
        assert len(server.requests) == 2


def test_several_interim_answers_are_skipped_or_refused(connect):
    with ScriptedServer(then_open(after_interim_answers(answer(200, GOOD), 100, 103))) as server:
        on_kept_connections(server)
        found = connect(server.url).offer()
        # PHP skips only one.
        assert found.get("answer") == GOOD or (found["error"] == "answer" and "its status is 103" in found["message"])
        assert len(server.requests) == 1


def then_open(step):
    """The server does not close the connection after the answer."""

    def write(handler):
        step(handler)
        hanging(handler)

    return write


def in_chunks(end):
    """An answer with GOOD in two chunks, and these bytes after them."""

    def write(handler):
        content = json.dumps(GOOD).encode()
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        for part_of_content in (content[:10], content[10:]):
            handler.wfile.write(b"%X\r\n%s\r\n" % (len(part_of_content), part_of_content))
        handler.wfile.write(end)

    return write


@pytest.mark.parametrize("step", [answer(200, GOOD), in_chunks(b"0\r\n\r\n")], ids=["length", "chunks"])
def test_a_client_does_not_wait_for_the_end_of_the_connection(connect, step):
    with ScriptedServer(then_open(step)) as server:
        on_kept_connections(server)
        assert connect(server.url, timeout=2).offer()["answer"] == GOOD
        assert len(server.requests) == 1


@pytest.mark.parametrize("end", [b"", b"FF\r\n "], ids=["no last chunk", "inside a chunk"])
def test_an_answer_that_ends_before_its_last_chunk_is_requested_again(connect, end):
    other = {**GOOD, "keyId": "SECOND"}
    with ScriptedServer(in_chunks(end), answer(200, other)) as server:
        assert connect(server.url).offer()["answer"] == other
        assert len(server.requests) == 2


def test_an_answer_in_chunks_over_the_limit_is_refused(connect):
    size = len(json.dumps(GOOD))
    with ScriptedServer(in_chunks(b"0\r\n\r\n"), in_chunks(b"1\r\n \r\n0\r\n\r\n")) as server:
        client = connect(server.url, max_answer_bytes=size)
        assert client.offer()["answer"] == GOOD
        error = client.offer()
        assert error["error"] == "answer" and f"more than {size} bytes" in error["message"]
        assert len(server.requests) == 2


# The variables, and the scheme of the URL for which they name a proxy.
PROXIES = {
    "http_proxy": "http", "HTTP_PROXY": "http", "https_proxy": "https", "HTTPS_PROXY": "https", "all_proxy": "http",
    "ALL_PROXY": "https",
}  # fmt: skip


@pytest.mark.parametrize("variable", PROXIES)
def test_no_request_goes_through_a_proxy_of_the_environment(command, gateway, monkeypatch, tmp_path, variable):
    scheme = PROXIES[variable]
    with ScriptedServer() as proxy, ScriptedServer(answer(200, GOOD)) as server:
        url, ca_file = (server.url, "") if scheme == "http" else (gateway.url, gateway.ca_file)
        for name in [*PROXIES, "no_proxy", "NO_PROXY"]:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(variable, proxy.url)
        if command[0] == "java":
            # Java reads system properties instead. Without the last one, it uses no proxy for this machine.
            properties = {f"{scheme}.proxyHost": "127.0.0.1", f"{scheme}.proxyPort": proxy.port, "http.nonProxyHosts": ""}
            command = ["java", *(f"-D{name}={value}" for name, value in properties.items()), *command[1:]]
        # libcurl ignores HTTP_PROXY.
        if command[0] == "unshare" and variable != "HTTP_PROXY":
            # URLSession cannot ignore the proxy on Linux, so the client refuses to use it.
            arguments = [url, tmp_path / "token", ca_file, "10", "5", "1000"]
            ended = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=60)
            assert ended.returncode != 0 and f"{variable} is set" in ended.stderr
            monkeypatch.setenv("no_proxy", "localhost,127.0.0.1")
        client = Client(command, tmp_path, url, ca_file=ca_file)
        try:
            assert "answer" in client.offer()
        finally:
            client.stop()
        assert proxy.requests == []


def test_an_error_that_is_no_problem_document_has_its_status(connect):
    steps = [
        answer(502, b"<html>", Content_Type="text/html"),
        answer(403, b"{", Content_Type="application/problem+json"),
        answer(422, {"type": 1, "detail": ["x"], "field": "f"}),
    ]
    with ScriptedServer(*steps) as server:
        client = connect(server.url)
        errors = [client.offer() for _ in steps]
    assert [(error["error"], error["status"], error["type"], error["field"]) for error in errors] == [
        ("problem", 502, "about:blank", ""), ("problem", 403, "about:blank", ""), ("problem", 422, "about:blank", "f"),
    ]  # fmt: skip
    assert {error["requestId"] for error in errors} == {"fake"}


MALFORMED = {
    "no JSON": (b"<html>", "is not a JSON object"),
    "nothing": (b"", "is not a JSON object"),
    "a list": (b"[]", "is not a JSON object"),
    "null": (b"null", "is not a JSON object"),
    "text after the object": (json.dumps(GOOD).encode() + b"}", "is not a JSON object"),
    "JSON that ends early": (json.dumps(GOOD).encode()[:-1], "is not a JSON object"),
    "deep nesting": (b"[" * 100_000, "is not a JSON object"),
    "an empty object": ({}, '"jws" is missing'),
    "no key ID": (without("keyId"), '"keyId" is missing'),
    "another case": ({**without("jws"), "JWS": JWS}, '"jws" is missing'),
    "null for a member": ({**GOOD, "jws": None}, '"jws" is not'),
    "a number for the JWS": ({**GOOD, "jws": 1}, '"jws" is not'),
    "two parts": ({**GOOD, "jws": f"{part()}.{part()}"}, '"jws" is not'),
    "four parts": ({**GOOD, "jws": f"{JWS}.{part()}"}, '"jws" is not'),
    "an empty part": ({**GOOD, "jws": f"{part()}..{part()}"}, '"jws" is not'),
    "Base64 instead of Base64url": ({**GOOD, "jws": f"{part()}.ab+/.{part()}"}, '"jws" is not'),
    "a padded part": ({**GOOD, "jws": f"{part()}.YQ==.{part()}"}, '"jws" is not'),
    "a part of five characters": ({**GOOD, "jws": f"{part()}.abcde.{part()}"}, '"jws" is not'),
    "a line break": ({**GOOD, "jws": JWS + "\n"}, '"jws" is not'),
    "an empty key ID": ({**GOOD, "keyId": ""}, '"keyId" is not'),
    "a nonce in upper case": ({**GOOD, "nonce": "702278CA-7E6B-4B20-B635-7261690C0606"}, '"nonce" is not'),
    "a time of zero": ({**GOOD, "issuedAt": 0}, '"issuedAt" is not'),
    "a negative time": ({**GOOD, "issuedAt": -1}, '"issuedAt" is not'),
    "a time as text": ({**GOOD, "issuedAt": "1795250162"}, '"issuedAt" is not'),
    "a time with a fraction": ({**GOOD, "issuedAt": 1795250162.5}, '"issuedAt" is not'),
    "true for a time": ({**GOOD, "issuedAt": True}, '"issuedAt" is not'),
    "an infinite time": (json.dumps(GOOD).replace("1795250162", "1" * 40).encode(), '"issuedAt" is not'),
}
MALFORMED_LEGACY = {
    "a signature without padding": ({**GOOD_LEGACY, "signature": "AAA"}, '"signature" is not'),
    "a signature in Base64url": ({**GOOD_LEGACY, "signature": "AA-_"}, '"signature" is not'),
    "an empty signature": ({**GOOD_LEGACY, "signature": ""}, '"signature" is not'),
    "no timestamp": (without("timestamp", GOOD_LEGACY), '"timestamp" is missing'),
    "keyId for keyIdentifier": ({**without("keyIdentifier", GOOD_LEGACY), "keyId": KEY_ID}, '"keyIdentifier" is missing'),
}
MALFORMED_TOKEN = {
    "no expiry": (without("expiresAt", token()), '"expiresAt" is missing'),
    "a token of one part": (token(token=part()), '"token" is not'),
    "a refresh after the expiry": (token(5000), "are not in order"),
    "a refresh before the issue": (token(-500), "are not in order"),
}


def legacy_offer(client):
    return client.offer("legacy-promotional-offer")


CASES = {
    **{case: (Client.offer, *MALFORMED[case]) for case in MALFORMED},
    **{case: (legacy_offer, *MALFORMED_LEGACY[case]) for case in MALFORMED_LEGACY},
    **{case: (Client.service_token, *MALFORMED_TOKEN[case]) for case in MALFORMED_TOKEN},
}


@pytest.mark.parametrize("case", CASES)
def test_a_malformed_answer_is_refused_with_the_reason(shared, case):
    call, body, sentence = CASES[case]
    error = ask(shared, call, answer(200, body))
    assert error["error"] == "answer" and sentence in error["message"], error
    # A signature is a secret until it is used, so the message does not have it.
    assert JWS not in error["message"] and "(request fake)" in error["message"]


def test_an_error_contains_neither_the_answer_nor_the_bearer_token(shared):
    # The driver in PHP also returns the trace of the exception, with the arguments of the calls.
    for status, body in ((200, without("expiresAt", token())), (200, [JWS]), (403, {"detail": "d", "unknown": JWS})):
        text = json.dumps(ask(shared, Client.service_token, answer(status, body)))
        assert '"error"' in text and JWS not in text and TOKEN not in text


def test_a_member_that_the_client_does_not_know_is_no_error(shared):
    body = {**GOOD, "jwsNote": {"\u00fc\"\\/\n": [1.5, -2e3, None, False, {"a": []}]}}
    found = ask(shared, Client.offer, answer(200, body))["answer"]
    assert {name: found[name] for name in GOOD} == GOOD
    assert "answer" in ask(shared, lambda client: client.offer("a-feature-of-tomorrow"), answer(200, {"x": 1}))


def test_an_answer_other_than_200_is_refused(connect):
    with ScriptedServer() as target:
        steps = [answer(307, b"", Location=target.url + "/"), answer(204, b""), answer(201, GOOD)]
        with ScriptedServer(*steps) as server:
            client = connect(server.url)
            for status in (307, 204, 201):
                error = client.offer()
                assert error["error"] == "answer" and str(status) in error["message"]
        assert target.requests == []


def test_an_answer_over_the_limit_is_refused(connect):
    size = len(json.dumps(GOOD))
    with ScriptedServer(answer(200, GOOD), answer(200, json.dumps(GOOD).encode() + b" ")) as server:
        client = connect(server.url, max_answer_bytes=size)
        assert client.offer()["answer"] == GOOD
        error = client.offer()
        assert error["error"] == "answer" and f"more than {size} bytes" in error["message"]
        assert len(server.requests) == 2


# Tokens


def test_a_service_token_is_kept_until_it_should_be_replaced(connect):
    first, second, scoped = token(), token(-1, keyId="SECOND"), token(keyId="SCOPED")
    with ScriptedServer(answer(200, first), answer(200, scoped), answer(200, second), answer(200, second)) as server:
        client = connect(server.url)
        for _ in range(3):
            assert client.service_token()["answer"] == first
        assert [(request.path, request.body) for request in server.requests] == [("/v1/services/push/token", b"{}")]
        # Other fields are another token.
        scopes = {"scopes": ["GET /v1/apps"]}
        for _ in range(2):
            assert client.service_token(fields=scopes)["answer"] == scoped
        assert json.loads(server.requests[1].body) == scopes and len(server.requests) == 2
        # `refreshAfter` of this token has passed.
        for number in (3, 4):
            assert client.service_token("connect")["answer"] == second
            assert len(server.requests) == number


def test_a_token_is_replaced_when_refresh_after_has_passed(connect):
    first, second = token(1), token(600, keyId="SECOND")
    with ScriptedServer(answer(200, first), answer(200, second)) as server:
        client = connect(server.url)
        found = client.service_token()["answer"]
        while found == first:
            assert time.time() < first["refreshAfter"] + 5
            found = client.service_token()["answer"]
        assert found == second and time.time() >= first["refreshAfter"]


def answer_at(seconds, body):
    """An answer of a gateway whose clock has this time, or without `Date` if the time is None."""

    def write(handler):
        content = json.dumps(body).encode()
        handler.send_response_only(200)
        if seconds is not None:
            handler.send_header("Date", email.utils.formatdate(seconds, usegmt=True))
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return write


@pytest.mark.parametrize("has_date", [True, False], ids=["Date", "no Date"])
def test_a_client_whose_clock_is_behind_replaces_a_token_in_time(connect, has_date):
    # The clock of the gateway is an hour ahead of this machine. Without `Date`, the client takes the token for a new one.
    now = int(time.time()) + 3600
    age = 1000 if has_date else 0
    times = {"issuedAt": now - age, "expiresAt": now + 1200}
    first = token(**times, refreshAfter=now + 2)
    second = token(**times, refreshAfter=now + 600, keyId="SECOND")
    steps = [answer_at(now if has_date else None, one) for one in (first, second, second)]
    with ScriptedServer(*steps) as server:
        client = connect(server.url)
        begun = time.monotonic()
        found = client.service_token()["answer"]
        assert found == first
        while found == first:
            assert time.monotonic() < begun + 10
            found = client.service_token()["answer"]
        assert found == second and time.monotonic() >= begun + 2
        # This token is kept although the clock is wrong. A client that looks at the clock twice in a call may find the first
        # token over only at the second look: it then asks for this call alone, and again for the next one.
        for _ in range(3):
            assert client.service_token()["answer"] == second
        assert len(server.requests) <= 3


def test_a_request_for_a_token_has_the_fields_of_the_moment_of_the_call(connect):
    # The driver in Go changes its map after the client has read it once.
    fields = {"scopes": ["GET /v1/apps"], "lifetime": 600}
    good = token()
    with ScriptedServer(answer(200, good)) as server:
        assert connect(server.url).service_token(fields=fields)["answer"] == good
        assert json.loads(server.requests[0].body) == fields


def test_a_failed_request_for_a_token_is_not_kept(connect):
    good = token()
    with ScriptedServer(problem(403), answer(200, good)) as server:
        client = connect(server.url)
        assert client.service_token()["status"] == 403
        assert client.service_token()["answer"] == good


def test_callers_at_the_same_time_share_one_request(connect):
    # The driver in PHP has no threads. Its callers take turns and get the token from the cache.
    good, again = token(), threading.Event()

    def slow(handler):
        # The absence of a second request needs a time. A caller that starts later gets the token from the cache.
        if len(server.requests) > 1:
            again.set()
        again.wait(0.5)
        answer(200, good)(handler)

    with ScriptedServer(*[slow] * 8) as server:
        results = connect(server.url).calls("serviceToken", callers=8, name="push")
        assert results == [{"answer": good}] * 8
        assert len(server.requests) == 1
