"""A token that several gateways use, and PINs that it refuses: a few wrong PINs would lock it."""

import json
import os
import signal
import subprocess
import time

import pytest
from conftest import BINARY
from database_server import cluster, url
from fleet import Fleet, FleetGateway, at_once
from polling import await_
from real_tokens import SOFTHSM, make_token
from running import APP, KEY_IDS, TokenKeys
from signers import FaultRules, children, faulty_library

WRONG = "00000000"


@pytest.fixture(scope="module")
def server():
    with cluster() as server:
        yield server


@pytest.fixture
def token(place):
    return TokenKeys(place)


@pytest.fixture
def fleet(place, server, token):
    fleet = Fleet(BINARY, place, url(server), count=3, token=token)
    yield fleet
    fleet.stop()


def key(gateway, key_id=KEY_IDS[0]):
    (key,) = [key for key in gateway.status()["keys"] if key["keyId"] == key_id]
    return key


def reason(gateway, key_id=KEY_IDS[0]):
    """Why the key does not sign; '' if it does, or if nothing is known yet."""
    return key(gateway, key_id).get("reason") or ""


def tokens(gateway):
    return gateway.admin("GET", "/v1/fleet")[1]["tokens"]


def reload(gateway):
    status, answer = gateway.admin("POST", "/v1/reload", {})
    assert status == 200, answer


def life(fleet, server, action):
    return [entry for entry in fleet.log(server).of_kind("life") if entry["action"] == action]


def give_turns(server, seconds):
    """Another gateway logs in to each token for this time."""
    until = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + seconds))
    turn = json.dumps({"gateway": "test/other", "id": "1", "until": until})
    server.sql(
        f"UPDATE privyseal.shared SET value = convert_to('{turn}', 'UTF8') WHERE name LIKE 'login/%'", "privyseal"
    )


def test_of_gateways_that_start_together_with_a_wrong_pin_one_sends_it(fleet, server):
    # The first start of all makes the log of the fleet.
    fleet.gateways[0].start()
    fleet.gateways[0].stop()
    for gateway in fleet.gateways:
        gateway.keys.set_pin(WRONG)
    at_once(FleetGateway.start, fleet.gateways)
    await_(lambda: all("refused" in reason(gateway) for gateway in fleet.gateways), "each gateway has refused the key")
    reasons = [reason(gateway) for gateway in fleet.gateways]
    assert sum("CKR_PIN_INCORRECT" in text for text in reasons) == 1, reasons
    assert sum("No gateway of the fleet sends it again" in text for text in reasons) == 2, reasons
    sender = next(gateway for gateway, text in zip(fleet.gateways, reasons) if "CKR_PIN_INCORRECT" in text)
    assert all(sender.origin in text for text in reasons if "No gateway" in text)
    entries = life(fleet, server, "refuse-pin")
    assert [entry["evidence"]["gateway"] for entry in entries] == [sender.origin]
    listed = tokens(sender)
    assert [(one["refusedPins"], one["gateway"]) for one in listed] == [(1, sender.origin)]
    # Also a restart of all does not send it again.
    for gateway in fleet.gateways:
        gateway.stop()
    at_once(FleetGateway.start, fleet.gateways)
    await_(lambda: all("refused" in reason(gateway) for gateway in fleet.gateways), "each gateway has refused the key")
    assert not any("CKR_PIN_INCORRECT" in reason(gateway) for gateway in fleet.gateways)
    # The right PIN is another one, so it is sent.
    for gateway in fleet.gateways:
        gateway.keys.set_pin(gateway.keys.right_pin)
        reload(gateway)
    for gateway in fleet.gateways:
        await_(gateway.is_ready, f"{gateway.origin} signs with the right PIN")


def test_the_wrong_pin_of_one_gateway_does_not_stop_the_others(fleet):
    first, second, _ = fleet.gateways
    first.keys.set_pin(WRONG)
    first.start()
    await_(lambda: "CKR_PIN_INCORRECT" in reason(first), "the token has refused the PIN")
    second.start()
    await_(second.is_ready, "the gateway with the right PIN signs")


def test_a_refused_pin_that_is_right_now_is_sent_after_an_administrator_has_ordered_it(fleet, server, token):
    first, second, _ = fleet.gateways
    right = first.keys.right_pin
    first.keys.set_pin(WRONG)
    first.start()
    await_(lambda: "CKR_PIN_INCORRECT" in reason(first), "the token has refused the PIN")
    subprocess.run(
        ["pkcs11-tool", "--module", token.module, "--token-label", "soak", "--login", "--pin", "env:PIN", "--change-pin",
         "--new-pin", WRONG], check=True, capture_output=True,
        env={"PATH": "/usr/bin", "PIN": right, **token.environment})  # fmt: skip
    second.keys.set_pin(WRONG)
    second.start()
    await_(lambda: "No gateway of the fleet sends it again" in reason(second), "the PIN is not sent again")
    name = tokens(second)[0]["token"]
    assert f'privyseal fleet forget-refused-pins "{name}"' in reason(second)
    # Only this token and only with a reason.
    for body, status in [({"token": name, "reason": " "}, 409), ({"token": "x", "reason": "y"}, 404)]:
        assert second.admin("POST", "/v1/fleet/refused-pins/forget", body)[0] == status
    status, output, errors = second.run("fleet", "forget-refused-pins", name, "--reason", "The token has this PIN now")
    assert status == 0, errors
    assert b"1 PIN of the token" in output
    assert tokens(second) == []
    assert [entry["reason"] for entry in life(fleet, server, "forget-refused-pins")] == ["The token has this PIN now"]
    reload(second)
    await_(second.is_ready, "the gateway signs with this PIN")
    # The gateway that had sent it may send it, too.
    first.stop()
    first.start()
    await_(first.is_ready, "the gateway that had sent the PIN signs with it")


def test_a_gateway_waits_for_the_login_of_another_but_not_for_ever(fleet, server):
    first, second, _ = fleet.gateways
    first.start()
    await_(first.is_ready, "the first gateway has logged in")
    give_turns(server, 6)
    begun = time.monotonic()
    second.start()
    await_(lambda: "The gateway test/other is logging in to the token" in reason(second), "the gateway waits")
    await_(second.is_ready, "the gateway has logged in")
    assert time.monotonic() - begun > 3


def test_commands_and_gateways_do_not_send_each_others_refused_pins(fleet, server):
    first, second, third = fleet.gateways
    third.start()
    await_(third.is_ready, "the fleet has a log")
    for gateway in (first, second):
        gateway.keys.set_pin(WRONG)

    def check(gateway):
        status, output, errors = gateway.run("check", "--format", "json")
        assert status == 1, errors
        return next(key["reason"] for key in json.loads(output)["keys"] if key["keyId"] == KEY_IDS[0])

    assert "CKR_PIN_INCORRECT" in check(first)
    assert "No gateway of the fleet sends it again" in check(second)
    second.start()
    await_(lambda: "No gateway of the fleet sends it again" in reason(second), "the gateway does not send it")
    (entry,) = life(fleet, server, "refuse-pin")
    assert (entry["actor"], entry["evidence"]["gateway"]) == ("operator", first.origin)


# Modules and gateways that fail


@pytest.fixture
def faulty(place, server):
    """Two gateways of a fleet whose modules obey rules: (gateway, rules), (gateway, rules)."""
    token = TokenKeys(place)
    token.module = faulty_library(BINARY)
    fleet = Fleet(BINARY, place, url(server), count=2, token=token)
    rules = [FaultRules(gateway.directory) for gateway in fleet.gateways]
    for gateway, own in zip(fleet.gateways, rules):
        gateway.environment = {**gateway.environment, **own.environment}
    yield list(zip(fleet.gateways, rules))
    fleet.stop()


def kill_signers(gateway):
    for pid in children(gateway.process.pid):
        os.kill(pid, signal.SIGKILL)


def test_a_module_that_crashes_in_each_login_does_not_keep_other_gateways_from_the_token(faulty):
    (first, rules), (second, _) = faulty
    first.start()
    await_(first.is_ready, "the first gateway has logged in")
    rules.set("C_Login abort")
    kill_signers(first)
    await_(lambda: len(rules.results()) > 1, "the module has crashed twice")
    second.start()
    await_(second.is_ready, "the second gateway has logged in", 10)


def test_a_refusal_that_could_not_be_recorded_is_recorded_after_the_restart(faulty, server):
    (first, rules), (second, _) = faulty
    first.start()
    await_(first.is_ready, "the fleet has a log")
    first.stop()
    for gateway, _ in faulty:
        gateway.keys.set_pin(WRONG)
    rules.forget()
    rules.set("C_Login delay=3000")
    first.start()
    await_(lambda: rules.count("C_Login"), "the login has begun")
    server.stop(signal.SIGQUIT)
    try:
        await_(lambda: "CKR_PIN_INCORRECT" in reason(first), "the token has refused the PIN")
        first.kill()
    finally:
        server.start()
    rules.clear()
    first.start()
    await_(lambda: tokens(first), "the fleet knows of the refusal")
    assert "refused this PIN before" in reason(first)
    second.start()
    await_(lambda: "No gateway of the fleet sends it again" in reason(second), "the PIN is not sent again")


def test_logins_that_wait_delay_no_signature_of_other_keys(place, server):
    gateway = Fleet(BINARY, place, url(server), count=1).gateways[0]
    names = [f"AAAAAAAA{number:02}" for number in range(8)]
    gateway.environment = {**gateway.environment, "SOFTHSM2_CONF": str(place / "tokens" / "softhsm2.conf")}
    for name in names:
        make_token(place / "tokens", name, name)
        pin = f"pin-source=file:{place}/tokens/pin"
        gateway.uris[name] = f"pkcs11:token={name};object={name}?module-path={SOFTHSM}&{pin}"
    with gateway:
        gateway.configure(keys=(KEY_IDS[0], *names))
        reload(gateway)
        await_(lambda: all(key(gateway, name)["state"] == "ready" for name in names), "all tokens are open")
        give_turns(server, 20)
        kill_signers(gateway)
        wait = lambda: all("is logging in to the token" in reason(gateway, name) for name in names)
        await_(wait, "each login waits")
        await_(gateway.is_ready, "the key in a file signs again")
        assert {gateway.sign(f"/v1/apps/{APP}/promotional-offer")[0] for _ in range(50)} == {200}
        assert wait()
