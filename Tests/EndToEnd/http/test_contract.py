"""The gateway keeps its contract: the OpenAPI document, the problem pages, and the promises of http-api.md."""

import json
import re
import subprocess
import sys

import contract
import pytest
import requests
import yaml
from conftest import BUNDLE_ID, FEATURES, ROOT
from openapi_spec_validator import validate
from service import mint

PROBLEMS = ROOT / "docs" / "problems"
OFFER = f"/v1/apps/{BUNDLE_ID}/promotional-offer"
GOOD = {"productId": "a", "offerIdentifier": "b"}
JSON = {"Content-Type": "application/json"}
OPERATIONS = list(contract.operations())


@pytest.fixture
def gateway(file_gateway):
    return file_gateway


def label(value):
    return value if isinstance(value, str) else ""


def body_examples():
    for path, method, operation in OPERATIONS:
        content = operation.get("requestBody", {}).get("content", {})
        for name, example in content.get("application/json", {}).get("examples", {}).items():
            yield pytest.param(path, operation, example["value"], id=f"{operation['operationId']}-{name}")


def response_examples():
    responses = [(f"{op['operationId']}-{s}", r) for _, _, op in OPERATIONS for s, r in op["responses"].items()]
    responses += contract.document()["components"]["responses"].items()
    for name, response in responses:
        for media in response.get("content", {}).values():
            for title, example in media.get("examples", {}).items():
                yield pytest.param(media["schema"], example["value"], id=f"{name}-{title}")


# The document


def test_the_document_is_valid_openapi():
    validate(contract.document())
    assert contract.document()["openapi"].startswith("3.1.")


class Loader(yaml.SafeLoader):
    """Reads YAML 1.2: a date, yes, no, on and off are text. A name may be in a mapping once."""

    def construct_mapping(self, node, deep=False):
        names = [self.construct_object(name, deep=True) for name, _ in node.value]
        assert len(set(names)) == len(names) and all(isinstance(name, str) for name in names), names
        return super().construct_mapping(node, deep)


Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if not tag.endswith(":timestamp") and not (tag.endswith(":bool") and first in "yYnNoO")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def test_the_json_document_matches_the_yaml_document():
    assert yaml.load(contract.printed("yaml").decode(), Loader) == contract.document()


def test_the_document_has_the_paths_of_each_feature():
    shown = {path.split("/")[4] for path in contract.document()["paths"] if path.startswith("/v1/apps/")}
    assert shown == set(FEATURES)


def test_every_operation_has_a_unique_id_and_a_summary():
    ids = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(set(ids)) == len(ids)
    assert all(operation["summary"] for _, _, operation in OPERATIONS)


def test_every_component_is_used():
    text = json.dumps(contract.document())
    for kind, components in contract.document()["components"].items():
        if kind != "securitySchemes":
            unused = [name for name in components if f'"#/components/{kind}/{name}"' not in text]
            assert unused == []


@pytest.mark.parametrize("path, operation, value", list(body_examples()))
def test_each_request_example_matches_its_schema(path, operation, value):
    assert contract.faults(operation["requestBody"]["content"]["application/json"]["schema"], value) == []


@pytest.mark.parametrize("schema, value", list(response_examples()))
def test_each_response_example_matches_its_schema(schema, value):
    assert contract.faults(schema, value) == []


# Problem pages


def kinds():
    urns = contract.document()["components"]["schemas"]["ProblemType"]["enum"]
    return [urn.removeprefix("urn:privyseal:problem:") for urn in urns]


# Outside the contract: invalid HTTP, HTTP that is not implemented, and problems of the admin listener.
BESIDE = {"malformed-request", "not-implemented", "reload-refused", "change-refused", "signer-not-replaced"}


def test_every_problem_has_a_page_and_every_page_a_problem():
    pages = {page.stem for page in PROBLEMS.glob("*.md")} - {"README"}
    assert pages == set(kinds()) | BESIDE
    listed = re.findall(r"\]\(([a-z-]+)\.md\)", (PROBLEMS / "README.md").read_text())
    assert sorted(listed) == sorted(set(kinds()) | BESIDE)


def test_every_problem_is_a_response_of_an_operation():
    schemas = json.dumps([schema for name, schema in contract.document()["components"]["schemas"].items() if name != "ProblemType"])
    missing = {kind for kind in kinds() if f'"urn:privyseal:problem:{kind}"' not in schemas}
    # An operation has only methods that exist.
    assert missing == {"method-not-allowed"}


@pytest.mark.parametrize("kind", kinds())
def test_the_example_of_a_problem_page_matches_the_problem(kind):
    text = (PROBLEMS / f"{kind}.md").read_text()
    example = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    assert contract.faults({"$ref": "#/components/schemas/Problem"}, example) == []
    assert example["type"] == f"urn:privyseal:problem:{kind}"
    assert f"| status | {example['status']}" in text


# The document and the gateway


@pytest.mark.parametrize("name, media_type", [("openapi.yaml", "application/yaml"), ("openapi.json", "application/json")])
def test_the_gateway_serves_the_document_unchanged(gateway, name, media_type):
    answer = requests.get(f"{gateway.url}/{name}", timeout=10)
    assert answer.content.rstrip() == contract.printed(name.partition(".")[2]).rstrip()
    assert answer.headers["Content-Type"] == media_type
    assert answer.headers["Cache-Control"] == "no-store"
    assert yaml.safe_load(answer.text)["info"]["title"] == "PrivySeal"


@pytest.mark.parametrize("path, operation, value", list(body_examples()))
def test_the_gateway_answers_each_example_as_documented(gateway, path, operation, value):
    answer = gateway.http.post(gateway.url + contract.path_of(path), json=value, timeout=10)
    assert answer.status_code == 200, answer.text
    contract.expect_as_documented(operation, answer)
    if "requests" in value:
        assert [result["status"] for result in answer.json()["results"]] == [200] * len(value["requests"])


def test_the_gateway_answers_the_compatibility_call_as_documented(gateway):
    operation = contract.document()["paths"]["/"]["get"]
    first = {p["name"]: next(iter(p["examples"].values()))["value"] for p in operation["parameters"]}
    for name in ("user", "nobody"):
        user = operation["parameters"][-1]["examples"][name]["value"]
        answer = gateway.http.get(gateway.url, params={**first, "applicationUsername": user}, timeout=10)
        assert answer.status_code == 200, answer.text
        contract.expect_as_documented(operation, answer)


@pytest.mark.parametrize("path, method, operation", OPERATIONS, ids=label)
def test_the_gateway_has_every_route_of_the_document(gateway, path, method, operation):
    answer = gateway.http.request(method, gateway.url + contract.path_of(path), timeout=10)
    expected = {"/": 400}.get(path, 200 if operation.get("security") == [] else 415)
    assert answer.status_code == expected, answer.text
    contract.expect_as_documented(operation, answer)


@pytest.mark.parametrize("path", contract.document()["paths"])
def test_every_other_method_gets_405_with_the_allowed_methods(gateway, path):
    methods = {method.upper() for other, method, _ in OPERATIONS if other == path}
    for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"} - methods:
        answer = gateway.http.request(method, gateway.url + contract.path_of(path), timeout=10)
        assert answer.status_code == 405, (method, answer.text)
        assert set(answer.headers["Allow"].split(", ")) == methods
        if method != "HEAD":
            assert answer.json()["type"] == "urn:privyseal:problem:method-not-allowed"
            assert contract.faults({"$ref": "#/components/schemas/Problem"}, answer.json()) == []


def test_an_unknown_path_gets_a_problem_document(gateway):
    for path in ("/nothing", "/v1", "/v1/apps", f"/v1/apps/{BUNDLE_ID}", f"{OFFER}/batch/more", "/openapi", "/metrics"):
        answer = gateway.http.get(gateway.url + path, timeout=10)
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:privyseal:problem:not-found"), path


# Authentication


def test_the_open_routes_require_no_authentication(gateway):
    for path, method, operation in OPERATIONS:
        if operation.get("security") == []:
            answer = requests.request(method, gateway.url + path, timeout=10)
            assert answer.status_code == 200, path
            # They do not check a token either.
            wrong = requests.request(method, gateway.url + path, headers={"Authorization": "Bearer x"}, timeout=10)
            assert wrong.status_code == 200, path


def test_all_other_routes_require_authentication_and_give_no_reason(gateway):
    changed = gateway.token[:-1] + ("a" if gateway.token[-1] != "a" else "b")
    wrong = [
        None, "", "Bearer", "Bearer ", f"Basic {gateway.token}", gateway.token, f"Bearer {mint()}", f"Bearer {changed}",
        f"Bearer {gateway.token[:-1]}", f"Bearer {gateway.token}x", f"Bearer {gateway.token} x", "Bearer \u00e4",
        f"Bearer {gateway.token.upper()}",
    ]
    bodies = set()
    for path, method, operation in OPERATIONS:
        if operation.get("security") == []:
            continue
        for value in wrong:
            headers = {**JSON, "X-Request-Id": "same"}
            if value is not None:
                headers["Authorization"] = value.encode("latin-1")
            url = gateway.url + contract.path_of(path)
            answer = requests.request(method, url, headers=headers, json=None if method == "get" else GOOD, timeout=10)
            assert answer.status_code == 401, (path, value)
            contract.expect_as_documented(operation, answer)
            bodies.add(answer.content)
    assert len(bodies) == 1


# Headers of every answer


@pytest.mark.parametrize("value", ["a", "checkout-8f14e45f", "~!#$%&()*+,-./:;<=>?@[]^_`{|}", "x" * 128])
def test_the_gateway_returns_an_acceptable_request_id(gateway, value):
    for headers, status in [({**JSON, "X-Request-Id": value}, 200), ({"X-Request-Id": value}, 415)]:
        answer = gateway.http.post(gateway.url + OFFER, data=json.dumps(GOOD), headers=headers, timeout=10)
        assert answer.status_code == status
        assert answer.headers["X-Request-Id"] == value
        if status != 200:
            assert answer.json()["requestId"] == value


@pytest.mark.parametrize("value", ["", "x" * 129, "a b", 'a"b', "ä", "a\tb", None])
def test_the_gateway_replaces_any_other_request_id(gateway, value):
    headers = {} if value is None else {"X-Request-Id": value.encode("latin-1")}
    seen = set()
    for _ in range(3):
        answer = gateway.http.get(gateway.url, headers=headers, timeout=10)
        given = answer.headers["X-Request-Id"]
        assert re.fullmatch(r"[!#-~]{1,128}", given) and given != value
        assert answer.json()["requestId"] == given
        seen.add(given)
    assert len(seen) == 3


def test_the_gateway_continues_a_valid_trace_and_no_invalid_one(gateway):
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    answer = gateway.http.get(
        f"{gateway.url}/livez", headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}, timeout=10
    )
    assert re.fullmatch(rf"00-{trace}-[0-9a-f]{{16}}-0[01]", answer.headers["traceparent"])
    for broken in (f"00-{'0' * 32}-00f067aa0ba902b7-01", f"ff-{trace}-00f067aa0ba902b7-01", f"00-{trace.upper()}-00f067aa0ba902b7-01", "x"):
        answer = gateway.http.get(f"{gateway.url}/livez", headers={"traceparent": broken}, timeout=10)
        assert trace not in answer.headers.get("traceparent", ""), broken


def test_a_client_with_a_rate_gets_ratelimit_headers(gateway):
    answer = gateway.http.post(gateway.url + OFFER, json=GOOD, timeout=10)
    assert int(answer.headers["RateLimit-Limit"]) == 100000
    assert 0 <= int(answer.headers["RateLimit-Remaining"]) < 100000
    assert int(answer.headers["RateLimit-Reset"]) >= 1


# Batches


def batch(gateway, body, **keywords):
    data = body if isinstance(body, (str, bytes)) else json.dumps(body)
    return gateway.http.post(f"{gateway.url}{OFFER}/batch", data=data, headers=JSON, timeout=60, **keywords)


def test_a_batch_returns_each_success_or_problem_in_order(gateway):
    wanted = [GOOD, {**GOOD, "productId": ""}, 7, {"request": GOOD}, {**GOOD, "productId": "last"}]
    answer = batch(gateway, {"requests": wanted})
    assert answer.status_code == 200
    contract.expect_as_documented(contract.document()["paths"]["/v1/apps/{bundleId}/promotional-offer/batch"]["post"], answer)
    results = answer.json()["results"]
    assert [result["status"] for result in results] == [200, 422, 422, 422, 200]
    problems = [result["problem"] for result in results[1:4]]
    assert [problem.get("field") for problem in problems] == ["productId", None, "request"]
    assert {problem["requestId"] for problem in problems} == {answer.headers["X-Request-Id"]}
    assert {problem["status"] for problem in problems} == {422}
    assert len({result["response"]["nonce"] for result in (results[0], results[4])}) == 2


def test_a_batch_accepts_a_hundred_requests(gateway):
    results = batch(gateway, {"requests": [{**GOOD, "productId": f"p{index}"} for index in range(100)]}).json()["results"]
    assert len({result["response"]["nonce"] for result in results}) == 100


@pytest.mark.parametrize(
    "body, status, kind, field",
    [
        ({"requests": []}, 422, "invalid-request", "requests"),
        ({"requests": [GOOD] * 101}, 422, "invalid-request", "requests"),
        ({"requests": GOOD}, 422, "invalid-request", "requests"),
        ({"requests": None}, 422, "invalid-request", "requests"),
        ({}, 422, "invalid-request", "requests"),
        ({"requests": [GOOD], "more": 1}, 422, "invalid-request", "more"),
        ([GOOD], 422, "invalid-request", None),
        ("", 400, "malformed-body", None),
        ('{"requests":[{}', 400, "malformed-body", None),
        ('{"requests":[{"productId":"a","productId":"a"}]}', 400, "malformed-body", "productId"),
        ('{"requests":[],"requests":[]}', 400, "malformed-body", "requests"),
        (b'{"requests":["\xff"]}', 400, "malformed-body", None),
        ('{"requests":[' + "[" * 1000, 400, "malformed-body", None),
        (" " * ((1 << 20) + 1), 413, "body-too-large", None),
    ],
    ids=lambda value: str(value)[:24],
)
def test_an_invalid_batch_is_refused_as_a_whole(gateway, body, status, kind, field):
    answer = batch(gateway, body)
    assert (answer.status_code, answer.json()["type"]) == (status, f"urn:privyseal:problem:{kind}"), answer.text
    assert answer.json().get("field") == field


def test_a_batch_may_be_larger_than_a_single_request(gateway):
    body = json.dumps({"requests": [{"productId": "x" * 255, "offerIdentifier": "y" * 255, "transactionId": "z" * 255}] * 100})
    assert 65536 < len(body) < 1 << 20
    assert {result["status"] for result in batch(gateway, body).json()["results"]} == {200}


# schemathesis


def test_schemathesis_finds_no_failure(gateway, tmp_path, capsys):
    """All checks of schemathesis in all its phases; schemathesis.toml has the rules for them."""
    report = tmp_path / "report.json"
    document = tmp_path / "openapi.json"
    document.write_bytes(contract.printed("json"))
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", document, "--url", gateway.url,
        "--checks", "all", "--max-response-time", "5", "--phases", "examples,coverage,fuzzing,stateful",
        "--max-examples", "30", "--seed", "20261121", "--generation-deterministic", "--continue-on-failure",
        "--header", f"Authorization: Bearer {gateway.token}", "--no-color",
        "--report", "json", "--report-json-path", report,
    ]
    result = subprocess.run(command, cwd=ROOT / "Tests" / "EndToEnd", capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout[-20000:] + result.stderr
    found = json.loads(report.read_text())
    cases = found["test_cases"]
    assert (cases["unique_failures"], cases["with_failures"], cases["errored"], found["errors"]) == (0, 0, 0, [])
    assert found["complete"] and {phase["status"] for phase in found["phases"].values()} == {"success"}
    assert found["operations"]["tested"] == len(OPERATIONS)
    assert {name: warnings for name, warnings in found["warnings"].items() if warnings} == {}
    # Every operation was also called successfully.
    for operation, phases in found["valid_rates"].items():
        assert sum(rates["accepted"] for rates in phases.values()) > 0, operation
    with capsys.disabled():
        print(f" schemathesis: {cases['generated']} cases, {cases['unique_failures']} failures,"
              f" {found['running_time']:.0f} s ", end="")
