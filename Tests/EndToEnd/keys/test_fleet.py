"""Gateways that share one register of keys: rotations, stops, gateways that hang, die, are fenced, and return."""

import http.client
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import threading
import time
from urllib.parse import quote

import pytest
from conftest import BINARY
from database_server import Proxy, cluster, url
from fleet import Fleet, FleetGateway, Rotations, SigningLoad, at_once
from key_lifecycle import NEW, OLD, THIRD, changes
from polling import await_
from stepped_clock import Clock


@pytest.fixture(scope="module")
def server():
    with cluster(settings=["track_commit_timestamp=on"]) as server:
        yield server


@pytest.fixture
def fleet(place, server):
    with Fleet(BINARY, place, url(server), count=3) as fleet:
        yield fleet


@pytest.fixture(scope="module")
def unchanged(server):
    """A fleet for tests that change no key."""
    with tempfile.TemporaryDirectory(prefix="privyseal-") as place:
        with Fleet(BINARY, pathlib.Path(place), url(server), count=3) as fleet:
            yield fleet


def activate(gateway, new, old, **more):
    return gateway.change("activate", new, retiring=old, overlap=3600, watch=0, **more)


def activate_beside_hung(gateway, new, old):
    """Another gateway hangs, maybe within a transaction: the database ends that after three seconds. An order that waits
    for its lock gets 503 before, and is not recorded."""
    return await_(lambda: (answer := activate(gateway, new, old))[0] != 503 and answer, "the order is accepted")


def test_the_log_of_a_fleet_is_not_migrated(unchanged, tmp_path):
    first = unchanged.gateways[0]
    command = [BINARY, "audit", "migrate", "--from", first.url, "--to", tmp_path / "new.db", "--key", first.fleet_key]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1 and "is the log of a fleet (" in ended.stderr and first.origin in ended.stderr, ended
    assert first.sign()[0] == 200 and not (tmp_path / "new.db").exists()


def compromise_alone(gateway, key_id):
    """The gateway runs without the fleet for a moment, and has a compromised key in its own register then."""
    gateway.is_alone = True
    gateway.configure()
    with gateway:
        await_(gateway.is_ready, "the gateway is ready")
        assert gateway.change("compromise", key_id)[0] == 200
    gateway.is_alone = False
    gateway.configure()


def fence(gateway, other):
    return gateway.admin("POST", f"/v1/fleet/{quote(other.origin, safe='')}/fence", {"reason": "It hangs"})


def test_metrics_count_the_gateways_of_the_fleet(unchanged):
    first, second, third = unchanged.gateways
    await_(lambda: first.metric("privyseal_fleet_gateways", state="live") == 3, "the first gateway counts three")
    assert 0 <= first.metric("privyseal_fleet_read_age_seconds") < 5
    third.stop()
    second.process.send_signal(signal.SIGSTOP)
    try:
        await_(lambda: first.metric("privyseal_fleet_gateways", state="silent") == 1, "the second gateway is silent")
        assert first.metric("privyseal_fleet_gateways", state="left") == 1
        assert first.metric("privyseal_fleet_gateways", state="live") == 1
    finally:
        second.process.send_signal(signal.SIGCONT)
        third.start()


def test_rotations_while_gateways_hang_die_leave_and_are_fenced_sign_nothing_wrongly(place, server):
    with Fleet(BINARY, place, url(server)) as fleet:
        with Rotations(fleet, server, random.Random(7)) as rotations:
            for kind in Rotations.KINDS:
                rotations.one(kind)
        assert rotations.check() == []
    assert max(rotations.seconds) < 4
    first = fleet.gateways[0]
    status, report, errors = first.run("audit", "verify", "--origin", first.fleet_origin)
    assert status == 0, report + errors


def test_an_activation_is_recorded_once_with_the_gateways_that_proved_the_key(fleet, server):
    status, answer = activate(fleet.gateways[1], NEW, OLD)
    assert status == 200 and answer["outcome"] == "done"
    origins = [gateway.origin for gateway in fleet.gateways]
    assert sorted(answer["fleet"]["confirmed"]) == origins and answer["fleet"]["missing"] == []
    assert [gateway.signer() for gateway in fleet.gateways] == [NEW] * 3
    log = fleet.log(server)
    activations = [entry for _, entry in changes(log) if entry["action"] == "activate"]
    assert len(activations) == 1 and activations[0]["key"] == NEW
    assert sorted(activations[0]["evidence"].values()) == origins
    assert [entry["event"] for entry in log.of_kind("life") if entry.get("id")] == ["begun", "agreed"]


def test_archive_drops_only_from_a_log_whose_key_the_gateway_has(unchanged, tmp_path):
    first, second = unchanged.gateways[:2]
    command = ("audit", "archive", "--segments", "1", "--to", tmp_path, "--drop", "--quiet")
    status, _, errors = first.run(*command, "--origin", second.origin, "--key", second.public_key)
    assert status == 1
    assert f"{second.origin} is neither. Run the command on the machine of that gateway." in errors.decode()
    for origin in (first.origin, first.fleet_origin):
        status, said, errors = first.run(*command, "--origin", origin)
        assert (status, said.split(b":")[0]) == (0, b"Nothing to archive"), errors


def test_a_compromised_key_is_stopped_on_all_gateways_when_the_command_returns(fleet):
    status, answer = fleet.gateways[2].change("compromise", OLD)
    assert status == 200 and answer["fleet"]["missing"] == []
    for gateway in fleet.gateways:
        assert gateway.signer() == "urn:privyseal:problem:no-key-in-use"
        assert gateway.sign_by_name(OLD)[0] != 200


def test_a_gateway_that_hangs_delays_the_activation_until_it_answers(fleet):
    first, _, third = fleet.gateways
    os.kill(third.process.pid, signal.SIGSTOP)
    try:
        status, answer = activate_beside_hung(first, NEW, OLD)
        assert status == 202, answer
        assert answer["outcome"] == "activating" and answer["waitingFor"] == [third.origin]
        assert first.signer() == OLD
        refused, problem = activate(fleet.gateways[1], THIRD, OLD)
        assert refused == 409 and "waits for gateways" in problem["detail"]
    finally:
        os.kill(third.process.pid, signal.SIGCONT)
    for gateway in fleet.gateways:
        await_(lambda gateway=gateway: gateway.signer() == NEW, f"{gateway.origin} signs with the new key")


def test_a_fenced_gateway_signs_nothing_until_it_is_started_again(fleet, server):
    first, _, third = fleet.gateways
    with SigningLoad([third]) as load:
        await_(lambda: load.answers, "a signature")
        os.kill(third.process.pid, signal.SIGSTOP)
        status, answer = activate_beside_hung(first, NEW, OLD)
        assert status == 202, answer
        status, answer = fence(first, third)
        assert status == 200, answer
        await_(lambda: first.signer() == NEW, "the new key signs")
        assert first.fleet()["shop-3"] == "fenced"
        fenced = time.time()
        os.kill(third.process.pid, signal.SIGCONT)
        await_(lambda: any(begun > fenced for begun, *_ in load.refusals), "a refusal after the fence")
    assert [answer for answer in load.answers if answer[0] > fenced] == []
    assert third.ask("GET", "/readyz")[0] == 503
    # It refuses orders, too: it cannot know the register.
    statuses = []
    await_(lambda: statuses.append(activate(third, OLD, NEW)[0]) or statuses[-1] == 503, "it refuses orders")
    assert set(statuses) <= {409, 503}
    third.kill()
    third.start()
    await_(lambda: third.signer() == NEW, "the gateway signs again after its start")
    await_(lambda: first.fleet()["shop-3"] == "live", "the gateway is live again")
    fences = [entry for entry in fleet.log(server).of_kind("life") if entry["action"] == "fence"]
    assert [entry["evidence"]["gateway"] for entry in fences] == [third.origin]


def test_an_activation_whose_key_a_gateway_does_not_have_is_given_up_and_names_the_gateway(fleet):
    first, second, _ = fleet.gateways
    second.configure(keys=(OLD, THIRD))
    assert second.reload()[0]
    status, answer = activate(first, NEW, OLD)
    assert status == 409 and second.origin in answer["detail"] and "does not name the key" in answer["detail"]
    assert [gateway.signer() for gateway in fleet.gateways] == [OLD] * 3


def test_of_two_activations_that_are_ordered_at_the_same_time_on_two_gateways_one_is_made(fleet):
    answers = {}

    def order(pair):
        gateway, key = pair
        answers[key] = activate(gateway, key, OLD)

    at_once(order, list(zip(fleet.gateways[:2], (NEW, THIRD))))
    made = [key for key, (status, _) in answers.items() if status == 200]
    assert len(made) == 1, answers
    assert [gateway.signer() for gateway in fleet.gateways] == made * 3


def test_an_activation_goes_on_after_the_gateway_that_got_the_order_is_killed(fleet):
    first, second, third = fleet.gateways
    threading.Thread(target=lambda: suppress(activate, first, NEW, OLD), daemon=True).start()
    await_(lambda: second.admin("GET", "/v1/fleet")[1]["activations"] or second.signer() == NEW, "the activation")
    first.kill()
    # Whether it had answered depends on the time of the kill.
    first.start()
    for gateway in fleet.gateways:
        await_(lambda gateway=gateway: gateway.signer() == NEW, f"{gateway.origin} signs with the new key")
    assert third.admin("GET", "/v1/fleet")[1]["activations"] == []


def suppress(function, *arguments):
    try:
        return function(*arguments)
    except (OSError, http.client.HTTPException):
        return None


def test_a_suspension_of_the_new_key_gives_an_open_activation_up(fleet):
    first, second, third = fleet.gateways
    os.kill(third.process.pid, signal.SIGSTOP)
    try:
        status, answer = activate_beside_hung(first, NEW, OLD)
        assert status == 202, answer
        assert second.change("suspend", NEW)[0] == 200
    finally:
        os.kill(third.process.pid, signal.SIGCONT)
    await_(lambda: not first.admin("GET", "/v1/fleet")[1]["activations"], "the end of the activation")
    await_(third.is_ready, "the third gateway can write its log again")
    assert [gateway.signer() for gateway in fleet.gateways] == [OLD] * 3
    assert [gateway.states()[NEW] for gateway in fleet.gateways] == ["suspended"] * 3


def test_a_stop_of_the_new_key_before_its_activation_takes_effect_leaves_the_old_key_active(fleet):
    first, second, _ = fleet.gateways
    with SigningLoad(fleet.gateways) as load:
        order = threading.Thread(target=suppress, args=(activate, first, NEW, OLD))
        order.start()
        # The decision is recorded, and takes effect about a second later.
        await_(lambda: second.states()[NEW] == "active", "the decision")
        assert second.signer() == OLD
        status, answer = second.change("suspend", NEW)
        assert status == 200, answer
        order.join()
        for gateway in fleet.gateways:
            assert gateway.signer() == OLD
            assert (gateway.states()[OLD], gateway.states()[NEW]) == ("active", "suspended")
    assert {key for _, _, _, key, _ in load.answers} == {OLD} and not load.refusals
    # The key was never active, so it returns to the state before.
    assert first.change("resume", NEW)[0] == 200
    assert second.states()[NEW] == "retiring"


def test_a_key_that_only_the_register_of_a_joining_gateway_has_keeps_its_state(place, server):
    fleet = Fleet(BINARY, place, url(server), count=2)
    first, second = fleet.gateways
    compromise_alone(second, THIRD)
    first.configure(keys=(OLD, NEW))
    with fleet:
        for gateway in fleet.gateways:
            await_(lambda gateway=gateway: gateway.states().get(THIRD) == "compromised", f"{gateway.origin} knows the key")


def test_a_gateway_does_not_join_if_the_fleet_would_sign_with_a_key_that_it_had_stopped(place, server):
    fleet = Fleet(BINARY, place, url(server), count=2)
    first, second = fleet.gateways
    compromise_alone(second, THIRD)
    with first:
        await_(first.is_ready, "the first gateway is ready")
        await_(lambda: fleet.log(server).of_kind("life"), "the register of the fleet")
        with second:
            reason = f"privyseal keys compromise {THIRD} --reason".encode()
            await_(lambda: reason in second.log.read_bytes(), "the reason")
            assert not second.is_ready()
            # A suspension is not enough: one administrator could resume the key.
            assert first.change("suspend", THIRD)[0] == 200
            await_(lambda: second.log.read_bytes().count(b"and suspended in that of the fleet") > 0, "the new reason")
            assert not second.is_ready()
            assert first.change("compromise", THIRD)[0] == 200
            await_(second.is_ready, "it joins")


def test_a_proposal_expires_by_the_clock_of_the_database(place, server):
    fleet = Fleet(BINARY, place, url(server), count=2)
    first, second = fleet.gateways
    clock = Clock(place)
    second.environment.update(clock.environment)
    for gateway in fleet.gateways:
        gateway.dual_control, gateway.tokens = True, first.tokens
        gateway.configure()
    # Longer than a proposal waits.
    clock.set(-100_000)
    with fleet:
        status, answer = second.change("activate", NEW, by="ann", retiring=OLD, overlap=3600, watch=0)
        assert status == 202, answer
        proposal = answer["proposal"]["id"]
        await_(lambda: first.admin("GET", "/v1/keys")[1]["proposals"], "the other gateway knows the proposal")
        status, answer = first.approve(proposal, "ben")
        assert status in (200, 202), answer


def test_a_gateway_without_a_network_stops_signing_before_the_others_take_it_for_silent(place, server):
    with Proxy(server.port) as network, Fleet(BINARY, place, url(server), count=2) as fleet:
        cut = FleetGateway(BINARY, place, 3, fleet.keys, url(network))
        with cut:
            await_(cut.is_ready, "the third gateway is ready")
            await_(lambda: len(fleet.gateways[0].live()) == 3, "the first gateway knows the third")
            with SigningLoad([cut]) as load:
                await_(lambda: len(load.answers) > 5, "signatures")
                network.pause()
                await_(lambda: fleet.gateways[0].fleet()["shop-3"] == "silent", "the gateway is silent")
                silent = time.time()
                # A silent gateway is not named: it must read the new state before it signs again.
                # Its last transaction may hold the fleet's log for some seconds.
                await_(lambda: activate(fleet.gateways[0], NEW, OLD)[0] == 200, "the activation")
                network.go_on()
                await_(lambda: load.answers[-1][0] > silent, "the gateway signs again", 60)
            assert {key for begun, _, _, key, _ in load.answers if begun > silent} == {NEW}


def test_the_first_gateway_gives_its_own_register_to_the_fleet(place, server):
    fleet = Fleet(BINARY, place, url(server), count=2)
    first, second = fleet.gateways
    compromise_alone(first, THIRD)
    with fleet:
        assert [gateway.states()[THIRD] for gateway in fleet.gateways] == ["compromised"] * 2
        # It had adopted its keys before.
        assert second.states()[OLD] == "active"


def test_the_keys_of_a_fleet_cannot_be_changed_while_no_gateway_runs(place, server):
    with Fleet(BINARY, place, url(server), count=1) as fleet:
        pass
    status, _, errors = fleet.gateways[0].keys_command("suspend", OLD, "--reason", "test")
    assert status == 1 and "changed by a running gateway" in errors
    status, output, _ = fleet.gateways[0].keys_command("states")
    assert status == 0 and OLD in output


def test_the_log_of_the_fleet_shows_that_the_log_of_a_gateway_was_shortened(place):
    # Another server than that of the other tests, because the command reads all logs in a database.
    with cluster() as server:
        with Fleet(BINARY, place, url(server), count=2) as fleet:
            first, second = fleet.gateways

            def last():
                """The size of the newest checkpoint of the second gateway in the fleet's log."""
                checkpoints = fleet.log(server).of_kind("checkpoint")
                return max((entry["size"] for entry in checkpoints if entry["log"] == second.origin), default=0)

            await_(lambda: last() > 2, "a checkpoint in the log of the fleet")
            columns = "id, size, replace(encode(convert_to(note, 'UTF8'), 'base64'), chr(10), '')"
            head = server.sql(f"SELECT {columns} FROM privyseal.log WHERE origin = '{second.origin}'", "privyseal")
            number, size, note = head.strip().split("|")
            for _ in range(5):
                assert second.sign()[0] == 200
            await_(lambda: last() >= int(size) + 5, "a later checkpoint")
        keys = [argument for gateway in fleet.gateways for argument in ("--key", gateway.public_key)]
        status, report, errors = first.run("audit", "verify", "--all-logs", *keys)
        assert status == 0 and b"from the log test/" in report, report + errors
        # A person with all rights in the database, and without the key of the log, puts an older state back.
        server.sql(f"""
            SET session_replication_role = replica;
            DELETE FROM privyseal.entry WHERE log = {number} AND idx >= {size};
            DELETE FROM privyseal.checkpoint WHERE log = {number} AND size > {size};
            UPDATE privyseal.log SET size = {size}, note = convert_from(decode('{note}', 'base64'), 'UTF8')
            WHERE id = {number};
        """, "privyseal")
        status, report, _ = first.run("audit", "verify", "--all-logs", *keys)
    report = report.decode()
    assert status == 1 and f"{second.origin}: intact" not in report
    assert f"{first.origin}: intact" in report and f"{first.fleet_origin}: intact" in report, report
