"""Rules that the OpenAPI document cannot tell schemathesis. schemathesis.toml loads this file."""

import base64
import json

import schemathesis
from schemathesis.core import NOT_SET
from schemathesis.core.failures import Failure
from schemathesis.core.parameters import ParameterLocation

# Limits in UTF-8 bytes, and for some strings in UTF-16 code units: JSON Schema can only count code points.
BYTES = 255
UTF16 = {"SKU": 128, "currentSKU": 128, "displayName": 30, "description": 45}

# contentSchema is only an annotation, so schemathesis encodes any bytes. These are values that match the schema.
REQUESTS = [
    {
        "operation": "REACTIVATE_SUBSCRIPTION",
        "version": "1",
        "requestInfo": {"requestReferenceId": "66cc77dd-88ee-49ff-8011-223344556677"},
        "transactionId": "70000123456789",
    },
    {
        "operation": "CREATE_ONE_TIME_CHARGE",
        "version": "1",
        "requestInfo": {"requestReferenceId": "11AA22BB-33CC-44DD-88EE-55FF66AA77BB"},
        "currency": "JPY",
        "taxCode": "C003-00-2",
        "item": {"SKU": "日本", "displayName": "映画 \u200d", "description": "\"\\/", "price": 0},
    },
]
REQUEST_DATA = [
    base64.b64encode(json.dumps(request, indent=indent, ensure_ascii=indent is None).encode()).decode()
    for request in REQUESTS
    for indent in (None, 0, 3)
]


@schemathesis.hook
def filter_case(context, case):
    """Drops values that the schema allows only because it cannot count bytes."""
    if is_negative(case):
        return True
    query = case.query if isinstance(case.query, dict) else {}
    return all(fits(name, text) for name, text in [*strings(case.body), *strings(query)])


@schemathesis.hook
def map_case(context, case):
    """Corrects values that the schema allows because it cannot describe an integer's notation or Base64 content."""
    if not is_negative(case):
        if case.operation.path == "/v1/services/{name}/token":
            # The profile of the service decides which members it accepts; this one accepts none.
            case.body = {}
        case.body = with_plain_integers(case.body)
        for item in [case.body, *requests_of(case.body)]:
            if isinstance(item, dict) and "requestData" in item:
                item["requestData"] = REQUEST_DATA[len(item["requestData"]) % len(REQUEST_DATA)]
    return case


@schemathesis.check
def batch_results_conformance(ctx, response, case):
    """A batch answers 200 even if a request in it is invalid; that request must have its own problem."""
    if not case.path.endswith("/batch") or response.status_code != 200 or case.meta is None:
        return None
    statuses = [result["status"] for result in response.json()["results"]]
    if len(statuses) != len(case.body["requests"]):
        raise WrongResults(case, "there are not as many results as requests")
    refused = [status for status in statuses if 400 <= status < 500]
    if case.meta.is_negative_at(ParameterLocation.BODY):
        if not refused:
            raise WrongResults(case, "a batch with a request against the schema has no problem in its results")
    elif refused:
        raise WrongResults(case, f"a batch of acceptable requests has the results {statuses}")
    return None


class WrongResults(Failure):
    def __init__(self, case, message):
        super().__init__(operation=case.operation.label, title="Wrong results of a batch", message=message)


def is_negative(case):
    return case.meta is not None and case.meta.generation.mode.is_negative


def requests_of(body):
    requests = body.get("requests") if isinstance(body, dict) else None
    return requests if isinstance(requests, list) else []


def with_plain_integers(value):
    """1.0 is an integer in JSON Schema. A request that is signed unchanged must have 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: with_plain_integers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [with_plain_integers(element) for element in value]
    return value


def fits(name, text):
    if name == "requestData":
        return True
    return len(text.encode()) <= BYTES and len(text.encode("utf-16-le")) // 2 <= UTF16.get(name, BYTES)


def strings(value, name=None):
    """Each string in the value, with the name of its member."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from strings(member, key)
    elif isinstance(value, list):
        for element in value:
            yield from strings(element, name)
    else:
        assert value is NOT_SET or value is None or isinstance(value, (bool, int, float)), value
