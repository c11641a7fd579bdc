"""Invalid requests over HTTP, each with its answer."""

import pytest
from conftest import BUNDLE_ID

JSON = {"Content-Type": "application/json"}
GOOD = '{"productId":"a","offerIdentifier":"b"}'


@pytest.fixture
def gateway(file_gateway):
    return file_gateway



@pytest.mark.parametrize(
    "body, status, kind, field",
    [
        ('{"productId":"a\u2063b","offerIdentifier":"b"}', 422, "invalid-request", "productId"),
        ('{"productId":"a\\u2063b","offerIdentifier":"b"}', 422, "invalid-request", "productId"),
        ('{"productId":"a\\u0000","offerIdentifier":"b"}', 422, "invalid-request", "productId"),
        ('{"productId":"a\\u200b","offerIdentifier":"b"}', 422, "invalid-request", "productId"),
        ('{"productID":"a","offerIdentifier":"b"}', 422, "invalid-request", "productID"),
        ('{"productId":null,"offerIdentifier":"b"}', 422, "invalid-request", "productId"),
        ('{"productId":1,"offerIdentifier":"b"}', 422, "invalid-request", "productId"),
        ('{"productId":"","offerIdentifier":"b"}', 422, "invalid-request", "productId"),
        ('{"productId":"%s","offerIdentifier":"b"}' % ("x" * 256), 422, "invalid-request", "productId"),
        ('{"productId":"a"}', 422, "invalid-request", "offerIdentifier"),
        ('{"productId":"a","offerIdentifier":"b","nonce":"x"}', 422, "invalid-request", "nonce"),
        ('{"productId":"a","offerIdentifier":"b","transactionId":null}', 422, "invalid-request", "transactionId"),
        ("null", 422, "invalid-request", None),
        ("[]", 422, "invalid-request", None),
        ("", 400, "malformed-body", None),
        ('{"productId":"a","offer', 400, "malformed-body", None),
        (GOOD + "x", 400, "malformed-body", None),
        ('{"productId":"a","productId":"a","offerIdentifier":"b"}', 400, "malformed-body", "productId"),
        ('{"productId":"a","product\\u0049d":"a","offerIdentifier":"b"}', 400, "malformed-body", "productId"),
        (b'{"productId":"\xff","offerIdentifier":"b"}', 400, "malformed-body", None),
        ("[" * 1000, 400, "malformed-body", None),
        (" " * 65537, 413, "body-too-large", None),
        ("x" * (1 << 20), 413, "body-too-large", None),
    ],
)
def test_a_bad_body_gets_a_problem_document(gateway, body, status, kind, field):
    data = body if isinstance(body, bytes) else body.encode()
    expect(
        gateway.http.post(f"{gateway.url}/v1/apps/{BUNDLE_ID}/promotional-offer", data=data, headers=JSON, timeout=10),
        status, kind, field,
    )


@pytest.mark.parametrize(
    "method, path, headers, status, kind",
    [
        ("POST", "/v1/apps/com.example.other/promotional-offer", JSON, 404, "unknown-app"),
        ("POST", f"/v1/apps/{BUNDLE_ID}/promotional-offers", JSON, 404, "unknown-feature"),
        ("POST", f"/v1/apps/{BUNDLE_ID}", JSON, 404, "not-found"),
        ("GET", "/nothing", {}, 404, "not-found"),
        ("GET", f"/v1/apps/{BUNDLE_ID}/promotional-offer", {}, 405, "method-not-allowed"),
        ("PUT", f"/v1/apps/{BUNDLE_ID}/promotional-offer", JSON, 405, "method-not-allowed"),
        ("POST", "/", JSON, 405, "method-not-allowed"),
        ("POST", "/readyz", JSON, 405, "method-not-allowed"),
        ("POST", f"/v1/apps/{BUNDLE_ID}/promotional-offer", {}, 415, "unsupported-media-type"),
        ("POST", f"/v1/apps/{BUNDLE_ID}/promotional-offer", {"Content-Type": "text/plain"}, 415, "unsupported-media-type"),
    ],
)
def test_a_bad_request_line_or_header_gets_a_problem_document(gateway, method, path, headers, status, kind):
    answer = gateway.http.request(method, gateway.url + path, data=GOOD, headers=headers, timeout=10)
    problem = expect(answer, status, kind)
    if status == 405:
        assert answer.headers["Allow"] and method not in answer.headers["Allow"].split(", ")
    assert problem["title"]


def test_a_content_type_may_have_parameters(gateway):
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    url = f"{gateway.url}/v1/apps/{BUNDLE_ID}/promotional-offer"
    assert gateway.http.post(url, data=GOOD, headers=headers, timeout=10).status_code == 200


def test_readyz_refuses_a_parameter_that_it_does_not_know(gateway):
    answer = gateway.http.get(f"{gateway.url}/readyz?apps={BUNDLE_ID}", timeout=10)
    expect(answer, 400, "invalid-parameter", "apps")


def test_the_health_endpoints_report_alive_and_ready(gateway):
    assert gateway.http.get(f"{gateway.url}/livez", timeout=10).json() == {"status": "alive"}
    ready = gateway.http.get(f"{gateway.url}/readyz", timeout=10)
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    assert gateway.http.head(f"{gateway.url}/readyz", timeout=10).status_code == 200


def expect(answer, status, kind, field=None):
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["Cache-Control"] == "no-store"
    problem = answer.json()
    assert problem["type"] == f"urn:privyseal:problem:{kind}"
    assert problem["status"] == status
    assert problem["detail"]
    assert problem.get("field") == field
    return problem
