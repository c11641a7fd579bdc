"""Tokens that are valid for a day or longer: the list, the metric, the report at the end of their key; the clock."""

import json
import subprocess
import time

import pytest
from auditing import await_
from conftest import BINARY
from key_lifecycle import NEW, OLD, KeysInFiles, moment
from service_tokens import ALL, TEAM, TokenGateway, own_key

SIGN_IN, MUSIC = "login", "music"
MONTHS, DAYS = 15_777_000, 5 * 86_400


class LongLived(TokenGateway):
    def listed(self, *options):
        """What `tokens list` shows as JSON."""
        status, output, errors = self.run("tokens", "list", "--format", "json", *options)
        assert status == 0, errors
        return json.loads(output)["tokens"]


@pytest.fixture
def gateway(tmp_path):
    """A gateway with a service whose tokens are valid for months, and one whose tokens are valid for days."""
    keys = KeysInFiles(tmp_path)
    music, _ = own_key(tmp_path, MUSIC, "MUSICKEY01")
    login = {
        "name": SIGN_IN, "profile": "sign-in-with-apple", "teamId": TEAM, "lifetime": MONTHS,
        "subject": "com.example.web", "activeKey": OLD,
    }  # fmt: skip
    services = [
        {**login, "keys": [{"keyId": OLD, "uri": keys.uri(0)}]},
        {"name": MUSIC, "profile": "apple-music", "teamId": TEAM, "lifetime": DAYS, **music},
    ]
    with LongLived(BINARY, tmp_path, services, {"all": ALL, "third": ALL}, keys=keys) as gateway:
        services[0]["keys"].append({"keyId": NEW, "uri": keys.uri(1)})
        gateway.configure()
        done, said = gateway.reload()
        assert done, said
        yield gateway


def test_a_token_for_months_is_listed_and_one_for_minutes_is_not(gateway):
    assert gateway.listed() == []
    status, answer = gateway.ask_for(SIGN_IN)
    assert status == 200
    assert gateway.ask_for(SIGN_IN, {"lifetime": 300})[0] == 200
    (token,) = gateway.listed()
    assert moment(token["expiresAt"]).timestamp() == answer["expiresAt"]
    assert (token["service"], token["profile"], token["client"]) == (SIGN_IN, "sign-in-with-apple", "all")
    assert token["keyId"] == OLD and token["kind"] == "signature"
    entries = gateway.entries("signature")
    assert [entry.get("expires") for entry in entries] == [token["expiresAt"], None]


def test_each_holder_of_a_shared_token_is_listed(gateway):
    for _ in range(2):
        assert gateway.ask_for(MUSIC)[0] == 200
    holders = {(token["kind"], token["client"]) for token in gateway.listed()}
    assert holders == {("signature", "all")}
    assert gateway.ask_for(MUSIC, client="third")[0] == 200
    assert {(token["kind"], token["client"]) for token in gateway.listed()} == holders | {("handout", "third")}
    assert len({token["expiresAt"] for token in gateway.listed()}) == 1


def test_the_list_is_a_table_for_people(gateway):
    assert gateway.ask_for(SIGN_IN)[0] == 200
    header, row = gateway.run("tokens", "list")[1].decode().splitlines()
    assert header.split() == "EXPIRES IN SERVICE PROFILE CLIENT KEY ID ISSUED ENTRY".split()
    assert row.split()[1:6] == ["182d", SIGN_IN, "sign-in-with-apple", "all", OLD]


def test_the_list_contains_the_tokens_of_one_key(gateway):
    assert gateway.ask_for(SIGN_IN)[0] == gateway.ask_for(MUSIC)[0] == 200
    assert {token["service"] for token in gateway.listed("--key", OLD)} == {SIGN_IN}
    assert gateway.listed("--key", NEW) == []


def test_the_metric_shows_the_end_of_the_latest_token_of_each_client(gateway):
    assert gateway.ask_for(MUSIC)[0] == 200
    ends = [gateway.ask_for(SIGN_IN, {"lifetime": lifetime})[1]["expiresAt"] for lifetime in (MONTHS, MONTHS - 3600)]
    # The gateway reads them when it starts, and then every minute.
    gateway.stop()
    gateway.start()
    metric = lambda **labels: gateway.metric("privyseal_service_token_expiry_timestamp_seconds", **labels)
    await_(lambda: metric(service=SIGN_IN, client="all"), "the gateway has read the tokens")
    assert metric(service=SIGN_IN, client="all") == max(ends)
    assert not metric(service=MUSIC)


def test_the_end_of_a_key_names_the_tokens_that_stay_valid(gateway):
    assert gateway.ask_for(SIGN_IN)[0] == 200
    for action, key, *options in [
        ("activate", NEW, "--retire", OLD, "--overlap", "1h"), ("retire", OLD), ("compromise", NEW),
    ]:  # fmt: skip
        status, _, errors = gateway.keys_command(action, key, *options, "--reason", "test", "--yes")
        assert status == 0, errors
        if action == "compromise":
            # It has signed nothing that lives long.
            assert "stay valid" not in errors
        else:
            assert f"1 long-lived token of {OLD} stay valid at Apple" in errors
            assert f"{SIGN_IN} (sign-in-with-apple) for all, until " in errors


# The clock


@pytest.mark.parametrize(
    "ahead, status, part",
    [
        (0, 0, "This clock"),
        (3, 0, "That does no harm."),
        (-50, 0, "behind Apple's. That does no harm."),
        (30, 1, "It accepts tokens with an end"),
        (90, 1, "It refuses tokens with an end, too"),
        (-90, 1, "Tokens expire that much earlier"),
    ],
)
def test_a_clock_that_differs_from_apples_is_told_with_its_consequences(ahead, status, part):
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() - ahead))
    ended = subprocess.run([BINARY, "token", "check", "--date", date], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (status, "")
    assert part in ended.stdout


@pytest.mark.parametrize("date", ["now", "Sun, 99 Nov 2026 10:00:00 GMT", "2026-11-22T10:00:00Z", "x" * 10_000])
def test_a_text_that_is_no_date_is_refused(date):
    ended = subprocess.run([BINARY, "token", "check", "--date", date], capture_output=True, text=True)
    assert ended.returncode == 64
    assert "is not the value of a header Date: give one such as Sun, 22 Nov 2026" in ended.stderr


def test_an_empty_date_is_explained():
    ended = subprocess.run([BINARY, "token", "check", "--date", ""], capture_output=True, text=True)
    assert ended.returncode == 64 and "--date is empty. If curl made the value, it got no answer." in ended.stderr
