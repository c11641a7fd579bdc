"""Spans from the request to the token call, as an OTLP/HTTP collector receives them."""

import http.server
import json
import queue

import pytest
from conftest import BUNDLE_ID, with_file, with_token
from scripted_server import LocalServer

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"


@pytest.fixture
def collector():
    """The address of a collector, and the documents that it received."""
    documents = queue.Queue()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            documents.put((self.path, self.headers["Content-Type"], self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    with LocalServer(Handler) as server:
        yield f"{server.url}/v1/traces", documents


@pytest.mark.parametrize("make", [with_file, with_token], ids=["file", "pkcs11"])
def test_a_request_and_its_signature_are_spans_of_the_callers_trace(make, collector, tmp_path, private_key):
    endpoint, documents = collector
    gateway = make(tmp_path, private_key)
    with gateway.configuration.open("a") as file:
        file.write(f"tracing: {{endpoint: '{endpoint}', serviceName: interop}}\n")
    with gateway:
        answer = gateway.http.post(
            f"{gateway.url}/v1/apps/{BUNDLE_ID}/legacy-promotional-offer",
            json={"productId": "p", "offerIdentifier": "o", "applicationUsername": "somebody-private"},
            headers={"traceparent": f"00-{TRACE}-{PARENT}-01"},
            timeout=10,
        )
        assert answer.status_code == 200
        version, trace, span, flags = answer.headers["traceparent"].split("-")
        assert (version, trace, flags) == ("00", TRACE, "01") and span != PARENT
        path, content_type, body = documents.get(timeout=20)
    assert gateway.process.returncode == 0
    assert (path, content_type) == ("/v1/traces", "application/json")
    assert b"somebody-private" not in body and gateway.token.encode() not in body
    resource = json.loads(body)["resourceSpans"][0]
    assert {"key": "service.name", "value": {"stringValue": "interop"}} in resource["resource"]["attributes"]
    spans = {span["name"]: span for scope in resource["scopeSpans"] for span in scope["spans"]}
    request, sign = spans["POST /v1/apps/{bundleId}/{feature}"], spans["sign"]
    assert request["traceId"] == sign["traceId"] == TRACE
    assert (request["parentSpanId"], request["spanId"]) == (PARENT, span)
    assert sign["parentSpanId"] == span
    assert int(request["startTimeUnixNano"]) <= int(sign["startTimeUnixNano"])
    assert int(sign["endTimeUnixNano"]) <= int(request["endTimeUnixNano"])
    assert f'traceId={TRACE}'.encode() in gateway.output
