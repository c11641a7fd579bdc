"""The three kinds of JWS equal Apple's for the same input, and are valid."""

import base64
import json
import re
import time

import apple
import jwt
import pytest
from conftest import BUNDLE_ID, KEY_ID

NONCE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")

REACTIVATION = {
    "operation": "REACTIVATE_SUBSCRIPTION",
    "version": "1",
    "requestInfo": {"requestReferenceId": "f55df048-4cd8-4261-b404-b6f813ff70e5"},
    "transactionId": "1000011859217",
    "storefront": "USA",
}


def sign(gateway, feature, request):
    answer = gateway.http.post(f"{gateway.url}/v1/apps/{BUNDLE_ID}/{feature}", json=request, timeout=10)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.json()


def read(gateway, answer, audience):
    """Verifies the signature with the published keys; returns the header and the claims."""
    keys = jwt.PyJWKSet.from_dict(gateway.http.get(f"{gateway.url}/.well-known/jwks.json", timeout=10).json())
    header = jwt.get_unverified_header(answer["jws"])
    claims = jwt.decode(answer["jws"], keys[header["kid"]].key, algorithms=["ES256"], audience=audience)
    assert keys[KEY_ID].key.public_numbers() == gateway.private_key.public_key().public_numbers()
    return header, claims


def expect_as_apples(gateway, answer, apples_token, audience):
    header, claims = read(gateway, answer, audience)
    apples_claims = jwt.decode(apples_token, gateway.private_key.public_key(), algorithms=["ES256"], audience=audience)
    assert header == jwt.get_unverified_header(apples_token)
    assert claims.keys() == apples_claims.keys()
    own = {"iat", "nonce", "request"}
    assert {k: v for k, v in claims.items() if k not in own} == {k: v for k, v in apples_claims.items() if k not in own}
    assert type(claims["iat"]) is int and abs(claims["iat"] - time.time()) < 60
    assert NONCE.fullmatch(claims["nonce"])
    assert answer["keyId"] == KEY_ID
    assert (answer["nonce"], answer["issuedAt"]) == (claims["nonce"], claims["iat"])
    if "request" in claims:
        assert json.loads(base64.b64decode(claims["request"], validate=True)) == {
            name: value
            for name, value in json.loads(base64.b64decode(apples_claims["request"])).items()
            if value is not None
        }


@pytest.mark.parametrize("transaction", [{"transactionId": "1000011859217"}, {}], ids=["transaction", "no transaction"])
@pytest.mark.parametrize("product", ["com.example.monthly", 'quoted "ü" \\ / 日本'], ids=["plain", "special characters"])
def test_a_promotional_offer_matches_apples_library(gateway, product, transaction):
    request = {"productId": product, "offerIdentifier": "winback", **transaction}
    answer = sign(gateway, "promotional-offer", request)
    assert answer.keys() == {"jws", "keyId", "nonce", "issuedAt"}
    expect_as_apples(gateway, answer, apple.promotional_offer(gateway.pem, request), "promotional-offer")


@pytest.mark.parametrize("allowed", [True, False])
def test_an_introductory_offer_eligibility_matches_apples_library(gateway, allowed):
    request = {"productId": "com.example.monthly", "allowIntroductoryOffer": allowed, "transactionId": "1"}
    answer = sign(gateway, "introductory-offer-eligibility", request)
    token = apple.introductory_offer_eligibility(gateway.pem, request)
    expect_as_apples(gateway, answer, token, "introductory-offer-eligibility")


def test_an_advanced_commerce_request_matches_apples_library(gateway):
    answer = sign(gateway, "advanced-commerce-api", {"request": REACTIVATION})
    expect_as_apples(gateway, answer, apple.reactivation(gateway.pem, REACTIVATION), "advanced-commerce-api")
    data = json.loads(base64.b64decode(answer["advancedCommerceData"], validate=True))
    assert data == {"signatureInfo": {"token": answer["jws"]}}


def test_the_bytes_of_an_advanced_commerce_request_are_signed_unchanged(gateway):
    text = json.dumps(REACTIVATION, indent=3).replace('"USA"', '"\\u0055SA"')
    path = f"{gateway.url}/v1/apps/{BUNDLE_ID}/advanced-commerce-api"
    headers = {"Content-Type": "application/json"}
    answer = gateway.http.post(path, data=f'{{"request" : {text} }}', headers=headers, timeout=10).json()
    claims = read(gateway, answer, "advanced-commerce-api")[1]
    assert base64.b64decode(claims["request"]) == text.encode()
    encoded = base64.b64encode(text.encode()).decode()
    answer = sign(gateway, "advanced-commerce-api", {"requestData": encoded})
    assert read(gateway, answer, "advanced-commerce-api")[1]["request"] == encoded


def test_many_signatures_are_valid_and_have_unique_nonces(gateway):
    """About one signature in 128 has an r or s with leading zeros."""
    key, nonces = gateway.private_key.public_key(), set()
    products = [f"p{index}" for index in range(100)]
    for _ in range(6):
        requests = [{"productId": product, "offerIdentifier": "o"} for product in products]
        answers = [result["response"] for result in sign(gateway, "promotional-offer/batch", {"requests": requests})["results"]]
        claims = [jwt.decode(answer["jws"], key, algorithms=["ES256"], audience="promotional-offer") for answer in answers]
        assert [one["productId"] for one in claims] == products
        nonces |= {answer["nonce"] for answer in answers}
    assert len(nonces) == 600


@pytest.mark.parametrize(
    "feature, request_",
    [
        ("promotional-offer", {"productId": "a", "offerIdentifier": "b"}),
        ("introductory-offer-eligibility", {"productId": "a", "allowIntroductoryOffer": True, "transactionId": "1"}),
        ("advanced-commerce-api", {"request": REACTIVATION}),
    ],
)
def test_the_command_line_signs_like_http(gateway, feature, request_):
    status, output = gateway.run(
        "sign", feature, "--config", gateway.configuration, "--app", BUNDLE_ID, "--input", "-",
        input=json.dumps(request_).encode(),
    )
    assert status == 0
    assert read(gateway, json.loads(output), feature)[1]["aud"] == feature
