"""Gateways that share a register of keys also share limits of clients, tokens for Apple's services, and lists of tokens."""

import json

import pytest
from conftest import BINARY
from database_server import cluster, url
from fleet import Fleet, LimitedLoad, at_once
from key_lifecycle import NEW, OLD
from polling import await_
from running import APP
from service import digest, mint, write_key


@pytest.fixture(scope="module")
def server():
    with cluster() as server:
        yield server


def give(fleet, clients="", sections=""):
    """Adds clients and sections to every configuration."""
    for gateway in fleet.gateways:
        gateway.more_clients, gateway.more_sections = clients, sections
        gateway.configure()


def test_the_rate_of_a_client_holds_for_the_sum_of_all_gateways(place, server):
    fleet = Fleet(BINARY, place, url(server))
    load, seconds = LimitedLoad(fleet), 6
    allowed = load.PER_SECOND * seconds
    answered = []
    with fleet:
        # Gateways of a busy machine lease requests that they cannot answer in time, so the least rate has three attempts.
        while len(answered) < 3 and max(answered, default=0) <= 0.9 * allowed:
            load.statuses.clear()
            # One gateway gets most of the requests, and one gets none.
            load.run(seconds, (0, 0, 0, 0, 1, 2))
            assert set(load.statuses) == {200, 429}
            answered.append(load.statuses.count(200))
            assert answered[-1] <= 1.05 * allowed + load.BURST
    assert max(answered) > 0.9 * allowed, answered


def test_the_daily_quota_of_a_client_is_used_up_once_in_the_fleet(place, server):
    fleet, token = Fleet(BINARY, place, url(server), count=3), mint()
    give(fleet, f"""  - name: limited
    tokens: [{{sha256: "{digest(token)}"}}]
    allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"]}}]
    dailyQuota: 20
""")
    with fleet:
        def ask():
            return [gateway.sign(f"/v1/apps/{APP}/promotional-offer", token=token)[0] for gateway in fleet.gateways]

        answers = []
        # What a gateway has leased and does not use is given back within three seconds.
        await_(lambda: answers.extend(ask()) or answers.count(200) >= 20, "the whole quota", 20)
        answers += [status for _ in range(10) for status in ask()]
    assert set(answers) == {200, 429} and answers.count(200) == 20


def test_all_gateways_hand_out_one_token_for_push_notifications(place, server):
    fleet, token = Fleet(BINARY, place, url(server), count=3), mint()
    write_key(place / "push.p8")
    give(fleet, f"""  - name: notifier
    tokens: [{{sha256: "{digest(token)}"}}]
    allow: [{{services: [push]}}]
""", f"""services:
  - {{name: push, profile: apns, teamId: ABCDE12345, activeKey: P5H2X4HXF3,
      keys: [{{keyId: P5H2X4HXF3, uri: "file:{place}/push.p8"}}]}}
""")
    with fleet:
        answers = []

        def ask(gateway):
            status, _, body = gateway.ask("POST", "/v1/services/push/token", {}, {"Authorization": f"Bearer {token}"})
            assert status == 200, body
            answers.append(json.loads(body)["token"])

        at_once(ask, fleet.gateways * 3)
        assert len(answers) == 9 and len(set(answers)) == 1
        # A gateway that starts again gets it from the others.
        fleet.gateways[0].stop()
        fleet.gateways[0].start()
        await_(fleet.gateways[0].is_ready, "the gateway is ready")
        ask(fleet.gateways[0])
        assert len(set(answers)) == 1
    # The database does not have the token itself.
    stored = server.sql("SELECT string_agg(convert_from(value, 'UTF8'), '') FROM privyseal.shared", "privyseal")
    assert "sealed" in stored and answers[0] not in stored


def test_a_key_that_ends_names_the_long_lived_tokens_of_all_gateways(place, server):
    fleet, token = Fleet(BINARY, place, url(server), count=2), mint()
    first, second = fleet.gateways
    give(fleet, f"""  - name: web
    tokens: [{{sha256: "{digest(token)}"}}]
    allow: [{{services: [login]}}]
""", f"""services:
  - {{name: login, profile: sign-in-with-apple, teamId: ABCDE12345, subject: com.example.web, lifetime: 5000000,
      activeKey: {OLD}, keys: [{{keyId: {OLD}, uri: "{fleet.keys.uri(0)}"}}]}}
""")
    for gateway in fleet.gateways:
        gateway.configure(keys=(NEW,), active=NEW)
    with fleet:
        headers = {"Authorization": f"Bearer {token}"}
        assert second.ask("POST", "/v1/services/login/token", {}, headers)[0] == 200
        own, of_all = (json.loads(first.run("tokens", "list", *options, "--format", "json")[1])["tokens"]
                       for options in ((), ("--all-logs",)))  # fmt: skip
        assert own == [] and [one["log"] for one in of_all] == [second.origin]
        status, _, errors = first.keys_command("compromise", OLD, "--reason", "test", "--yes")
        assert status == 0, errors
        assert f"1 long-lived token of {OLD} stay valid at Apple" in errors
        assert f"of {second.origin}" in errors
