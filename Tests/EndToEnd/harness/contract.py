"""The OpenAPI document, and checks of an answer against it."""

import functools
import json
import os
import subprocess

import jsonschema

METHODS = ("get", "head", "post")


@functools.cache
def document():
    return json.loads(printed("json"))


def printed(form):
    """The document as the program prints it."""
    command = [os.environ["PRIVYSEAL_BINARY"], "openapi", "--format", form]
    return subprocess.run(command, capture_output=True, check=True).stdout


def operations():
    """Each (path, method, operation). An operation's parameters include those of its path."""
    for path, item in document()["paths"].items():
        for method in METHODS:
            if method in item:
                shared = item.get("parameters", [])
                yield path, method, {**item[method], "parameters": shared + item[method].get("parameters", [])}


def resolve(node):
    """The target of a `$ref`; any other node is returned unchanged."""
    while "$ref" in node:
        reference, node = node["$ref"], document()
        for name in reference.removeprefix("#/").split("/"):
            node = node[name]
    return node


def faults(schema, value):
    """The ways in which the value violates the schema; empty if it is valid."""
    validator = jsonschema.Draft202012Validator({**schema, "components": document()["components"]})
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


def path_of(path, **values):
    return path.replace("{bundleId}", values.get("bundle_id", "com.example.app")).replace("{name}", "push")


def expect_as_documented(operation, answer):
    """Compares the answer's status, headers, media type and body with the document."""
    documented = operation["responses"].get(str(answer.status_code))
    assert documented, f"{answer.status_code} is not documented: {answer.text}"
    documented = resolve(documented)
    for name, header in documented.get("headers", {}).items():
        expect_header(name, resolve(header), answer.headers.get(name))
    if answer.request.method == "HEAD":
        assert answer.content == b""
        return
    media_type = answer.headers["Content-Type"].partition(";")[0]
    assert media_type in documented["content"], media_type
    if media_type.endswith("json"):
        assert faults(documented["content"][media_type]["schema"], answer.json()) == []


def expect_header(name, header, value):
    if value is None:
        assert not header.get("required"), f"the header {name} is missing"
        return
    is_integer = header["schema"].get("type") == "integer" and value.isascii() and value.isdigit()
    assert faults(header["schema"], int(value) if is_integer else value) == [], f"{name}: {value}"
