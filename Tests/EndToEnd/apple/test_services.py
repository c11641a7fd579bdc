"""Tokens for Apple's services: their contents, refused requests and configurations, the cache, and the command."""

import concurrent.futures
import json
import subprocess
import threading
import uuid

import jwt
import pytest
from conftest import BINARY
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from key_lifecycle import NEW, NONE_IN_USE, OLD, KeysInFiles
from service import REFUSED_CONFIGURATION
from service_tokens import (
    ALL,
    DOCUMENTED,
    ISSUER,
    SNAPSHOTS,
    TEAM,
    UNTIL_EXPIRY,
    TokenGateway,
    all_services,
    decode,
    issue,
    own_key,
    read_object,
    verified_by_node,
)
from stepped_clock import Clock

SNAPSHOT = SNAPSHOTS["name"]
PARAMETERS = "center=Berlin%20Mitte&size=600x400&annotations=%5B%7B%22point%22:%22center%22%7D%5D"
PROBLEM = "urn:privyseal:problem:"
RULES = {
    "all": ALL,
    "tight": {
        "services": ["app-store-connect-team", "mapkit-js", "sign-in-with-apple", "apple-music"],
        "scopes": ["GET /v1/apps*"],
        "origins": ["https://*.example.com"],
        "subjects": ["com.example.web"],
        "maxLifetime": 1800,
    },
    "short": {"services": ["app-*", "weatherkit"], "maxLifetime": 600},
    "plain": {"services": ["*"]},
    "limited": {"services": ["*"], "scopes": ["*"], "maxLifetime": 1200},
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    directory = tmp_path_factory.mktemp("services")
    services, public, key_ids = all_services(directory)
    with TokenGateway(BINARY, directory, services, RULES) as gateway:
        gateway.public, gateway.key_ids = public, key_ids
        yield gateway


# The tokens


@pytest.fixture(scope="module")
def issued(gateway):
    answers = {name: issue(gateway, name, row.body) for name, row in DOCUMENTED.items()}
    return answers | {SNAPSHOT: issue(gateway, SNAPSHOT, {"parameters": PARAMETERS})}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_token_has_exactly_the_documented_header_and_claims(gateway, issued, name):
    row, answer = DOCUMENTED[name], issued[name].answer
    header, claims = map(read_object, answer["token"].split(".")[:2])
    assert header == {"alg": "ES256", "kid": gateway.key_ids[name], **row.header}
    assert claims == verified(answer["token"], gateway.public[name], row)
    now = answer["issuedAt"] if row.span is None else answer["issuedAt"] + 60
    assert issued[name].before <= now <= issued[name].after
    if row.has_jti:
        identifier = claims.pop("jti")
        assert str(uuid.UUID(identifier)) == identifier
    times = {"iat": answer["issuedAt"]} if row.span is None else {"iat": now - 60, "exp": now - 60 + row.span}
    assert claims == {**row.claims, **times}
    expiry = now + 3600 if row.span is None else now - 60 + row.span
    assert answer == {
        "token": answer["token"], "keyId": gateway.key_ids[name], "issuedAt": times["iat"], "expiresAt": expiry,
        "refreshAfter": expiry - 60 if row.kept == UNTIL_EXPIRY else now + row.kept,
    }  # fmt: skip


def verify_command(gateway, name, directory, *options, answer):
    """Reads the answer of the gateway with `privyseal verify`."""
    path = directory / "public.pem"
    path.write_bytes(gateway.public[name].public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    command = [BINARY, "verify", "--key", str(path), "--format", "json", *options]
    return subprocess.run(command, input=json.dumps(answer), capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_verify_finds_no_fault_in_a_token_of_the_gateway(gateway, issued, tmp_path, name):
    ended = verify_command(
        gateway, name, tmp_path, "--service", DOCUMENTED[name].profile, answer=issued[name].answer)
    assert ended.returncode == 0, ended
    assert {finding["severity"] for finding in json.loads(ended.stdout)["findings"]} <= {"note"}, ended.stdout


def test_verify_refuses_the_url_of_a_snapshot(gateway, issued, tmp_path):
    ended = verify_command(gateway, SNAPSHOT, tmp_path, answer=issued[SNAPSHOT].answer)
    assert (ended.returncode, ended.stdout) == (64, "")
    assert "A signed URL of a Maps snapshot is not a JWS" in ended.stderr


def verified(token, key, row):
    """The claims, read by PyJWT with its strictest options."""
    times = ["iat"] if row.span is None else ["iat", "exp"]
    strict = {"require": [*row.claims, *times, *(["jti"] if row.has_jti else [])], "strict_aud": True}
    expected = {"audience": row.claims.get("aud"), "issuer": row.claims.get("iss"), "subject": row.claims.get("sub")}
    return jwt.decode(token, key, algorithms=["ES256"], options=strict, **expected)


def test_the_url_of_a_snapshot_has_the_signature_of_its_path_as_the_last_parameter(gateway, issued):
    answer, before, after = issued[SNAPSHOT].answer, issued[SNAPSHOT].before, issued[SNAPSHOT].after
    key_id = gateway.key_ids[SNAPSHOT]
    path = f"/api/v1/snapshot?{PARAMETERS}&teamId={TEAM}&keyId={key_id}"
    assert answer == {
        "token": answer["token"], "url": f"https://snapshot.apple-mapkit.com{path}&signature={answer['token']}",
        "keyId": key_id, "issuedAt": answer["issuedAt"], "refreshAfter": answer["issuedAt"],
    }  # fmt: skip
    assert before <= answer["issuedAt"] <= after
    verify(gateway.public[SNAPSHOT], answer["token"], path)
    with pytest.raises(InvalidSignature):
        verify(gateway.public[SNAPSHOT], answer["token"], path + "0")


def verify(key, signature, text):
    raw = decode(signature)
    halves = int.from_bytes(raw[:32]), int.from_bytes(raw[32:])
    key.verify(utils.encode_dss_signature(*halves), text.encode(), ec.ECDSA(hashes.SHA256()))


def test_node_verifies_every_signature_which_has_64_bytes(gateway, issued):
    checks = []
    for name, one in issued.items():
        if name == SNAPSHOT:
            text, signature = one.answer["url"].removeprefix("https://snapshot.apple-mapkit.com").split("&signature=")
        else:
            text, _, signature = one.answer["token"].rpartition(".")
        assert len(decode(signature)) == 64, name
        pem = gateway.public[name].public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        # The second text is another one, so its signature is not valid.
        checks += [(text, signature, pem), (text + "0", signature, pem)]
    assert verified_by_node(checks) == [True, False] * len(issued)


@pytest.mark.parametrize("name", [name for name, row in DOCUMENTED.items() if row.kept])
def test_a_second_request_gets_the_same_token_where_apple_wants_that(gateway, issued, name):
    assert gateway.ask_for(name, DOCUMENTED[name].body) == (200, issued[name].answer)


@pytest.mark.parametrize("name", [SNAPSHOT, *(name for name, row in DOCUMENTED.items() if not row.kept)])
def test_a_second_request_gets_a_token_of_its_own_where_apple_wants_that(gateway, issued, name):
    body = {"parameters": PARAMETERS} if name == SNAPSHOT else DOCUMENTED[name].body
    status, second = gateway.ask_for(name, body)
    assert status == 200 and second["token"] != issued[name].answer["token"]


def test_each_client_assertion_has_another_identifier(gateway):
    tokens = [token_of(gateway.ask_for("apple-school"))["token"] for _ in range(5)]
    assert len({read_object(token.split(".")[1])["jti"] for token in tokens}) == 5


# Refused requests

CONNECT, LONGEST, MAP, SIGN_IN = "app-store-connect-team", "connect-longest", "mapkit-js", "sign-in-with-apple"
OTHERS = ("iss", "sub", "aud", "exp", "iat", "kid", "scope", "origin", "teamId", "issuerId", "keyId", "jti", "nothing")
SCOPE = "GET /v1/apps"

# Service, body, and the member that the answer names.
REFUSED_MEMBERS = [
    *[(service, {member: "a"}, member) for service in (CONNECT, "apns", MAP, "apple-school") for member in OTHERS],
    ("apns", {"lifetime": 60}, "lifetime"),
    ("apns", {"scopes": [SCOPE]}, "scopes"),
    ("apns", {"subject": "a"}, "subject"),
    (CONNECT, {"origins": ["https://www.example.com"]}, "origins"),
    (CONNECT, {"parameters": "a=1"}, "parameters"),
    ("apple-music", {"scopes": [SCOPE]}, "scopes"),
    ("maps-server", {"scopes": ["server_api"]}, "scopes"),
    ("weatherkit", {"subject": "com.example.weather"}, "subject"),
    ("apple-business", {"subject": "BUSINESSAPI.1a2b"}, "subject"),
    (SNAPSHOT, {"parameters": "a=1", "lifetime": 60}, "lifetime"),
    # The lifetime. The configured one is the most.
    *[(CONNECT, {"lifetime": value}, "lifetime") for value in (0, -1, 901, 2**63, 1.5, "60", True, None, [60])],
    (LONGEST, {"lifetime": 15_777_001}, "lifetime"),
    # Scopes.
    *[(CONNECT, {"scopes": value}, "scopes") for value in ([], [SCOPE] * 51, SCOPE, {"a": SCOPE}, None, 1)],
    *[
        (CONNECT, {"scopes": [SCOPE, value]}, "scopes[1]")
        for value in (
            "GET", "/v1/apps", "GET v1/apps", "GET  /v1/apps", "get /v1/apps", "PUT /v1/apps", "GET /v1/apps /v1/users",
            "GET /v1/apps\n", " GET /v1/apps", "", "GET /" + "a" * 251, 1, None, [SCOPE],
        )
    ],
    # Origins.
    (MAP, {}, "origins"),
    *[(MAP, {"origins": value}, "origins") for value in ([], ["https://a.example"] * 51, "https://a.example", None)],
    *[
        (MAP, {"origins": [value]}, "origins[0]")
        for value in (
            "www.example.com", "ftp://www.example.com", "https:www.example.com", "https://www.example.com/",
            "https://www.example.com/maps", "https://me@www.example.com", "https://www.example.com?a", "*", "*.",
            "https://*.example.com", "https://a.example,b.example", "https://a b", "null", "", 1,
        )
    ],
    # The subject.
    (SIGN_IN, {}, "subject"),
    *[(SIGN_IN, {"subject": value}, "subject") for value in ("", " a", "a\n", "a" * 256, 1, None, ["a"])],
    # Parameters.
    (SNAPSHOT, {}, "parameters"),
    *[
        (SNAPSHOT, {"parameters": value}, "parameters")
        for value in (
            "teamId=A", "a=1&keyId=B", "a=1&signature=C", "a=1&teamId=", "", "a", "=1", "a=1&&b=2", "a=1&", "a=b c",
            "?a=1", "a=1#b", "a=ü", 'a="1"', "a=" + "1" * 4095, 1, None, ["a=1"], {"a": "1"},
        )
    ],
]  # fmt: skip


def name_of(value):
    return value if isinstance(value, str) else json.dumps(value)[:40]


@pytest.mark.parametrize("service, body, member", REFUSED_MEMBERS, ids=name_of)
def test_a_member_that_the_caller_may_not_choose_is_refused_by_its_name(gateway, service, body, member):
    status, answer = gateway.ask_for(service, body)
    assert (status, answer["type"], answer["field"]) == (422, PROBLEM + "invalid-request", member)
    assert answer["detail"].startswith(f'"{member}" ')


@pytest.mark.parametrize(
    "service, body",
    [
        (CONNECT, {"scopes": [SCOPE] * 50}),
        (CONNECT, {"scopes": ["GET /" + "a" * 250]}),
        (CONNECT, {"lifetime": 1}),
        (CONNECT, {"lifetime": 900}),
        (MAP, {"origins": ["https://a.example"] * 50}),
        (MAP, {"origins": ["http://localhost:8080", "*.example.com"]}),
        (SIGN_IN, {"subject": "a" * 255}),
        (SNAPSHOT, {"parameters": "a=" + "1" * 4094}),
    ],
    ids=name_of,
)
def test_a_request_at_the_limit_is_accepted(gateway, service, body):
    status, answer = gateway.ask_for(service, body)
    assert status == 200, answer


@pytest.mark.parametrize(
    "body, status, problem, part",
    [
        (b"", 400, "malformed-body", "empty"),
        (b"{", 400, "malformed-body", "ends in the middle"),
        (b'{"lifetime":1,"lifetime":2}', 400, "malformed-body", '"lifetime" appears twice'),
        (b'{"lifetime":1}{}', 400, "malformed-body", "byte 14"),
        (b"[]", 422, "invalid-request", "must be an object"),
        (b'"scopes"', 422, "invalid-request", "must be an object"),
    ],
)
def test_a_body_that_is_not_one_object_is_refused(gateway, body, status, problem, part):
    answered, answer = gateway.ask_for(CONNECT, body)
    assert (answered, answer["type"]) == (status, PROBLEM + problem)
    assert part in answer["detail"]


ALLOWED_ORIGIN = {"origins": ["https://www.example.com"]}


@pytest.mark.parametrize(
    "client, service, allowed, denied, named",
    [
        ("tight", CONNECT, {"scopes": [SCOPE]}, {"scopes": [SCOPE, "GET /v1/users"]}, 'scope "GET /v1/users"'),
        ("tight", CONNECT, {}, {"scopes": ["POST /v1/apps"]}, 'scope "POST /v1/apps"'),
        ("tight", MAP, ALLOWED_ORIGIN, {"origins": ["https://example.org"]}, 'origin "https://example.org"'),
        ("tight", MAP, ALLOWED_ORIGIN, {"origins": ["http://www.example.com"]}, 'origin "http://www.example.com"'),
        ("tight", SIGN_IN, {"subject": "com.example.web"}, {"subject": "com.example"}, 'subject "com.example"'),
        ("tight", "apple-music", {"lifetime": 1800}, {"lifetime": 1801}, "1801 seconds"),
        # Without a choice, the token has the lifetime of the service.
        ("tight", "apple-music", {"lifetime": 1800}, {}, "3600 seconds"),
        ("short", CONNECT, {"lifetime": 600}, {}, "900 seconds"),
        ("short", "weatherkit", {"lifetime": 600}, {}, "1800 seconds"),
        # A rule without scopes, origins and subjects allows no choice of them.
        ("plain", CONNECT, {"lifetime": 60}, {"scopes": [SCOPE]}, f'scope "{SCOPE}"'),
        ("plain", "apple-music", {}, ALLOWED_ORIGIN, 'origin "https://www.example.com"'),
        ("plain", "sign-in-longest", {}, {"subject": "com.example.set"}, 'subject "com.example.set"'),
    ],
)
def test_a_choice_that_no_rule_allows_is_refused(gateway, client, service, allowed, denied, named):
    status, answer = gateway.ask_for(service, allowed, client)
    assert status == 200, answer
    status, answer = gateway.ask_for(service, denied, client)
    assert (status, answer["type"]) == (403, PROBLEM + "forbidden")
    assert f"The client {client} may not" in answer["detail"] and named in answer["detail"]


def test_a_lifetime_counts_as_the_token_gets_it(gateway):
    body = {"lifetime": 900, "scopes": ["POST /v1/apps"]}
    assert gateway.ask_for(CONNECT, body, "limited")[0] == 200
    status, answer = gateway.ask_for("apns", client="limited")
    assert status == 403 and "valid for 3600 seconds" in answer["detail"]
    status, answer = gateway.ask_for(SNAPSHOT, {"parameters": PARAMETERS}, "limited")
    assert status == 403 and "a signed URL has no end" in answer["detail"]


@pytest.mark.parametrize(
    "client, options, status, words",
    [
        ("tight", ["--scope", "GET /v1/apps"], 0, "allowed by "),
        ("tight", ["--scope", "POST /v1/apps"], 1, 'may not choose the scope "POST /v1/apps"'),
        ("limited", ["--lifetime", "900"], 0, "allowed by "),
        ("tight", [], 0, ", for a request that chooses nothing"),
        ("tight", ["--product", "x"], 64, "--product, --offer and --key are for an --app."),
    ],
)
def test_policy_test_decides_about_the_choices_of_a_request(gateway, client, options, status, words):
    command = [BINARY, "policy", "test", "--config", gateway.configuration, "--client", client, "--service", CONNECT, *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert (ended.returncode, words in ended.stdout + ended.stderr) == (status, True), ended


def test_a_cached_token_is_not_given_to_a_client_whose_rules_do_not_allow_it(gateway):
    body = {"scopes": ["GET /v1/users"]}
    assert gateway.ask_for(CONNECT, body)[0] == 200
    assert gateway.ask_for(CONNECT, body, "tight")[0] == 403


def test_a_service_that_no_rule_allows_is_refused_whether_it_exists_or_not(gateway):
    for service in ("apns", "nothing"):
        status, answer = gateway.ask_for(service, client="tight")
        assert (status, answer["type"]) == (403, PROBLEM + "forbidden")
        assert answer["detail"] == f'The client tight may not have tokens for the service "{service}".'


def test_an_unknown_service_has_its_own_problem_type(gateway):
    status, answer = gateway.ask_for("nothing")
    assert (status, answer["type"]) == (404, PROBLEM + "unknown-service")
    assert '"nothing"' in answer["detail"]


def test_a_request_without_a_client_gets_no_token(gateway):
    status, answer = gateway.ask_for("apns", client=None)
    assert (status, answer["type"]) == (401, PROBLEM + "unauthenticated")


def test_an_anonymous_caller_gets_no_token(tmp_path):
    services = [push(KeysInFiles(tmp_path))]
    with TokenGateway(BINARY, tmp_path, services, more_of_configuration="anonymous: true") as gateway:
        status, answer = gateway.ask_for("push", client=None)
        assert (status, answer["type"]) == (403, PROBLEM + "forbidden")
        assert "The client anonymous" in answer["detail"]
        assert gateway.ask_for("push")[0] == 200


# Refused configurations


def push(keys, declared=(OLD,), **changes):
    keys = [{"keyId": key_id, "uri": f"file:{keys.path(key_id)}"} for key_id in declared]
    return {"name": "push", "profile": "apns", "teamId": TEAM, "keys": keys, "activeKey": OLD, **changes}


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    return TokenGateway(BINARY, tmp_path_factory.mktemp("check"), [])


PUSH_KEY, CONNECT_KEY = "KEYID00001", "KEYID00002"
SHARED = {"name": "shared", "profile": "apns", "teamId": TEAM, "keysOf": "push"}


def change(of, *without, **changes):
    """Changes the settings of the service `of`."""
    return lambda services: [
        {name: value for name, value in {**service, **changes}.items() if name not in without}
        if service["name"] == of
        else service
        for service in services
    ]  # fmt: skip


def add(**settings):
    return lambda services: [*services, SHARED | settings]


REFUSED_SERVICES = {
    "no team ID": (change("push", "teamId"), "services[0].teamId", "is missing; the profile apns needs it"),
    "no issuer ID": (
        change("connect", "issuerId"), "services[1].issuerId", "the profile app-store-connect-team needs it"),
    "a service ID that is not used": (change("push", serviceId="a"), "services[0].serviceId", "remove it"),
    "a team ID that is not used": (change("connect", teamId="a"), "services[1].teamId", "remove it"),
    "a lifetime above Apple's limit": (
        change("connect", "issuerId", profile="apple-business", clientId="BUSINESSAPI.1", lifetime=15_552_000),
        "services[1].lifetime",
        "Apple accepts at most 15551999 seconds for the profile apple-business",
    ),
    "a lifetime above every limit": (
        change("connect", lifetime=15_777_001), "services[1].lifetime", "it must be from 1 to 15777000"),
    "a lifetime of zero": (change("connect", lifetime=0), "services[1].lifetime", "it must be from 1 to 15777000"),
    "a lifetime for APNs": (change("push", lifetime=60), "services[0].lifetime", "remove it"),
    "scopes for APNs": (change("push", scopes=[SCOPE]), "services[0].scopes", "remove it"),
    "an unknown profile": (change("push", profile="apsn"), "services[0].profile", "did you mean apns?"),
    "keys of another kind": (
        change("connect", "keys", "activeKey", keysOf="push"),
        "services[1].keysOf",
        'of the kind "push notifications key"; the profile app-store-connect-team needs the kind "App Store Connect '
        'team key", so give it keys of its own',
    ),
    "keys of an unknown service": (add(keysOf="pusch"), "services[2].keysOf", "did you mean push?"),
    "keys of a service that has those of another": (
        lambda services: add(name="second", keysOf="shared")(add()(services)), "services[3].keysOf",
        "not a service with keys of its own"),
    "keysOf with keys": (
        change("push", keysOf="connect"), "services[0].keysOf", "so keys is not allowed; remove one"),
    "keysOf with an active key": (
        add(activeKey=PUSH_KEY), "services[2].keysOf", "so activeKey is not allowed; remove one"),
    "no keys": (
        change("push", "keys"), "services[0].keys", "give a list with the keyId and uri of each key, or keysOf"),
    "no active key": (change("push", "activeKey"), "services[0].activeKey", "give the keyId of the key that signs"),
    "the same key ID in two services": (
        change("connect", keys=[{"keyId": PUSH_KEY, "uri": "file:/a"}], activeKey=PUSH_KEY),
        "services[1].keys[0].keyId", "already given at"),
    "an active key that is not declared": (
        change("push", activeKey=CONNECT_KEY), "services[0].activeKey", f'The keys are "{PUSH_KEY}"'),
    "the same name twice": (change("connect", name="push"), "services[1].name", "give it only once"),
    "a name that is no part of a path": (change("push", name="a/b"), "services[0].name", "lower-case letters"),
}  # fmt: skip


def check(gateway, services, rule=ALL):
    gateway.services, gateway.rules = services, {"all": rule}
    gateway.configure()
    status, _, errors = gateway.run("check")
    return status, errors.decode()


@pytest.fixture(scope="module")
def two_services(checked):
    push_keys, _ = own_key(checked.directory, "push", PUSH_KEY)
    connect_keys, _ = own_key(checked.directory, "connect", CONNECT_KEY)
    return [
        {"name": "push", "profile": "apns", "teamId": TEAM, **push_keys},
        {"name": "connect", "profile": CONNECT, "issuerId": ISSUER, **connect_keys},
    ]


def test_the_services_that_the_next_tests_change_are_accepted(checked, two_services):
    status, errors = check(checked, [*two_services, SHARED])
    # No gateway has begun the log.
    assert status == 0 and errors.startswith("There is no audit log at ") and errors.count("\n") == 1, errors


@pytest.mark.parametrize("name", REFUSED_SERVICES)
def test_a_wrong_service_is_refused_with_the_setting_and_the_cure(checked, two_services, name):
    changed, setting, cure = REFUSED_SERVICES[name]
    status, errors = check(checked, changed(two_services))
    assert status == REFUSED_CONFIGURATION
    assert any(f" {setting}: " in line and cure in line for line in errors.splitlines()), errors


@pytest.mark.parametrize("member", [{"scopes": ["*"]}, {"origins": ["*"]}, {"subjects": ["*"]}, {"maxLifetime": 60}])
def test_a_rule_for_apps_is_refused_with_a_setting_for_services(checked, two_services, member):
    status, errors = check(checked, two_services, {"apps": ["*"], "features": ["*"], **member})
    assert status == REFUSED_CONFIGURATION
    wanted = f"clients[0].allow[0].{next(iter(member))}: has no effect without services; give services, or remove it"
    assert wanted in errors


def test_a_rule_for_an_unknown_service_causes_a_warning(checked, two_services):
    status, errors = check(checked, two_services, {"services": ["pusch"]})
    assert status == 0
    assert "clients[0].allow[0].services[0]: matches no name under services; perhaps push is meant" in errors


@pytest.mark.parametrize(
    ("profile", "identifiers", "words"),
    [
        ("apns", {"teamId": "abc"}, "teamId: is not ten capital letters and digits, but Apple's Team IDs are; check it"),
        (CONNECT, {"issuerId": "x"}, "issuerId: is not a UUID, but issuer IDs in App Store Connect are; check it"),
        ("apple-ads", {"teamId": "SEARCHADS.1", "clientId": "x"}, "clientId: does not begin with SEARCHADS., but the IDs "),
        ("apple-school", {"clientId": "x"}, "clientId: does not begin with BUSINESSAPI. or SCHOOLAPI., but the IDs "),
        ("apple-tv-feed", {"teamId": "of-another-portal"}, None),
        (
            "weatherkit", {"teamId": "ABCDE12345", "serviceId": "SEARCHADS.1"},
            "serviceId: is the ID of an API client, but a bundle ID or a Services ID is needed; check it"),
    ],
)
def test_an_identifier_in_an_unusual_form_causes_a_warning(checked, two_services, profile, identifiers, words):
    keys = {name: two_services[1][name] for name in ("keys", "activeKey")}
    status, errors = check(checked, [two_services[0], {"name": "one", "profile": profile, **identifiers, **keys}])
    assert status == 0
    warnings = [line for line in errors.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == (1 if words else 0) and (not words or f"services[1].{words}" in warnings[0]), errors


# The cache

CLIENTS = {name: {"services": ["*"]} for name in ("all", "second")}


@pytest.fixture
def pushing(tmp_path):
    """A gateway with one active and one staged key for APNs, and with a second service of the same team and keys."""
    keys = KeysInFiles(tmp_path)
    with TokenGateway(BINARY, tmp_path, [push(keys), SHARED], CLIENTS, keys=keys) as gateway:
        gateway.services = [push(keys, (OLD, NEW)), SHARED]
        gateway.configure()
        done, said = gateway.reload()
        assert done, said
        assert gateway.states() == {OLD: "active", NEW: "staged"}
        yield gateway


def token_of(answer):
    status, body = answer
    assert status == 200, body
    return body


def test_callers_at_the_same_time_share_one_signature(pushing):
    ready = threading.Barrier(50, timeout=30)

    def ask(number):
        ready.wait()
        return pushing.ask_for("push", client=("all", "second")[number % 2], **{"X-Request-Id": f"caller-{number}"})

    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(ask, range(50)))
    assert answers == [(200, answers[0][1])] * 50
    [signature] = pushing.entries("signature")
    assert (signature["app"], signature["feature"], signature["key"]) == ("services/push", "apns", OLD)
    handouts = {entry.pop("requestId"): entry for entry in pushing.entries("handout")}
    assert len(handouts) == 50
    for number in range(50):
        entry = handouts[f"caller-{number}"]
        del entry["time"], entry["v"]
        assert entry == {
            "kind": "handout", "app": "services/push", "feature": "apns", "client": ("all", "second")[number % 2],
            "key": OLD, "digest": signature["digest"],
        }  # fmt: skip
    assert len(pushing.entries("handout")) == 50


def test_a_token_stays_in_use_over_a_reload_and_is_the_same_for_services_of_the_same_team(pushing):
    first = token_of(pushing.ask_for("push"))
    pushing.rules = CLIENTS | {"third": {"services": ["push"]}}
    pushing.client_tokens["third"] = pushing.client_tokens.pop("second")
    pushing.rules.pop("second")
    pushing.configure()
    assert pushing.reload()[0]
    assert token_of(pushing.ask_for("push", client="third")) == first
    assert token_of(pushing.ask_for("shared")) == first
    assert len(pushing.entries("signature")) == 1
    handouts = [(entry["app"], entry["client"]) for entry in pushing.entries("handout")]
    assert handouts == [("services/push", "all"), ("services/push", "third"), ("services/shared", "all")]


class WithoutLog(TokenGateway):
    def configure(self, *_):
        super().configure()
        text = self.configuration.read_text()
        self.configuration.write_text(text.replace(f"audit: {{database: {self.database}}}", "audit: off"))


def test_a_token_stays_in_use_over_a_reload_with_another_active_key_without_an_audit_log(tmp_path):
    keys = KeysInFiles(tmp_path)
    with WithoutLog(BINARY, tmp_path, [push(keys, (OLD, NEW))], CLIENTS, keys=keys) as gateway:
        first = token_of(gateway.ask_for("push"))
        for active in (NEW, OLD):
            gateway.services = [push(keys, (OLD, NEW), activeKey=active)]
            gateway.configure()
            assert gateway.reload()[0]
            assert token_of(gateway.ask_for("push")) == first


def test_another_team_gets_a_token_of_its_own_after_a_reload(pushing):
    first = token_of(pushing.ask_for("push"))
    pushing.services = [service | {"teamId": "FGHIJ67890"} for service in pushing.services]
    pushing.configure()
    assert pushing.reload()[0]
    second = token_of(pushing.ask_for("push"))
    assert second["token"] != first["token"]
    assert read_object(second["token"].split(".")[1])["iss"] == "FGHIJ67890"


def activate(gateway):
    status, _, errors = gateway.keys_command(
        "activate", NEW, "--retire", OLD, "--overlap", "1h", "--reason", "a test", "--yes")
    assert status == 0, errors
    assert gateway.states() == {OLD: "retiring", NEW: "active"}


def stop(gateway, action, key_id):
    status, answer = gateway.change(action, key_id)
    assert status == 200, answer


def test_the_activation_of_another_key_leaves_the_token_in_use(pushing):
    first = token_of(pushing.ask_for("push"))
    activate(pushing)
    assert token_of(pushing.ask_for("push")) == first
    assert first["keyId"] == OLD
    assert [entry["key"] for entry in pushing.entries("handout")] == [OLD, OLD]


def test_without_a_token_in_use_the_activated_key_signs(pushing):
    activate(pushing)
    assert token_of(pushing.ask_for("push"))["keyId"] == NEW


@pytest.mark.parametrize("action", ["compromise", "suspend", "retire"])
def test_the_stop_of_a_retiring_key_ends_its_token(pushing, action):
    first = token_of(pushing.ask_for("push"))
    activate(pushing)
    stop(pushing, action, OLD)
    second = token_of(pushing.ask_for("push"))
    assert (first["keyId"], second["keyId"]) == (OLD, NEW)
    assert jwt.get_unverified_header(second["token"])["kid"] == NEW
    jwt.decode(second["token"], pushing.keys.public[NEW], algorithms=["ES256"])
    assert token_of(pushing.ask_for("shared")) == second


@pytest.mark.parametrize("action", ["compromise", "suspend"])
def test_without_an_active_key_no_token_is_given_out(pushing, action):
    token_of(pushing.ask_for("push"))
    stop(pushing, action, OLD)
    for service in ("push", "shared"):
        status, answer = pushing.ask_for(service)
        assert (status, answer["type"]) == (503, NONE_IN_USE)
    assert len(pushing.entries("handout")) == 1
    status, answer = pushing.change("activate", NEW)
    assert status == 200, answer
    assert token_of(pushing.ask_for("push"))["keyId"] == NEW


def test_after_a_restart_a_new_token_is_signed(pushing):
    first = token_of(pushing.ask_for("push"))
    pushing.stop()
    signature = first["token"].rpartition(".")[2].encode()
    files = [pushing.log, *pushing.database.parent.iterdir()]
    assert [file for file in files if signature in file.read_bytes()] == []
    pushing.start()
    # An ECDSA signature with a new nonce differs even within the same second.
    second = token_of(pushing.ask_for("push"))
    assert second["token"] != first["token"]
    assert len(pushing.entries("signature")) == 2


@pytest.mark.parametrize("name, seconds", [("push", 3000), ("devices", 1200), ("connect", 840)])
def test_a_token_is_replaced_at_its_time_and_after_the_clock_was_set_back(tmp_path, name, seconds):
    clock, keys = Clock(tmp_path), KeysInFiles(tmp_path)
    keys.environment = clock.environment
    devices, _ = own_key(tmp_path, "devices", "KEYID00001")
    connect, _ = own_key(tmp_path, "connect", "KEYID00002")
    services = [
        push(keys),
        {"name": "devices", "profile": "devicecheck", "teamId": TEAM, **devices},
        {"name": "connect", "profile": CONNECT, "issuerId": ISSUER, **connect},
    ]
    with TokenGateway(BINARY, tmp_path, services, keys=keys) as gateway:
        first = token_of(gateway.ask_for(name))
        clock.set(seconds - 60)
        assert token_of(gateway.ask_for(name)) == first
        clock.set(seconds)
        second = token_of(gateway.ask_for(name))
        assert second["issuedAt"] >= first["issuedAt"] + seconds
        clock.set(0)
        third = token_of(gateway.ask_for(name))
        assert third["issuedAt"] < second["issuedAt"] - seconds + 60


def test_the_activated_key_signs_when_the_token_is_replaced(tmp_path):
    clock, keys = Clock(tmp_path), KeysInFiles(tmp_path)
    keys.environment = clock.environment
    with TokenGateway(BINARY, tmp_path, [push(keys)], keys=keys) as gateway:
        gateway.services = [push(keys, (OLD, NEW))]
        gateway.configure()
        assert gateway.reload()[0]
        first = token_of(gateway.ask_for("push"))
        activate(gateway)
        clock.set(2940)
        assert token_of(gateway.ask_for("push")) == first
        clock.set(3000)
        assert token_of(gateway.ask_for("push"))["keyId"] == NEW


# The command


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Runs `privyseal token` without a gateway: (status, standard output, standard error)."""
    directory = tmp_path_factory.mktemp("command")
    services, public, _ = all_services(directory)
    gateway = TokenGateway(BINARY, directory, services)

    def run(*arguments):
        status, output, errors = gateway.run("token", *arguments)
        return status, output.decode(), errors.decode()

    run.public = public
    return run


@pytest.mark.parametrize("name", ["apns", CONNECT, "apple-school"])
def test_the_command_prints_the_answer_as_over_http(command, issued, name):
    status, output, errors = command(name)
    assert status == 0, errors
    answer = json.loads(output)
    assert list(answer) == list(issued[name].answer)
    claims = verified(answer["token"], command.public[name], DOCUMENTED[name])
    assert claims.keys() == read_object(issued[name].answer["token"].split(".")[1]).keys()


def test_the_command_makes_a_token_of_its_own_while_a_gateway_runs(pushing):
    first = token_of(pushing.ask_for("push"))
    status, output, errors = pushing.run("token", "push")
    assert status == 0, errors
    assert json.loads(output)["token"] != first["token"]
    assert token_of(pushing.ask_for("push")) == first
    for kind in ("signature", "handout"):
        assert [entry["client"] for entry in pushing.entries(kind)][:2] == ["all", "operator"]


def test_scopes_that_are_given_twice_become_an_array(command):
    status, output, errors = command(CONNECT, "scopes=GET /v1/apps?a=b", "lifetime=300", "scopes=GET /v1/users")
    assert status == 0, errors
    answer = json.loads(output)
    claims = read_object(answer["token"].split(".")[1])
    assert claims["scope"] == ["GET /v1/apps?a=b", "GET /v1/users"]
    assert claims["exp"] - claims["iat"] == 360


def test_a_single_origin_becomes_an_array(command):
    status, output, errors = command("apple-music", "origins=https://www.example.com")
    assert status == 0, errors
    assert read_object(json.loads(output)["token"].split(".")[1])["origin"] == ["https://www.example.com"]


@pytest.mark.parametrize(
    "name, start", [(CONNECT, "Authorization: Bearer "), ("app-attest-receipt", "Authorization: ")]
)
def test_the_command_prints_a_header_for_curl(command, name, start):
    status, output, errors = command(name, "--header")
    assert status == 0, errors
    assert output.startswith(start) and output.count("\n") == 1
    # Another word before the token would not be Base64url.
    verified(output.removeprefix(start).rstrip("\n"), command.public[name], DOCUMENTED[name])


@pytest.mark.parametrize(
    "arguments, part",
    [
        ((CONNECT, "iss=a"), '"iss" is not a known member; the members are scopes, lifetime'),
        ((CONNECT, "scopes"), '"scopes" is not NAME=VALUE'),
        ((CONNECT, "=a"), '"=a" is not NAME=VALUE'),
        ((CONNECT, "scopes=apps"), '"scopes[0]" is not a method and a plain path'),
        ((CONNECT, "lifetime=901"), '"lifetime" is 901; this service allows 1 to 900 seconds'),
        ((CONNECT, "lifetime=long"), '"lifetime" is a string'),
        ((SIGN_IN, "subject=a", "subject=b"), '"subject" appears twice'),
        ((SIGN_IN,), '"subject" is missing'),
        (("nothing",), '"nothing"'),
        ((SNAPSHOT, "parameters=a=1", "--header"), "leave out --header"),
    ],
    ids=str,
)
def test_the_command_says_why_it_makes_no_token(command, arguments, part):
    status, output, errors = command(*arguments)
    assert (status, output) == (1, "")
    assert part in errors
