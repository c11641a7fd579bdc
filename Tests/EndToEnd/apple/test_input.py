"""Accepted and refused input: names, white space, null, empty values; and messages that repeat no secret."""

import base64
import json
import subprocess
import time
import urllib.parse

import contract
import jwt
import pytest
from conftest import BINARY, BUNDLE_ID, ISSUER_ID, KEY_ID
from service import REFUSED_CONFIGURATION, Service, digest, mint, write_key

REFERENCE = "11aa22bb-33cc-44dd-88ee-55ff66aa77bb"
NULL_INFO = {"appAccountToken": None, "consistencyToken": None, "requestReferenceId": REFERENCE}
ITEM = {"SKU": "s", "description": "d", "displayName": "n", "price": 1990}
# Requests as Apple's Java library writes them: null for each optional member that is not set.
JAVA_REQUESTS = [
    {
        "operation": "CREATE_ONE_TIME_CHARGE", "version": "1", "requestInfo": NULL_INFO, "currency": "USD", "item": ITEM,
        "storefront": None, "taxCode": "C003-00-2",
    },
    {
        "operation": "CREATE_SUBSCRIPTION", "version": "1", "requestInfo": NULL_INFO, "currency": "USD",
        "descriptors": {"description": "d", "displayName": "n"}, "items": [{**ITEM, "offer": None}], "period": "P1M",
        "previousTransactionId": None, "storefront": None, "taxCode": "C003-00-1",
    },
    {
        "operation": "MODIFY_SUBSCRIPTION", "version": "1", "requestInfo": NULL_INFO,
        "addItems": [{**ITEM, "offer": None, "proratedPrice": None}], "changeItems": None, "currency": None,
        "descriptors": {"description": None, "displayName": "n", "effective": "IMMEDIATELY"}, "periodChange": None,
        "removeItems": None, "retainBillingCycle": False, "storefront": None, "taxCode": None, "transactionId": "7",
    },
    {
        "operation": "REACTIVATE_SUBSCRIPTION", "version": "1", "requestInfo": NULL_INFO, "items": None, "storefront": None,
        "transactionId": "7",
    },
]  # fmt: skip

QUERY = {
    "appBundleID": BUNDLE_ID,
    "keyIdentifier": KEY_ID,
    "productIdentifier": "p",
    "offerIdentifier": "o",
    "applicationUsername": "Alice",
}


def post(gateway, feature, body):
    url = f"{gateway.url}/v1/apps/{BUNDLE_ID}/{feature}"
    return gateway.http.post(url, data=body, headers={"Content-Type": "application/json"}, timeout=10)


@pytest.mark.parametrize("request_", JAVA_REQUESTS, ids=lambda request: request["operation"])
def test_null_in_optional_members_is_signed_unchanged(gateway, request_):
    text = json.dumps(request_, separators=(",", ":"))
    assert contract.faults({"$ref": "#/components/schemas/AdvancedCommerceInAppRequest"}, request_) == []
    answer = post(gateway, "advanced-commerce-api", '{"request":' + text + "}")
    assert answer.status_code == 200, answer.text
    claims = jwt.decode(
        answer.json()["jws"], gateway.private_key.public_key(), algorithms=["ES256"], audience="advanced-commerce-api"
    )
    assert base64.b64decode(claims["request"], validate=True).decode() == text


@pytest.mark.parametrize("request_", JAVA_REQUESTS, ids=lambda request: request["operation"])
def test_null_in_a_required_member_is_refused(gateway, request_):
    for request in ({**request_, "version": None}, {**request_, "requestInfo": {**NULL_INFO, "requestReferenceId": None}}):
        assert contract.faults({"$ref": "#/components/schemas/AdvancedCommerceInAppRequest"}, request) != []
        answer = post(gateway, "advanced-commerce-api", json.dumps({"request": request}))
        assert answer.status_code == 422, answer.text


WHITE_SPACE = ["p\u00a0", " ", " p", "p ", "\u2003", "a\u2003b", "\u3000p", "a\u3000b", "p\u2028", "\u1680"]


@pytest.mark.parametrize("text", WHITE_SPACE, ids=ascii)
@pytest.mark.parametrize(
    "feature, member",
    [
        ("legacy-promotional-offer", "productId"),
        ("promotional-offer", "offerIdentifier"),
        ("introductory-offer-eligibility", "transactionId"),
    ],
)
def test_white_space_is_refused_with_the_members_name(gateway, feature, member, text):
    request = {"productId": "p", "offerIdentifier": "o"}
    if feature == "introductory-offer-eligibility":
        request = {"productId": "p", "allowIntroductoryOffer": True, "transactionId": "1"}
    answer = post(gateway, feature, json.dumps({**request, member: text}))
    assert answer.status_code == 422, answer.text
    assert answer.json()["field"] == member
    assert contract.faults({"$ref": "#/components/schemas/Identifier"}, text) != []


@pytest.mark.parametrize("text", ["Jane ", " Jane", "\u00a0", "Jane\u3000"], ids=ascii)
def test_white_space_around_a_user_name_is_refused(gateway, text):
    body = {"productId": "p", "offerIdentifier": "o", "applicationUsername": text}
    answer = post(gateway, "legacy-promotional-offer", json.dumps(body))
    assert (answer.status_code, answer.json()["field"]) == (422, "applicationUsername")
    assert contract.faults({"$ref": "#/components/schemas/Username"}, text) != []
    assert contract.faults({"$ref": "#/components/schemas/Username"}, "Jane\u3000Doe") == []


@pytest.mark.parametrize("user, text", [({}, ""), ({"applicationUsername": "Jane"}, "Jane")], ids=["nobody", "Jane"])
def test_an_empty_app_account_token_means_none(gateway, user, text):
    request = {"productId": "p", "offerIdentifier": "o", "appAccountToken": "", **user}
    assert contract.faults({"$ref": "#/components/schemas/LegacyPromotionalOfferRequest"}, request) == []
    answer = post(gateway, "legacy-promotional-offer", json.dumps(request))
    assert answer.status_code == 200, answer.text
    fields = [f"bundleId={BUNDLE_ID}", "productId=p", "offerIdentifier=o", f"applicationUsername={text}"]
    jwks = gateway.directory / "jwks.json"
    jwks.write_bytes(gateway.http.get(f"{gateway.url}/.well-known/jwks.json", timeout=10).content)
    assert gateway.run("verify", "--key", jwks, "--input", "-", *fields, input=answer.content)[0] == 0


@pytest.mark.parametrize("name", ["applicationUsername", "productIdentifier", "offerIdentifier"])
@pytest.mark.parametrize(
    "word",
    ["undefined", "null", "(null)", "(undefined)", "<null>", "NULL", "nil", "None", "[object Object]"],
)
def test_the_compatibility_call_refuses_a_word_such_as_null(gateway, name, word):
    answer = gateway.http.get(gateway.url, params={**QUERY, name: word}, timeout=10)
    problem = answer.json()
    assert (answer.status_code, problem["field"]) == (422, name), problem
    assert f'is the text "{word}"' in problem["detail"]
    if name == "applicationUsername":
        assert "send it empty: applicationUsername=" in problem["detail"]
    contract.expect_as_documented(contract.document()["paths"]["/"]["get"], answer)
    assert gateway.http.get(gateway.url, params={**QUERY, name: "Nullable"}, timeout=10).status_code == 200


def test_a_body_with_a_content_coding_is_refused(gateway):
    url, body = f"{gateway.url}/v1/apps/{BUNDLE_ID}/promotional-offer", b'{"productId":"p","offerIdentifier":"o"}'
    for coding, status in (("gzip", 415), ("identity, gzip", 415), ("Identity", 200)):
        headers = {"Content-Type": "application/json", "Content-Encoding": coding}
        answer = gateway.http.post(url, data=body, headers=headers, timeout=10)
        assert answer.status_code == status, answer.text


CONFIGURATION = """
listeners:
  public: {{address: "127.0.0.1:0"}}
{admin}
drainDelay: 0
audit: off
accounts:
  - issuerId: {issuer}
    apps: [{{bundleId: {app}, features: [promotional-offer]}}]
    keys: [{{keyId: {key}, uri: "{uri}"}}]
    activeKey: {key}
anonymous: true
{more}
"""


def configuration(uri, more="", admin=""):
    return CONFIGURATION.format(issuer=ISSUER_ID, app=BUNDLE_ID, key=KEY_ID, uri=uri, more=more, admin=admin)


def test_two_unicode_forms_of_a_bundle_id_are_two_apps(tmp_path):
    path = tmp_path / "k.p8"
    key = write_key(path)
    names = "com.example.caf\u00e9", "com.example.cafe\u0301"
    apps = ", ".join(f"{{bundleId: {name}, features: [promotional-offer]}}" for name in names)
    text = configuration(f"file:{path}").replace("apps: [", f"apps: [{apps}, ")
    with Service(BINARY, tmp_path, text) as service:
        for name in names:
            offer = f"/v1/apps/{urllib.parse.quote(name)}/promotional-offer"
            status, _, body = service.ask("POST", offer, {"productId": "p", "offerIdentifier": "o"})
            assert status == 200, body
            token = json.loads(body)["jws"]
            claims = jwt.decode(token, key.public_key(), algorithms=["ES256"], audience="promotional-offer")
            assert claims["bid"] == name


SECRET = "sesame4711"
URIS_WITH_SECRETS = [
    f"?pwd={SECRET}", f"?pw={SECRET}", f"?key={SECRET}", f"?token={SECRET}", f"?{SECRET}", f"#{SECRET}",
]  # fmt: skip


def unusable_uris(path):
    yield from (f"file:{path}{end}" for end in URIS_WITH_SECRETS)
    yield f"file://user:{SECRET}@host{path}"
    yield f"file:{SECRET}/k.p8"
    yield f"{SECRET}:{path}"
    yield f"vault://user:{SECRET}@host/k"
    yield f"pkcs11:token=t;{SECRET}=x?module-path=/m.so"
    yield f"pkcs11:token=t?module-path=/m.so&pwd={SECRET}"
    yield f"pkcs11:token=t?module-path=/m.so&pin-source=file:{SECRET}"


def test_no_message_repeats_the_uri_of_a_key(tmp_path):
    path = tmp_path / "k.p8"
    write_key(path)
    for number, uri in enumerate(unusable_uris(path)):
        file = tmp_path / f"{number}.yaml"
        file.write_text(configuration(uri))
        result = subprocess.run([BINARY, "check", "--config", file], capture_output=True, text=True, timeout=60)
        assert result.returncode == REFUSED_CONFIGURATION, (uri, result)
        assert ".uri: " in result.stderr
        assert SECRET not in result.stdout + result.stderr, uri
    # Root and the gateway's own user are administrators on this socket.
    admin = f'  admin: {{address: "unix:{tmp_path}/admin.sock"}}'
    with Service(BINARY, tmp_path, configuration(f"file:{path}", admin=admin)) as service:
        for uri in unusable_uris(path):
            service.configuration.write_text(configuration(uri, admin=admin))
            applied, said = service.reload()
            assert not applied
            assert SECRET not in said, uri
            status, _, body = service.ask("GET", "/v1/status", listener="admin")
            assert status == 200 and SECRET not in body.decode()
        assert SECRET not in service.log.read_text()


def test_forty_thousand_uids_or_repeated_keys_are_refused_quickly(tmp_path):
    path = tmp_path / "k.p8"
    write_key(path)
    token = digest(mint())
    uids = ", ".join(str(number) for number in range(40_000))
    cases = [
        (f"clients: [{{name: a, tokens: [{{sha256: \"{token}\"}}], uids: [{uids}]}}]", "clients[0].uids: is a list of 40000"),
        (
            "logging:\n" + "  level: info\n" * 40_000,
            "logging.level: is given twice, first on line ",
        ),
    ]
    for number, (more, sentence) in enumerate(cases):
        file = tmp_path / f"{number}.yaml"
        file.write_text(configuration(f"file:{path}", more))
        begun = time.monotonic()
        result = subprocess.run([BINARY, "check", "--config", file], capture_output=True, text=True, timeout=120)
        assert result.returncode == REFUSED_CONFIGURATION
        assert sentence in result.stderr, result.stderr[:500]
        # About one second on an idle machine; 40 s when the time was quadratic.
        assert time.monotonic() - begun < 20
