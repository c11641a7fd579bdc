"""The tokens with which a server calls Apple's services."""

import json
import subprocess
import time

import jwt
import pytest
from appstoreserverlibrary.api_client import AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
from conftest import BINARY, BUNDLE_ID, ISSUER_ID, KEY_ID
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from service import Service, digest, exchange, mint, write_key

PATH = f"/v1/apps/{BUNDLE_ID}/app-store-server-api"
NAMED, PATTERN, OFFERS = "named", "pattern", "offers"
FEATURES = {NAMED: "app-store-server-api", PATTERN: '"*", "app-store-*"', OFFERS: "promotional-offer"}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tokens")
    key = write_key(directory / "AuthKey.p8")
    tokens = {name: mint() for name in FEATURES}
    clients = "".join(
        f"""  - name: {name}
    tokens: [{{sha256: "{digest(tokens[name])}"}}]
    allow: [{{apps: ["*"], features: [{features}], products: ["*"], offers: ["*"]}}]
"""
        for name, features in FEATURES.items()
    )
    service = Service(
        BINARY,
        directory,
        f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
drainDelay: 0
audit: {{database: {directory}/audit.db}}
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: {BUNDLE_ID}, features: [promotional-offer, app-store-server-api]}}]
    keys: [{{keyId: {KEY_ID}, uri: "file:{directory}/AuthKey.p8"}}]
    activeKey: {KEY_ID}
clients:
{clients}""",
    )
    with service:
        service.key, service.tokens = key, tokens
        yield service


def ask(gateway, client, body, path=PATH):
    connection = gateway.connect()
    try:
        status, headers, answer = exchange(
            connection, "POST", path, body, {"Authorization": f"Bearer {gateway.tokens[client]}"}
        )
    finally:
        connection.close()
    return status, headers, json.loads(answer)


def read(key, token):
    strict = {"require": ["iss", "iat", "exp", "aud", "bid"], "verify_iat": True, "verify_exp": True}
    return jwt.decode(
        token, key.public_key(), algorithms=["ES256"], audience="appstoreconnect-v1", issuer=ISSUER_ID, options=strict
    )


def test_a_token_has_the_header_and_the_claims_of_apples_library_and_the_documented_time(gateway):
    before = int(time.time())
    status, headers, answer = ask(gateway, NAMED, {})
    after = int(time.time())
    assert status == 200 and headers["Cache-Control"] == "no-store"
    assert list(answer) == ["token", "keyId", "issuedAt", "expiresAt", "refreshAfter"]
    claims = read(gateway.key, answer["token"])
    assert claims == {
        "iss": ISSUER_ID, "iat": answer["issuedAt"], "exp": answer["expiresAt"], "aud": "appstoreconnect-v1",
        "bid": BUNDLE_ID,
    }
    assert before <= answer["refreshAfter"] <= after
    assert answer["issuedAt"] == answer["refreshAfter"] - 60 and answer["expiresAt"] == answer["refreshAfter"] + 300
    pem = gateway.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    client = AppStoreServerAPIClient(pem, KEY_ID, ISSUER_ID, BUNDLE_ID, Environment.SANDBOX)
    apples = client._generate_token()
    assert jwt.get_unverified_header(answer["token"]) == jwt.get_unverified_header(apples)
    # Apple's library leaves out `iat`, which Apple's page requires.
    assert set(claims) == set(read_without_time(gateway.key, apples)) | {"iat"}


def read_without_time(key, token):
    return jwt.decode(token, key.public_key(), algorithms=["ES256"], audience="appstoreconnect-v1")


@pytest.mark.parametrize("client", [PATTERN, OFFERS])
def test_only_a_rule_that_names_the_feature_grants_it(gateway, client):
    status, _, answer = ask(gateway, client, {})
    assert (status, answer["type"]) == (403, "urn:privyseal:problem:forbidden")
    # The pattern still grants the offers.
    body = {"productId": "p", "offerIdentifier": "o"}
    assert ask(gateway, client, body, f"/v1/apps/{BUNDLE_ID}/promotional-offer")[0] == 200


@pytest.mark.parametrize(
    "member", [{"iss": "x"}, {"sub": "x"}, {"aud": "x"}, {"bid": "x"}, {"exp": 1}, {"iat": 1}, {"scope": ["x"]}],
    ids=lambda member: next(iter(member)),
)
def test_a_caller_chooses_no_claim(gateway, member):
    status, _, answer = ask(gateway, NAMED, member)
    assert (status, answer["type"]) == (422, "urn:privyseal:problem:invalid-request")
    assert next(iter(member)) in answer["detail"]


def run(gateway, *arguments):
    command = [BINARY, *arguments, "--config", gateway.configuration]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=gateway.environment)


def test_the_operator_gets_a_token_on_the_command_line(gateway, tmp_path):
    # A gateway writes the audit log, so the command needs another one.
    configuration = tmp_path / "gateway.yaml"
    configuration.write_text(gateway.configuration.read_text().replace("/audit.db", "/other.db"))
    command = [BINARY, "sign", "app-store-server-api", "--app", BUNDLE_ID, "--config", configuration]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert read(gateway.key, json.loads(ended.stdout)["token"])["bid"] == BUNDLE_ID


def test_a_policy_test_says_that_a_pattern_does_not_grant_it(gateway):
    def decision(client):
        return run(gateway, "policy", "test", "--client", client, "--app", BUNDLE_ID, "--feature", "app-store-server-api")

    assert decision(NAMED).returncode == 0
    assert decision(PATTERN).returncode == 1


def test_the_audit_log_has_each_token(gateway):
    status, headers, _ = ask(gateway, NAMED, {})
    assert status == 200
    found = run(gateway, "audit", "search", "--request-id", headers["X-Request-Id"], "--format", "json")
    assert '"app-store-server-api"' in found.stdout, found.stderr
