"""The legacy signature: over the same text as Apple's library, in DER, and valid for openssl."""

import base64
import subprocess
import time
import uuid

import apple
import pytest
from conftest import BUNDLE_ID, KEY_ID
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

SEPARATOR = "\u2063"
TOKEN = "7E3FB204-2F2B-4A05-9A9F-2F5E5C9E5A43"


def signed_text(answer, product, offer, user):
    fields = [BUNDLE_ID, KEY_ID, product, offer, user, answer["nonce"], str(answer["timestamp"])]
    return SEPARATOR.join(fields).encode()


def sign(gateway, **request):
    url = f"{gateway.url}/v1/apps/{BUNDLE_ID}/legacy-promotional-offer"
    answer = gateway.http.post(url, json=request, timeout=10)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    "user, text",
    [
        ({}, ""),
        ({"appAccountToken": TOKEN}, TOKEN.lower()),
        ({"applicationUsername": "Jane Döe\u200d"}, "Jane Döe\u200d"),
        ({"applicationUsername": ""}, ""),
    ],
    ids=["nobody", "account", "username", "empty username"],
)
def test_the_signature_covers_the_seven_fields(gateway, user, text):
    answer = sign(gateway, productId="com.example.monthly", offerIdentifier="winback", **user)
    assert answer.keys() == {"keyIdentifier", "nonce", "timestamp", "signature"}
    assert answer["keyIdentifier"] == KEY_ID
    assert str(uuid.UUID(answer["nonce"])) == answer["nonce"]
    assert type(answer["timestamp"]) is int and abs(answer["timestamp"] / 1000 - time.time()) < 60
    signature = base64.b64decode(answer["signature"], validate=True)
    message = signed_text(answer, "com.example.monthly", "winback", text)
    gateway.private_key.public_key().verify(signature, message, ec.ECDSA(SHA256()))


def test_apples_library_signs_the_same_text(gateway):
    answer = sign(gateway, productId="com.example.monthly", offerIdentifier="winback", appAccountToken=TOKEN)
    apples = apple.legacy_creator(gateway.pem).create_signature(
        "com.example.monthly", "winback", TOKEN, uuid.UUID(answer["nonce"]), answer["timestamp"]
    )
    message = signed_text(answer, "com.example.monthly", "winback", TOKEN.lower())
    for signature in (answer["signature"], apples):
        gateway.private_key.public_key().verify(base64.b64decode(signature), message, ec.ECDSA(SHA256()))


def test_openssl_verifies_the_signature(gateway, tmp_path):
    public = gateway.private_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (tmp_path / "public.pem").write_bytes(public)
    for index in range(64):
        answer = sign(gateway, productId=f"p{index}", offerIdentifier="o")
        (tmp_path / "text").write_bytes(signed_text(answer, f"p{index}", "o", ""))
        (tmp_path / "signature").write_bytes(base64.b64decode(answer["signature"]))
        command = ["openssl", "dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "text"]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True)
        assert result.stdout == b"Verified OK\n", result


def test_the_call_of_the_reference_example_works(gateway):
    parameters = {
        "appBundleID": BUNDLE_ID,
        "keyIdentifier": KEY_ID,
        "productIdentifier": "asdf",
        "offerIdentifier": "a b+c",
        "applicationUsername": "Mixed Case",
    }
    answer = gateway.http.get(gateway.url, params=parameters, timeout=10)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].startswith("application/json")
    answer = answer.json()
    assert answer.keys() == {"signature", "nonce", "timestamp", "keyIdentifier"}
    message = signed_text(answer, "asdf", "a b+c", "Mixed Case")
    gateway.private_key.public_key().verify(base64.b64decode(answer["signature"]), message, ec.ECDSA(SHA256()))
    for missing in parameters:
        rest = {name: value for name, value in parameters.items() if name != missing}
        problem = gateway.http.get(gateway.url, params=rest, timeout=10)
        assert (problem.status_code, problem.json()["field"]) == (400, missing)
    problem = gateway.http.get(gateway.url, params={**parameters, "keyIdentifier": "AAAAAXXXXX"}, timeout=10)
    assert (problem.status_code, problem.json()["type"]) == (404, "urn:privyseal:problem:unknown-key")


def test_the_command_line_verifies_a_signature_from_http(gateway, tmp_path):
    (tmp_path / "jwks.json").write_bytes(gateway.http.get(f"{gateway.url}/.well-known/jwks.json", timeout=10).content)
    answer = gateway.http.post(
        f"{gateway.url}/v1/apps/{BUNDLE_ID}/legacy-promotional-offer",
        json={"productId": "p", "offerIdentifier": "o", "appAccountToken": TOKEN},
        timeout=10,
    )
    fields = [f"bundleId={BUNDLE_ID}", "productId=p", "offerIdentifier=o", f"appAccountToken={TOKEN}"]
    command = ["verify", "--key", tmp_path / "jwks.json", "--input", "-", *fields]
    assert gateway.run(*command, input=answer.content)[0] == 0
    broken = answer.content.replace(b'"timestamp":1', b'"timestamp":2')
    assert gateway.run(*command, input=broken)[0] == 1
    # Names and key IDs from other machines reach the terminal without control characters.
    hostile = answer.content.replace(b"{", b'{"\\u001b[2J":1,', 1)
    before = len(gateway.output)
    assert gateway.run(*command, input=hostile)[0] == 0
    said = gateway.output[before:]
    assert b"is not a field" in said and b"\x1b" not in said
