"""Authorization: callers of every kind against real gateways, each with the expected answer."""

import base64
import json
import os
import pathlib
import ssl
import subprocess
import tempfile

import jwt
import pytest
from callers import (
    APP,
    FOREIGN_KEY_ID,
    HANDSHAKE,
    INTRODUCTORY,
    KEY_ID,
    LEGACY,
    NEIGHBOUR_UID,
    OTHER_APP,
    RELOAD,
    SECOND_KEY_ID,
    STATUS,
    STRANGER_UID,
    Request,
    Row,
    World,
    batch,
    bearer,
    compatibility,
    digest,
    edited,
    offer,
    perform,
    text,
)
from conftest import BINARY
from service import REFUSED_CONFIGURATION, mint, write_key

UNAUTHENTICATED, FORBIDDEN = (401, "unauthenticated"), (403, "forbidden")
V12, V13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


def changed(token, at):
    return token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :]


def rows():
    yield from tokens()
    yield from certificates()
    yield from required_certificates()
    yield from both()
    yield from policy()
    yield from limits()
    yield from users()
    yield from administrators()
    yield from anonymous()


def tokens():
    yield Row("the shop's token", 200, authorization=bearer("shop"), client="shop")
    yield Row("a token that expires tomorrow", 200, authorization=bearer("shop, until tomorrow"), client="shop")
    yield Row("the scheme in lower case", 200, authorization=edited("shop", "bearer {}".format), client="shop")
    yield Row("an expired token", *UNAUTHENTICATED, authorization=bearer("shop, expired"))
    yield Row("a token that nobody has", *UNAUTHENTICATED, authorization=text(f"Bearer {mint()}"))
    yield Row("a truncated token", *UNAUTHENTICATED, authorization=edited("shop", lambda t: f"Bearer {t[:-1]}"))
    yield Row("a token with a character more", *UNAUTHENTICATED, authorization=edited("shop", lambda t: f"Bearer {t}A"))
    for at, where in ((0, "prefix"), (20, "middle"), (-1, "checksum")):
        edit = lambda token, at=at: f"Bearer {changed(token, at % len(token))}"
        yield Row(f"a character changed in the {where}", *UNAUTHENTICATED, authorization=edited("shop", edit))
    yield Row("an empty token", *UNAUTHENTICATED, authorization=text("Bearer "))
    yield Row("an empty header", *UNAUTHENTICATED, authorization=text(""))
    yield Row("the token by Basic", *UNAUTHENTICATED, authorization=edited("shop", basic))
    yield Row("the token without a scheme", *UNAUTHENTICATED, authorization=edited("shop", str))
    yield Row("two spaces before the token", *UNAUTHENTICATED, authorization=edited("shop", "Bearer  {}".format))
    yield Row("the token in quotes", *UNAUTHENTICATED, authorization=edited("shop", 'Bearer "{}"'.format))
    yield Row("the token in capitals", *UNAUTHENTICATED, authorization=edited("shop", lambda t: f"Bearer {t.upper()}"))
    yield Row(
        "the digest instead of the token",
        *UNAUTHENTICATED,
        authorization=edited("shop", lambda t: f"Bearer {digest(t)}"),
    )
    yield Row("no credentials", *UNAUTHENTICATED)
    yield Row("the token twice", *UNAUTHENTICATED, authorization=bearer("shop") * 2)
    yield Row("a wrong token, then the right one", *UNAUTHENTICATED, authorization=bearer("nobody") + bearer("shop"))
    yield Row(
        "two clients' tokens in one header", *UNAUTHENTICATED, authorization=edited("shop", "Bearer {0}, {0}".format)
    )


def basic(token):
    return "Basic " + base64.b64encode(f"shop:{token}".encode()).decode()


def certificates():
    for version, name in ((V12, "TLS 1.2"), (V13, "TLS 1.3")):
        how = {"version": version}
        yield Row(f"the shop's key in its certificate, {name}", 200, certificate="shop", client="shop", **how)
        yield Row(f"a certificate of another CA, {name}", HANDSHAKE, certificate="foreign", **how)
        yield Row(f"a self-signed certificate, {name}", HANDSHAKE, certificate="self-signed", **how)
        yield Row(f"an expired certificate, {name}", HANDSHAKE, certificate="expired", **how)
    yield Row("a DNS name of the certificate", 200, certificate="reader", client="reader")
    yield Row("a URI of the certificate", 200, certificate="kiosk", client="kiosk")
    yield Row("a certificate for servers", HANDSHAKE, certificate="for-servers")
    yield Row("a certificate that is nobody's", *UNAUTHENTICATED, certificate="unmapped")
    yield Row("the DNS name in the subject only", *UNAUTHENTICATED, certificate="named-in-subject")
    yield Row("a certificate with two clients' names", *UNAUTHENTICATED, certificate="two-in-one")
    yield Row(
        "a certificate of another CA with a right token", HANDSHAKE, certificate="foreign", authorization=bearer("shop")
    )


def required_certificates():
    strict = {"gateway": "strict"}
    for version, name in ((V12, "TLS 1.2"), (V13, "TLS 1.3")):
        yield Row(f"no certificate where one must be shown, {name}", HANDSHAKE, version=version, **strict)
    yield Row("a token only, where a certificate must be shown", HANDSHAKE, authorization=bearer("reader"), **strict)
    yield Row("a certificate of another CA where one must be shown", HANDSHAKE, certificate="foreign", **strict)
    yield Row("the certificate that must be shown", 200, certificate="reader", client="reader", **strict)
    yield Row("nobody's certificate where one must be shown", *UNAUTHENTICATED, certificate="unmapped", **strict)
    yield Row(
        "nobody's certificate with a token, where one must be shown",
        200,
        certificate="unmapped",
        authorization=bearer("reader"),
        client="reader",
        **strict,
    )


def both():
    yield Row(
        "one client by certificate and token", 200, certificate="shop", authorization=bearer("shop"), client="shop"
    )
    yield Row(
        "nobody's certificate with a right token",
        200,
        certificate="unmapped",
        authorization=bearer("shop"),
        client="shop",
    )
    yield Row(
        "the kiosk's certificate with the shop's token",
        *UNAUTHENTICATED,
        certificate="kiosk",
        authorization=bearer("shop"),
    )
    yield Row(
        "the shop's certificate with the reader's token",
        *UNAUTHENTICATED,
        certificate="shop",
        authorization=bearer("reader"),
    )
    yield Row(
        "the shop's certificate with nobody's token",
        *UNAUTHENTICATED,
        certificate="shop",
        authorization=bearer("nobody"),
    )
    yield Row(
        "the shop's certificate with its expired token",
        *UNAUTHENTICATED,
        certificate="shop",
        authorization=bearer("shop, expired"),
    )


def policy():
    shop = {"authorization": bearer("shop")}
    yield Row(
        "a feature that is allowed", 200, request=offer(feature=LEGACY, name="a legacy offer"), client="shop", **shop
    )
    yield Row(
        "an app in escapes",
        200,
        request=offer(app="com%2Eexample.app", name="an app in escapes"),
        client="shop",
        **shop,
    )
    denied = [
        offer(app=OTHER_APP, name="another's app"),
        offer(app="com.example.nothing", name="an app that nobody has"),
        offer(app="com.example.App", name="the app in other letters"),
        offer(app=APP + "%00", name="the app and a zero byte"),
        offer(feature=INTRODUCTORY, name="a feature that is not allowed"),
        offer(feature="promotional-offers", name="a feature that there is not"),
        offer(product="org.example.monthly", name="a product that is not allowed"),
        offer(product="Com.example.monthly", name="a product in other letters"),
        offer(offer="introduction", name="an offer that is not allowed"),
        compatibility(SECOND_KEY_ID, name="a key of the app that is not allowed"),
        compatibility(FOREIGN_KEY_ID, name="a key of another account"),
        compatibility(app=OTHER_APP, name="the compatibility call for another's app"),
    ]
    for request in denied:
        yield Row("the shop's token", *FORBIDDEN, request=request, **shop)
    missing = compatibility("9N9N9N9N9N", name="a key that is allowed and not there")
    yield Row("the shop's token", 404, "unknown-key", request=missing, **shop)
    yield Row("the shop's token", 200, request=compatibility(), client="shop", **shop)
    yield Row("the shop's certificate", *FORBIDDEN, certificate="shop", request=denied[0])
    yield Row("the shop's certificate", *FORBIDDEN, certificate="shop", request=denied[6])
    yield Row(
        "the shop's token",
        200,
        request=batch(4, ("com.example.a", "org.example.b")),
        client="shop",
        signatures=2,
        **shop,
    )
    yield Row(
        "the reader's token",
        200,
        request=offer(app=OTHER_APP, name="another app that is allowed"),
        authorization=bearer("reader"),
        client="reader",
    )
    yield Row(
        "the reader's token",
        404,
        "unknown-app",
        request=offer(app="com.example.nothing", name="an allowed app that nobody has"),
        authorization=bearer("reader"),
    )
    yield Row("the reader's token", *FORBIDDEN, request=compatibility(), authorization=bearer("reader"))
    yield Row("a client without rules", *FORBIDDEN, authorization=bearer("shut-out"))


def limits():
    hurried, frugal, gatherer, saver = (
        {"authorization": bearer(n), "client": n} for n in ("hurried", "frugal", "gatherer", "saver")
    )
    yield Row("a client with its rate used up", 429, "rate-limited", before=2, **hurried)
    yield Row("a client with its quota used up", 429, "quota-exceeded", before=2, **frugal)
    yield Row("a rate of which 5 are left", 429, "rate-limited", request=batch(6), **gatherer)
    yield Row("a rate of which 5 are left, still", 200, request=batch(5), signatures=5, **gatherer)
    yield Row("a quota of which 5 are left", 429, "quota-exceeded", request=batch(6), **saver)
    yield Row("a quota of which 5 are left, still", 200, request=batch(5), signatures=5, **saver)


def users():
    here, elsewhere = {"gateway": "socket"}, {"gateway": "elsewhere"}
    foreign = offer(app=OTHER_APP, name="another's app")
    yield Row("the user that is known", 200, client="local", **here)
    yield Row("the user that is known, with its token", 200, authorization=bearer("local"), client="local", **here)
    yield Row("the user that is known", *FORBIDDEN, request=foreign, **here)
    yield Row(
        "the user that is known, with another's token", *UNAUTHENTICATED, authorization=bearer("neighbour"), **here
    )
    yield Row("the user that is known, with nobody's token", *UNAUTHENTICATED, authorization=bearer("nobody"), **here)
    yield Row("a user that is not known", *UNAUTHENTICATED, **elsewhere)
    yield Row("a user that is not known, with a token", 200, authorization=bearer("local"), client="local", **elsewhere)
    if os.geteuid() == 0:
        other = {"uid": NEIGHBOUR_UID, **here}
        yield Row("another user that is known", 200, request=foreign, client="neighbour", **other)
        yield Row("another user that is known", *FORBIDDEN, **other)
        yield Row("another user, with the first one's token", *UNAUTHENTICATED, authorization=bearer("local"), **other)
        yield Row("another user that is not known", *UNAUTHENTICATED, uid=STRANGER_UID, **here)


def administrators():
    admin = {"listener": "admin", "request": STATUS}
    yield Row("the gateway's own user", 200, **admin)
    yield Row("an administrator's token", 200, authorization=bearer("ops"), **admin)
    yield Row("the shop's token", *FORBIDDEN, authorization=bearer("shop"), **admin)
    yield Row("nobody's token", *UNAUTHENTICATED, authorization=bearer("nobody"), **admin)
    yield Row("the shop's token", *FORBIDDEN, authorization=bearer("shop"), listener="admin", request=RELOAD)
    if os.geteuid() == 0:
        yield Row("an administrator's user", 200, uid=NEIGHBOUR_UID, **admin)
        yield Row("a user that is not known", *UNAUTHENTICATED, uid=STRANGER_UID, **admin)
        yield Row(
            "an administrator's user with the shop's token",
            *UNAUTHENTICATED,
            uid=NEIGHBOUR_UID,
            authorization=bearer("shop"),
            **admin,
        )
    yield Row("an administrator's certificate", 200, gateway="strict", certificate="operator", **admin)
    yield Row("the reader's certificate", *FORBIDDEN, gateway="strict", certificate="reader", **admin)
    yield Row("no certificate", HANDSHAKE, gateway="strict", **admin)
    public = {"request": Request("the status at the public listener", STATUS.path, method="GET")}
    yield Row("an administrator's token", 404, "not-found", authorization=bearer("ops"), **public)
    yield Row("the shop's token", 404, "not-found", authorization=bearer("shop"), **public)
    signature = {"listener": "admin", "request": offer(name="an offer")}
    yield Row("an administrator's token", 404, "not-found", authorization=bearer("ops"), **signature)
    yield Row("an administrator's token", *FORBIDDEN, authorization=bearer("ops"))


def anonymous():
    everybody = {"gateway": "open"}
    yield Row("nobody, where everybody is served", 200, client="anonymous", **everybody)
    yield Row(
        "nobody, where everybody is served",
        200,
        request=offer(app=OTHER_APP, name="any app"),
        client="anonymous",
        **everybody,
    )
    yield Row(
        "nobody's token, where everybody is served", *UNAUTHENTICATED, authorization=bearer("nobody"), **everybody
    )
    yield Row(
        "the shop's token, where everybody is served", 200, authorization=bearer("shop"), client="shop", **everybody
    )
    yield Row(
        "the shop's token, where everybody is served",
        *FORBIDDEN,
        request=offer(app=OTHER_APP, name="another's app"),
        authorization=bearer("shop"),
        **everybody,
    )


ROWS = list(rows())


def sentence(row):
    what = f" gets {row.expect} for {row.request.name}" if row.expect != HANDSHAKE else " does not finish the handshake"
    where = {"socket": " over a Unix socket", "elsewhere": " over another Unix socket"}.get(row.gateway, "")
    return (
        row.caller
        + what
        + where
        + (" of the admin listener" if row.listener == "admin" and row.gateway == "front" else "")
    )


@pytest.fixture(scope="module")
def world():
    # A short path, because of the sockets, and open to other users for the tests with their IDs.
    with tempfile.TemporaryDirectory(prefix="privyseal-") as place:
        os.chmod(place, 0o711)
        world = World(BINARY, pathlib.Path(place))
        try:
            world.start()
            yield world
        finally:
            statuses = world.stop()
        assert set(statuses) == {0}


def outcome(world, row):
    """The outcome of a row; its request is sent only once."""
    if row not in world.outcomes:
        world.outcomes[row] = perform(world, row)
        world.signed[row.gateway, row.client] += row.before + row.count
    return world.outcomes[row]


@pytest.mark.parametrize("row", ROWS, ids=sentence)
def test_each_caller_gets_the_expected_answer(world, row):
    status, headers, body = outcome(world, row)
    assert status == row.expect, body.decode()
    if status == HANDSHAKE:
        return
    if status >= 400:
        expect_problem(status, headers, body, row)
    elif row.listener == "public":
        assert signatures(world, row, json.loads(body)) == row.count


def expect_problem(status, headers, body, row):
    assert headers["Content-Type"] == "application/problem+json"
    problem = json.loads(body)
    assert (problem["status"], problem["type"]) == (status, f"urn:privyseal:problem:{row.problem}")
    assert b"signature" not in body and b"jws" not in body
    if status == 401:
        assert headers["WWW-Authenticate"] == 'Bearer realm="privyseal"'
    if status == 429:
        assert headers["RateLimit-Limit"].isdigit() and headers["RateLimit-Remaining"].isdigit()
        fits = not (isinstance(row.request.body, dict) and len(row.request.body.get("requests", ())) > 5)
        assert ("Retry-After" in headers) == fits


def without_request_id(headers, body):
    request_id = headers["X-Request-Id"]
    fields = sorted((name, value) for name, value in headers.items() if name not in ("Date", "X-Request-Id"))
    return body.replace(request_id.encode(), b"-"), tuple(fields)


def signatures(world, row, answer):
    """The number of signatures in an answer. Each must be by the right key."""
    results = (
        [r["response"] for r in answer.get("results", ()) if r["status"] == 200] if "results" in answer else [answer]
    )
    app = OTHER_APP if OTHER_APP in row.request.path else APP
    key_id = FOREIGN_KEY_ID if app == OTHER_APP else KEY_ID
    for result in results:
        if "jws" in result:
            claims = jwt.decode(result["jws"], world.keys[key_id].public_key(), ["ES256"], audience="promotional-offer")
            assert (result["keyId"], claims["bid"]) == (key_id, app)
        else:
            assert result["keyIdentifier"] == key_id and result["signature"]
    return len(results)


# Checks of all rows together


def test_the_table_has_at_least_forty_different_rows():
    assert len(ROWS) >= 40
    assert len(set(map(sentence, ROWS))) == len(ROWS)


def all_outcomes(world):
    return [outcome(world, row) for row in ROWS]


def test_the_keys_sign_only_for_the_rows_with_status_200(world):
    all_outcomes(world)
    for name, service in world.services.items():
        expected = {client: count for (gateway, client), count in world.signed.items() if gateway == name and client}
        for client, count in expected.items():
            assert service.metric("privyseal_requests_total", outcome="signed", client=client) == count, (name, client)
        assert service.metric("privyseal_requests_total", outcome="signed") == sum(expected.values()), name
        assert service.metric("privyseal_requests_total", outcome="unsigned") == 0


def test_all_401_answers_are_equal_except_for_the_request_id(world):
    answers = {without_request_id(headers, body) for status, headers, body in all_outcomes(world) if status == 401}
    assert len(answers) == 1, answers


def test_the_logs_contain_no_token_and_no_payload(world):
    all_outcomes(world)
    for service in world.services.values():
        log = service.log.read_text()
        assert not [name for name, token in world.tokens.items() if token in log or token[10:53] in log]
        assert "winback" not in log


def test_the_table_of_answers_matches_the_expected_answers(world):
    """`pytest -s -k table_of` prints the answers, and the expected answers where they differ."""
    lines = ["| gateway | caller | request | got | problem | should get |", "|---|---|---|---|---|---|"]
    where = {"front": "TLS, certificate optional", "strict": "TLS, certificate required", "socket": "Unix socket"}
    where |= {"elsewhere": "Unix socket, others' uids", "open": "anonymous, loopback"}
    wrong = 0
    for row, (status, _, body) in zip(ROWS, all_outcomes(world)):
        kind = json.loads(body)["type"].rpartition(":")[2] if status != HANDSHAKE and status >= 400 else ""
        is_right = (status, kind) == (row.expect, row.problem)
        wrong += not is_right
        door = where[row.gateway] + (", admin" if row.listener == "admin" else "")
        before = f" (after {row.before} that were granted)" if row.before else ""
        should = "" if is_right else f"**{row.expect} {row.problem}**"
        lines.append(f"| {door} | {row.caller} | {row.request.name}{before} | {status} | {kind} | {should} |")
    print("\n" + "\n".join(lines))
    assert wrong == 0, f"{wrong} of {len(ROWS)} rows are not as they should be"


# Configurations that are refused at start


def refused(directory, listeners, rest=""):
    """The message of `serve` for a configuration that it refuses."""
    write_key(directory / "AuthKey.p8")
    configuration = f"""
{listeners}
accounts:
  - issuerId: 57246542-96fe-1a63-e053-0824d011072a
    apps: [{{bundleId: {APP}, features: [promotional-offer]}}]
    keys: [{{keyId: {KEY_ID}, uri: "file:{directory}/AuthKey.p8"}}]
    activeKey: {KEY_ID}
{rest}
"""
    path = directory / "gateway.yaml"
    path.write_text(configuration)
    result = subprocess.run([BINARY, "serve", "--config", path], capture_output=True, text=True, timeout=30)
    assert result.returncode == REFUSED_CONFIGURATION, result.stderr
    return result.stderr


SHOP = f'clients: [{{name: shop, tokens: [{{sha256: "{digest("x")}"}}]}}]'


@pytest.mark.parametrize("address", ["0.0.0.0:0", '"[::]:0"', "10.1.2.3:8443", "signer.example.com:8443"])
def test_the_gateway_refuses_a_remotely_reachable_address_without_tls(tmp_path, address):
    said = refused(tmp_path, f"listen: {address}", SHOP)
    assert "can be reached from other machines without TLS" in said
    for cure in ("listeners.public.tls", "behindProxy: true", "127.0.0.1"):
        assert cure in said


def test_the_gateway_refuses_a_configuration_without_clients(tmp_path):
    said = refused(tmp_path, "listen: 127.0.0.1:0")
    assert "clients: is missing" in said
    for cure in ("privyseal clients mint", "anonymous: true"):
        assert cure in said


@pytest.mark.parametrize("more", ["", ", behindProxy: true"])
def test_the_gateway_refuses_anonymous_access_on_a_remotely_reachable_listener(tmp_path, more):
    said = refused(tmp_path, f"listeners: {{public: {{address: 0.0.0.0:0{more}}}}}", "anonymous: true")
    assert "allows every caller everything" in said
    assert "remove it and give clients, or listen on 127.0.0.1" in said


def test_the_gateway_refuses_a_remote_admin_listener_without_client_certificates(tmp_path):
    said = refused(tmp_path, "listeners: {admin: {address: 0.0.0.0:0, behindProxy: true}}", SHOP)
    assert "clientCertificates: required" in said
