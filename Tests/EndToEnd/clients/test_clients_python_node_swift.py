"""The clients in Python, Node.js and Swift, and the creators with the names of Apple's libraries."""

import base64
import contextlib
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
import uuid

import apple
import jwt
import pytest
from appstoreserverlibrary.models.AdvancedCommerceRequestInfo import AdvancedCommerceRequestInfo
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionReactivateInAppRequest import (
    AdvancedCommerceSubscriptionReactivateInAppRequest,
)
from conftest import BINARY, BUNDLE_ID, FEATURES, ISSUER_ID, KEY_ID, ROOT
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from scripted_server import ScriptedServer, answer
from service import Service, digest, write_key, write_secret

# The tests of the other languages, with the clients of this file: they use its fixture `command`.
from test_clients_go_php_java import *  # noqa: F403
from test_clients_go_php_java import (
    CLIENTS,
    DRIVERS,
    GOOD,
    REQUEST,
    TOKEN,
    claims_of,
    on_kept_connections,
    part,
    run,
    token,
)


def python(_):
    return [sys.executable, "-I", "-W", "error", DRIVERS / "driver.py", CLIENTS / "python"]


def node(_):
    return ["node", "--trace-warnings", DRIVERS / "driver.mjs", CLIENTS / "node" / "privyseal.mjs"]


SWIFTC = "swiftc", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library"


def swift(directory, sources=(CLIENTS / "swift" / "PrivySealClient.swift", DRIVERS / "Driver.swift")):
    run(*SWIFTC, "-o", directory / "driver", *sources)
    # URLSession trusts only the certificates of the system, so the third argument replaces them, for this process alone.
    script = directory / "with-certificates"
    script.write_text(
        """[ -z "$4" ] || { mount -t tmpfs tmpfs /etc/ssl/certs && cp "$4" /etc/ssl/certs/ca-certificates.crt; } || exit 1
exec "$@"
"""
    )
    return ["unshare", "--mount", "sh", script, directory / "driver"]


@pytest.fixture(scope="session", params=[python, node, swift], ids=lambda language: language.__name__)
def command(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp(request.param.__name__))


# Connections


def test_requests_share_a_connection(connect):
    ports = []

    def step(handler):
        ports.append(handler.client_address[1])
        answer(200, GOOD)(handler)

    with ScriptedServer(*[step] * 3) as server:
        on_kept_connections(server)
        client = connect(server.url)
        for _ in range(3):
            assert client.offer()["answer"] == GOOD
    assert len(ports) == 3 and len(set(ports)) == 1


def test_a_connection_that_the_server_closed_is_replaced(connect):
    def closing(handler):
        answer(200, GOOD)(handler)
        # Without a header that announces it.
        handler.close_connection = True

    with ScriptedServer(*[closing] * 3) as server:
        on_kept_connections(server)
        client = connect(server.url)
        for _ in range(3):
            assert client.offer()["answer"] == GOOD


@pytest.mark.parametrize("is_header", [True, False], ids=["header", "body"])
def test_the_timeout_is_for_the_whole_answer(connect, is_header):
    def dripping(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + (b"" if is_header else b"Content-Length: 1000\r\n\r\n"))
        try:
            for _ in range(100):
                handler.wfile.write(b"X-Slow: x\r\n")
                time.sleep(0.1)
        except OSError:
            pass

    with ScriptedServer(dripping, answer(200, GOOD)) as server:
        begun = time.monotonic()
        assert connect(server.url, timeout=0.5).offer()["answer"] == GOOD
        # From the client's begin, because a busy server gets the first request later.
        assert begun + 0.5 <= server.times[1] < begun + 3


def test_an_answer_without_an_end_is_ended_at_the_limit(connect):
    ended = threading.Event()

    def endless(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                handler.wfile.write(b" " * 65536)
                # URLSession on Linux may not come to cancel a transfer whose data never pauses.
                time.sleep(0.001)
        except OSError:
            ended.set()

    with ScriptedServer(endless) as server:
        error = connect(server.url, max_answer_bytes=1000, timeout=60).offer()
        assert error["error"] == "answer" and "more than 1000 bytes" in error["message"]
        assert ended.wait(10) and len(server.requests) == 1


def test_callers_at_the_same_time_get_a_token_each_if_apple_wants_one_for_each_request(connect):
    tokens = [token(-1, keyId=f"KEY{number}") for number in range(4)]
    with ScriptedServer(*[answer(200, one) for one in tokens]) as server:
        results = connect(server.url).calls("serviceToken", callers=4, name="push")
        assert sorted(result["answer"]["keyId"] for result in results) == [one["keyId"] for one in tokens]
        assert len(server.requests) == 4


# Python


@pytest.fixture
def module(monkeypatch):
    """The client in Python, in this process."""
    monkeypatch.syspath_prepend(CLIENTS / "python")
    import privyseal

    return privyseal


@pytest.fixture
def token_file(tmp_path):
    write_secret(tmp_path / "token", TOKEN.encode())
    return tmp_path / "token"


def test_a_url_with_an_ipv6_address_needs_no_port_in_python(module, token_file, monkeypatch):
    addresses = []

    def refuse(address, *_):
        addresses.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", refuse)
    for url in "https://[2001:db8::5]", "http://[2001:db8::5]", "http://[2001:db8::5]:8700":
        with module.Client(url, token_file) as client, pytest.raises(module.NoAnswer):
            client.offer(BUNDLE_ID, "promotional-offer", {})
    assert addresses == [("2001:db8::5", port) for port in (443, 80, 8700) for _ in range(3)]


def test_the_client_in_python_refuses_an_endless_series_of_interim_answers(module, token_file):
    def interim(handler):
        handler.wfile.write(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20)
        answer(200, {**GOOD, "keyId": "FIRST"})(handler)

    with ScriptedServer(interim, answer(200, GOOD)) as server, module.Client(server.url, token_file) as client:
        on_kept_connections(server)
        with pytest.raises(module.InvalidAnswer, match="its status is 103"):
            client.offer(BUNDLE_ID, "promotional-offer", {})
        # The answer to the first request is not the answer to the second.
        assert client.offer(BUNDLE_ID, "promotional-offer", {}) == GOOD


def test_an_interrupt_of_a_thread_does_not_reach_the_threads_that_wait_for_the_same_token(token_file):
    script = """
import signal, sys, threading
sys.path.insert(0, sys.argv[1])
import privyseal
class Interrupt(Exception):
    pass
def interrupt(*_):
    raise Interrupt
signal.signal(signal.SIGUSR1, interrupt)
client = privyseal.Client(sys.argv[2], sys.argv[3])
def wait():
    sys.stdin.readline()
    try:
        print("the other thread got", client.service_token("push")["keyId"])
    except BaseException as error:
        print("the other thread got", type(error).__name__)
thread = threading.Thread(target=wait)
thread.start()
try:
    client.service_token("push")
except Interrupt:
    print("the main thread was interrupted", flush=True)
thread.join()
"""
    interrupted = threading.Event()

    def slow(handler):
        # The main thread waits for this answer. Let the other thread wait for it, too, and interrupt the main thread.
        process.stdin.write("\n")
        process.stdin.flush()
        time.sleep(0.5)
        process.send_signal(signal.SIGUSR1)
        assert interrupted.wait(30)
        answer(200, token())(handler)

    with ScriptedServer(slow) as server:
        command = [sys.executable, "-c", script, CLIENTS / "python", server.url, token_file]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert select.select([process.stdout], [], [], 60)[0]
        assert process.stdout.readline() == "the main thread was interrupted\n"
        interrupted.set()
        output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, f"the other thread got {KEY_ID}\n")


# The creators with the names of Apple's libraries

PRIVATE_KEY = "-----BEGIN PRIVATE KEY-----\nthis is never read\n-----END PRIVATE KEY-----"
REACTIVATION = {**REQUEST, "transactionId": "1"}
ARGUMENTS = {
    "promotional-offer": ["com.example.monthly", "winback", "1"],
    "introductory-offer-eligibility": ["com.example.monthly", False, "1"],
    "advanced-commerce-api": [REACTIVATION],
}


class Creators:
    """A running driver of the creators, for a gateway that only the environment names."""

    def __init__(self, command, directory, url, ca_file=""):
        token_file = directory / "token"
        write_secret(token_file, TOKEN.encode())
        environment = {**os.environ, "PRIVYSEAL_URL": url, "PRIVYSEAL_TOKEN_FILE": str(token_file)}
        if ca_file:
            environment["PRIVYSEAL_CA_FILE"] = str(ca_file)
        self.process = subprocess.Popen(
            [*command, "", "", ca_file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )

    def create(self, feature, arguments, key_id=KEY_ID, issuer_id=ISSUER_ID, bundle_id=BUNDLE_ID):
        call = {
            "feature": feature, "arguments": arguments, "signingKey": PRIVATE_KEY, "keyId": key_id,
            "issuerId": issuer_id, "bundleId": bundle_id,
            # Swift has a type for each argument.
            "texts": [value if isinstance(value, str) else None for value in arguments],
            "allowed": True in arguments,
            "request": arguments[0] if isinstance(arguments[0], dict) else None,
        }  # fmt: skip
        self.process.stdin.write(json.dumps(call).encode() + b"\n")
        self.process.stdin.flush()
        assert select.select([self.process.stdout], [], [], 60)[0], "the driver did not answer"
        return json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=30) == 0
        self.process.stdout.close()


def python_creators(_):
    return [sys.executable, "-I", "-W", "error", DRIVERS / "drop_in.py", CLIENTS / "python"]


def node_creators(_):
    return ["node", "--trace-warnings", DRIVERS / "drop_in.mjs", CLIENTS / "node" / "privyseal-app-store-server-library.mjs"]


def swift_creators(directory):
    return swift(directory, (*CLIENTS.glob("swift/*.swift"), DRIVERS / "DropIn.swift"))


@pytest.fixture(
    scope="session", params=[python_creators, node_creators, swift_creators], ids=["python", "node", "swift"]
)
def creators_command(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp(request.param.__name__))


@pytest.fixture
def creators(creators_command, tmp_path):
    with contextlib.ExitStack() as stack:

        def start(url, ca_file=""):
            started = Creators(creators_command, tmp_path, url, ca_file)
            stack.callback(started.stop)
            return started

        yield start


@pytest.mark.parametrize("feature", ARGUMENTS)
def test_a_creator_returns_a_jws_that_verifies(creators, gateway, feature):
    found = creators(gateway.url, gateway.ca_file).create(feature, ARGUMENTS[feature])
    claims = claims_of(gateway, found["signature"], feature)
    assert (claims["iss"], claims["bid"]) == (ISSUER_ID, BUNDLE_ID)
    if feature == "promotional-offer":
        assert [claims["productId"], claims["offerIdentifier"], claims["transactionId"]] == ARGUMENTS[feature]
    elif feature == "introductory-offer-eligibility":
        assert [claims["productId"], claims["allowIntroductoryOffer"], claims["transactionId"]] == ARGUMENTS[feature]
    else:
        assert json.loads(base64.b64decode(claims["request"], validate=True)) == REACTIVATION


def test_a_creator_leaves_out_an_absent_transaction(creators, gateway):
    found = creators(gateway.url, gateway.ca_file).create("promotional-offer", ["com.example.monthly", "winback", None])
    assert "transactionId" not in claims_of(gateway, found["signature"], "promotional-offer")


def test_the_legacy_creator_returns_the_signature_with_its_nonce_and_timestamp(creators, gateway):
    found = creators(gateway.url, gateway.ca_file).create(
        "legacy-promotional-offer", ["com.example.monthly", "winback", "Jane DÖE"]
    )
    assert found["keyId"] == KEY_ID and abs(int(found["timestamp"]) / 1000 - time.time()) < 60
    # As Apple's libraries do, the creator signs the user in lower case.
    fields = [BUNDLE_ID, KEY_ID, "com.example.monthly", "winback", "jane döe", found["nonce"], str(found["timestamp"])]
    signature = base64.b64decode(found["signature"], validate=True)
    gateway.public_key.verify(signature, "\u2063".join(fields).encode(), ec.ECDSA(SHA256()))


@pytest.mark.parametrize("command, name", [(python_creators, "replace_nonce"), (node_creators, "replaceNonce")])
def test_the_legacy_creator_refuses_a_nonce_that_it_cannot_use(command, name, tmp_path, gateway, monkeypatch):
    arguments = ["com.example.monthly", "winback", "", str(uuid.uuid4()), 1698148900000]

    def create():
        creators = Creators(command(None), tmp_path, gateway.url, gateway.ca_file)
        try:
            return creators.create("legacy-promotional-offer", arguments)
        finally:
            creators.stop()

    assert name in create()["message"]
    # The operator says that the callers use the nonce of the result.
    monkeypatch.setenv("PRIVYSEAL_REPLACE_NONCE", "yes")
    found = create()
    assert found["signature"] and found["nonce"] != arguments[3] and found["timestamp"] != arguments[4]


def test_the_legacy_creator_in_swift_has_no_argument_for_a_nonce(tmp_path):
    (tmp_path / "call.swift").write_text(
        """import Foundation
func call(_ creator: PromotionalOfferSignatureCreator) async throws {
    _ = try await creator.createSignature(
        productIdentifier: "p", subscriptionOfferID: "o", appAccountToken: "", nonce: UUID(), timestamp: 1)
}
"""
    )
    ended = subprocess.run(
        [*SWIFTC, "-typecheck", *CLIENTS.glob("swift/*.swift"), tmp_path / "call.swift"], capture_output=True, text=True
    )
    assert ended.returncode != 0 and "The gateway chooses nonce and timestamp" in ended.stderr


def test_a_signature_of_another_key_or_issuer_is_refused(creators, gateway):
    start = creators(gateway.url, gateway.ca_file)
    for feature in ARGUMENTS:
        for other in ({"key_id": "3Y8S5JYG45"}, {"issuer_id": "another"}):
            error = start.create(feature, ARGUMENTS[feature], **other)
            assert error["error"] == "OtherSigner" and next(iter(other.values())) in error["message"], error
    legacy = ["com.example.monthly", "winback", ""]
    assert start.create("legacy-promotional-offer", legacy, key_id="3Y8S5JYG45")["error"] == "OtherSigner"


def scripted_jws(**members):
    claims = {"iss": ISSUER_ID, "bid": BUNDLE_ID, "aud": "promotional-offer", **members}
    parts = part(json.dumps({"kid": KEY_ID}).encode()), part(json.dumps(claims).encode()), part(b"\x01" * 64)
    return answer(200, {**GOOD, "jws": ".".join(parts)})


def test_a_jws_for_another_app_or_purpose_is_refused(creators):
    steps = scripted_jws(), scripted_jws(bid="com.example.other"), scripted_jws(aud="advanced-commerce-api")
    with ScriptedServer(*steps, answer(200, {**GOOD, "jws": ".".join([part(b"[]"), part(), part()])})) as server:
        start = creators(server.url)
        found = [start.create("promotional-offer", ARGUMENTS["promotional-offer"]) for _ in range(4)]
        assert "signature" in found[0]
        assert [one["error"] for one in found[1:]] == ["OtherSigner", "OtherSigner", "InvalidAnswer"], found
        # The private key is not sent.
        for request in server.requests:
            assert b"PRIVATE" not in request.body and b"never" not in request.body


def test_a_problem_of_the_gateway_reaches_the_caller_of_a_creator(creators, gateway):
    start = creators(gateway.url, gateway.ca_file)
    for feature in ("promotional-offer", "legacy-promotional-offer"):
        error = start.create(feature, ["", "winback", ""])
        assert error["error"] == "Problem" and "productId" in error["message"]


def test_a_creator_without_a_gateway_names_the_missing_variable(creators):
    error = creators("").create("promotional-offer", ARGUMENTS["promotional-offer"])
    assert "PRIVYSEAL_URL" in error["message"]


def test_a_promise_of_a_signature_is_not_used_as_a_text():
    with ScriptedServer(scripted_jws()) as server:
        script = f"""
import {{ PromotionalOfferV2SignatureCreator }} from "{CLIENTS / "node" / "privyseal-app-store-server-library.mjs"}";
const creator = new PromotionalOfferV2SignatureCreator("", "{KEY_ID}", "{ISSUER_ID}", "{BUNDLE_ID}");
for (const use of [(promise) => `${{promise}}`, (promise) => JSON.stringify({{ promise }})]) {{
  const promise = creator.createSignature("p", "o");
  try {{ console.log(use(promise)); }} catch (error) {{ console.log(error.message); }}
  await promise.catch(() => {{}});
}}
"""
        environment = {**os.environ, "PRIVYSEAL_URL": server.url, "PRIVYSEAL_TOKEN_FILE": __file__}
        command = ["node", "--input-type=module", "--eval", script]
        ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert ended.stdout.splitlines() == ["createSignature returns a promise: await it"] * 2, ended.stderr


@pytest.fixture
def library(monkeypatch):
    """The creators in Python, in this process."""
    monkeypatch.syspath_prepend(CLIENTS / "python")
    import privyseal_appstoreserverlibrary as library

    return library


def test_a_request_of_apples_library_is_signed_as_apple_signs_it(library, gateway, tmp_path):
    info = AdvancedCommerceRequestInfo(requestReferenceId=REACTIVATION["requestInfo"]["requestReferenceId"])
    request = AdvancedCommerceSubscriptionReactivateInAppRequest(requestInfo=info, transactionId="1", storefront="USA")
    write_secret(tmp_path / "token", TOKEN.encode())
    place = {"url": gateway.url, "token_file": str(tmp_path / "token"), "ca_file": str(gateway.ca_file)}
    names = KEY_ID, ISSUER_ID, BUNDLE_ID
    jws = library.AdvancedCommerceAPIInAppSignatureCreator(None, *names, **place).create_signature(request)
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    apples = apple.AdvancedCommerceAPIInAppSignatureCreator(pem, *names).create_signature(request)
    claims = claims_of(gateway, jws, "advanced-commerce-api")
    apples_claims = jwt.decode(apples, key.public_key(), algorithms=["ES256"], audience="advanced-commerce-api")
    assert jwt.get_unverified_header(jws) == jwt.get_unverified_header(apples)
    for name in ("iat", "nonce"):
        assert type(claims.pop(name)) is type(apples_claims.pop(name))
    for some in (claims, apples_claims):
        some["request"] = json.loads(base64.b64decode(some["request"], validate=True))
    assert claims == apples_claims


def test_a_creator_in_python_refuses_an_absent_argument_like_apples_library(library, tmp_path):
    place = {"url": "http://127.0.0.1:1", "token_file": str(tmp_path / "token")}
    names = None, KEY_ID, ISSUER_ID, BUNDLE_ID
    for creator, arguments in (
        (library.PromotionalOfferV2SignatureCreator, (None, "o", "1")),
        (library.PromotionalOfferV2SignatureCreator, ("p", None, "1")),
        (library.IntroductoryOfferEligibilitySignatureCreator, (None, True, "1")),
        (library.IntroductoryOfferEligibilitySignatureCreator, ("p", None, "1")),
        (library.IntroductoryOfferEligibilitySignatureCreator, ("p", True, None)),
        (library.AdvancedCommerceAPIInAppSignatureCreator, (None,)),
    ):
        with pytest.raises(ValueError, match="must not be None"):
            creator(*names, **place).create_signature(*arguments)


def test_install_puts_the_creators_in_the_place_of_apples():
    script = """
import inspect, sys
sys.path.insert(0, sys.argv[1])
from appstoreserverlibrary import jws_signature_creator, promotional_offer
def creators():
    found = {**vars(promotional_offer), **vars(jws_signature_creator)}
    return {name: value for name, value in found.items() if name.endswith("SignatureCreator") and not name.startswith("JWS")}
apples = creators()
import privyseal_appstoreserverlibrary
privyseal_appstoreserverlibrary.install()
for name, ours in creators().items():
    assert ours is getattr(privyseal_appstoreserverlibrary, name) is not apples[name]
    # The same parameters in the same order. Further ones have a default.
    for method in ("__init__", "create_signature"):
        names = [list(inspect.signature(getattr(a, method)).parameters) for a in (apples[name], ours)]
        assert names[1][: len(names[0])] == names[0], (name, names)
print(len(apples))
"""
    ended = subprocess.run([sys.executable, "-c", script, CLIENTS / "python"], capture_output=True, text=True)
    assert ended.stdout == "4\n", ended.stderr


# The examples of the documentation


def examples(language, name):
    text = (CLIENTS / language / "README.md").read_text()
    return re.findall(rf"```{name}\n(.*?)```", text, re.DOTALL)


def test_the_examples_in_python_and_for_node_run(tmp_path):
    token_file = tmp_path / "token"
    write_secret(token_file, TOKEN.encode())
    one = {"productId": "com.example.monthly", "offerIdentifier": "winback"}
    legacy = {"keyIdentifier": KEY_ID, "nonce": GOOD["nonce"], "timestamp": 1, "signature": "AAAA"}
    for language, name, command in ("python", "python", [sys.executable, "-"]), ("node", "js", ["node", "--input-type=module"]):
        client, creators = examples(language, name)
        script = [answer(200, GOOD), answer(200, token()), answer(200, token()), scripted_jws(), answer(200, legacy)]
        with ScriptedServer(*script) as server:
            environment = {
                **os.environ, "PYTHONPATH": str(CLIENTS / "python"), "PRIVYSEAL_URL": server.url,
                "PRIVYSEAL_TOKEN_FILE": str(token_file),
            }  # fmt: skip
            output = ""
            for example in (client, creators):
                text = example.replace("https://gateway.example.com:8443", server.url)
                text = text.replace("/run/secrets/privyseal-token", str(token_file))
                text = re.sub(".*optional.*\n", "", text).replace("./privyseal", f"{CLIENTS / 'node'}/privyseal")
                ended = subprocess.run(command, input=text, env=environment, capture_output=True, text=True, timeout=60)
                assert (ended.returncode, ended.stderr) == (0, "")
                output += ended.stdout
            assert json.loads(server.requests[0].body) == one and len(server.requests) == 5
        assert output.splitlines() == [GOOD["jws"], f"AAAA {KEY_ID} {GOOD['nonce']} 1"]


def test_the_examples_in_swift_compile():
    # test_documentation.py compares them with this file.
    run(*SWIFTC, "-typecheck", *CLIENTS.glob("swift/*.swift"), DRIVERS / "Example.swift")


# Apple's tests


@pytest.fixture
def apples_tests(tmp_path):
    """Runs tests of Apple's library, unchanged, with the creators of this project: the summary of pytest."""
    requirements = (ROOT / "Tests" / "EndToEnd" / "requirements.txt").read_text().splitlines()
    version = next(line for line in requirements if line.startswith("app-store-server-library="))
    # need_python of scripts/lib.sh downloads it.
    (source,) = (pathlib.Path(sys.prefix) / "apples-source" / version).iterdir()
    place = tmp_path / "apples" / "tests"
    place.mkdir(parents=True)
    names = "test_jws_signature_creator.py", "test_promotional_offer_signature_creator.py"
    with tarfile.open(source) as archive:
        for member in archive:
            if pathlib.PurePath(member.name).parent.name == "tests" and pathlib.PurePath(member.name).name in names:
                (place / pathlib.PurePath(member.name).name).write_bytes(archive.extractfile(member).read())
    (place / "__init__.py").touch()
    # Apple's tests read a private key with this function. Here is none.
    (place / "util.py").write_text("def read_data_from_binary_file(path):\n    return b''\n")
    (place.parent / "conftest.py").write_text(
        "import privyseal_appstoreserverlibrary\n\nprivyseal_appstoreserverlibrary.install()\n"
    )
    write_secret(tmp_path / "token", TOKEN.encode())

    def start(url, *selection):
        environment = {
            **os.environ, "PYTHONPATH": str(CLIENTS / "python"), "PRIVYSEAL_URL": url,
            "PRIVYSEAL_TOKEN_FILE": str(tmp_path / "token"), "PRIVYSEAL_REPLACE_NONCE": "yes",
        }  # fmt: skip
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", place.parent, *selection]
        ended = subprocess.run(command, cwd=place.parent, env=environment, capture_output=True, text=True, timeout=120)
        return ended.stdout

    return start


APPLES_REQUEST = "test_advanced_commerce_api_in_app_signature_creator"


def test_apples_tests_pass_with_a_gateway(apples_tests, tmp_path):
    write_key(tmp_path / "key.p8")
    configuration = f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
drainDelay: 0
accounts:
  - issuerId: issuerId
    apps: [{{bundleId: bundleId, features: [{", ".join(FEATURES)}]}}]
    keys: [{{keyId: keyId, uri: "file:{tmp_path}/key.p8"}}]
    activeKey: keyId
clients:
  - name: apple
    tokens: [{{sha256: "{digest(TOKEN)}"}}]
    allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"]}}]
"""
    with Service(BINARY, tmp_path, configuration) as service:
        url = f"http://{service.addresses['public']}"
        # The gateway refuses the request of this test, because it is none of the Advanced Commerce API.
        output = apples_tests(url, "-k", f"not {APPLES_REQUEST} or missing")
        assert "10 passed, 1 deselected" in output, output
        output = apples_tests(url, "-k", f"{APPLES_REQUEST} and not missing")
        assert "1 failed" in output and '"request.operation" is missing' in output, output


def test_apples_test_of_an_unknown_request_passes_with_a_server_that_signs_everything(apples_tests):
    key = ec.generate_private_key(ec.SECP256R1())

    def sign(handler):
        request = json.dumps(json.loads(server.requests[-1].body)["request"]).encode()
        claims = {
            "iss": "issuerId", "iat": int(time.time()), "aud": "advanced-commerce-api", "bid": "bundleId",
            "nonce": GOOD["nonce"], "request": base64.b64encode(request).decode(),
        }  # fmt: skip
        jws = jwt.encode(claims, key, algorithm="ES256", headers={"kid": "keyId"})
        answer(200, {**GOOD, "jws": jws, "advancedCommerceData": "AAAA"})(handler)

    with ScriptedServer(sign) as server:
        output = apples_tests(server.url, "-k", f"{APPLES_REQUEST} and not missing")
    assert "1 passed, 10 deselected" in output, output
