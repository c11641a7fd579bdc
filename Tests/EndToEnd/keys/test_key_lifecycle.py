"""Key lifecycle on a running gateway: every refused change, two administrators, rotation under load, and kills. The
tests use the admin listener and the command line, and then check the log."""

import contextlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time

import pytest
from auditing import AuditCopy, KeepingLoad, everything_wrong
from conftest import BINARY
from key_lifecycle import (
    NEW,
    NONE_IN_USE,
    NOT_IN_USE,
    OLD,
    THIRD,
    KeysInFiles,
    KeyService,
    admin_connection,
    adoptions,
    await_state,
    changes,
    false_signatures,
    late_signatures,
    life,
    moment,
    register_faults,
    wrongly_signed,
)
from polling import await_
from real_tokens import SOFTHSM, make_token
from running import ISSUER_ID, KEY_IDS

CHANGE_REFUSED = "urn:privyseal:problem:change-refused"


@pytest.fixture
def service(tmp_path):
    service = KeyService(BINARY, tmp_path).start_with_staged_keys()
    yield service
    service.end()


@pytest.fixture
def two(tmp_path):
    service = KeyService(BINARY, tmp_path, dual_control=True).start_with_staged_keys()
    yield service
    service.end()


def done(answer):
    status, body = answer
    assert status == 200, body
    return body


# First states


def test_the_gateway_adopts_the_first_keys_and_stages_later_ones(service):
    assert service.states() == {OLD: "active", NEW: "staged", THIRD: "staged"}
    assert service.signer() == OLD
    adopted = await_(
        lambda: [entry for entry in adoptions(AuditCopy(service.database)) if entry["key"] == NEW], "an entry"
    )
    assert [(entry["action"], entry["to"], entry["actor"]) for entry in adopted] == [("adopt", "staged", "gateway")]


def test_a_staged_key_signs_only_proofs(service):
    status, answer = service.sign_by_name(NEW)
    assert (status, answer["type"]) == (409, NOT_IN_USE)
    assert done(service.admin("POST", f"/v1/keys/{NEW}/prove", {}))["fingerprint"].startswith("sha256:")
    assert [entry["event"] for _, entry in life(AuditCopy(service.database))][-1] == "proved"


# Refusals: preparation, attempt, and message

ACTIVATION = {"retiring": OLD, "overlap": 3600}

REFUSALS = {
    "an unknown key": ([], ("suspend", "0A0A0A0A0A"), {}, "There is no key 0A0A0A0A0A."),
    "the active key": ([], ("activate", OLD), {"retiring": OLD, "overlap": 60}, f"{OLD} is active already."),
    "activation that names no old key": ([], ("activate", NEW), {}, f"{OLD} is active. Replace it"),
    "activation that names another old key": (
        [],
        ("activate", NEW),
        {"retiring": THIRD, "overlap": 60},
        f"The key {THIRD} is not active; {OLD} is.",
    ),
    "an overlap of zero": ([], ("activate", NEW), {"retiring": OLD, "overlap": 0}, "Without an overlap"),
    "no overlap": ([], ("activate", NEW), {"retiring": OLD}, "Without an overlap"),
    "activation of a suspended key": (
        [("suspend", NEW)],
        ("activate", NEW),
        ACTIVATION,
        f"The key {NEW} is suspended; resume it first",
    ),
    "activation of a compromised key": (
        [("compromise", NEW)],
        ("activate", NEW),
        ACTIVATION,
        f"The key {NEW} is compromised.",
    ),
    "activation of a retired key": (
        [("retire", NEW)],
        ("activate", NEW),
        ACTIVATION,
        f"The key {NEW} is retired, which is final",
    ),
    "a key to retire while none is active": (
        [("suspend", OLD)],
        ("activate", NEW),
        ACTIVATION,
        f"The key {OLD} is not active: no key of the account is.",
    ),
    "retirement of the only active key": ([], ("retire", OLD), {}, f"{OLD} is the only active key of its account."),
    "retirement twice": ([("retire", NEW)], ("retire", NEW), {}, f"The key {NEW} is retired already."),
    "suspension twice": ([("suspend", NEW)], ("suspend", NEW), {}, f"The key {NEW} is suspended already."),
    "suspension of a retired key": ([("retire", NEW)], ("suspend", NEW), {}, f"The key {NEW} is retired already."),
    "suspension of a compromised key": (
        [("compromise", NEW)],
        ("suspend", NEW),
        {},
        f"The key {NEW} is compromised, and signs nothing",
    ),
    "resumption of a key that is not suspended": ([], ("resume", NEW), {}, f"The key {NEW} is staged, not suspended."),
    "a second active key by resumption": (
        [("suspend", OLD), ("activate", NEW)],
        ("resume", OLD),
        {},
        f"{OLD} was active when it was suspended, and {NEW} is active now.",
    ),
    "compromise twice": ([("compromise", NEW)], ("compromise", NEW), {}, f"The key {NEW} is compromised already."),
    "restoration of a key that is not compromised": (
        [],
        ("restore", NEW),
        {},
        f"The key {NEW} is staged, not compromised.",
    ),
    "a proof of a retired key": ([("retire", NEW)], ("prove", NEW), {}, f"The key {NEW} is retired, and signs no proofs"),
    "a proof of a compromised key": (
        [("compromise", NEW)],
        ("prove", NEW),
        {},
        f"The key {NEW} is compromised, and signs no proofs",
    ),
    "no reason": ([], ("suspend", NEW), {"reason": " "}, "Give a reason"),
    "a reason that is too long": ([], ("suspend", NEW), {"reason": "a" * 501}, "at most 500 are allowed"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_forbidden_change_is_refused_and_changes_nothing(service, name):
    before, (action, key_id), more, sentence = REFUSALS[name]
    for earlier in before:
        done(service.change(*earlier))
    states, count = service.states(), len(life(AuditCopy(service.database)))
    if action == "prove":
        status, answer = service.admin("POST", f"/v1/keys/{key_id}/prove", {})
    else:
        status, answer = service.change(action, key_id, **more)
    assert status == (404 if name == "an unknown key" else 409), answer
    assert sentence in answer["detail"]
    assert service.states() == states
    assert len(life(AuditCopy(service.database))) == count


def test_the_command_line_prints_the_refusal_of_the_gateway(service):
    status, output, errors = service.keys_command("retire", OLD, "--reason", "a try", "--yes")
    assert (status, output) == (1, "")
    assert f"The key {OLD} is the only active key of its account." in errors


def test_a_key_that_cannot_sign_a_proof_is_not_activated(service):
    service.stop()
    service.keys.path(NEW).unlink()
    service.start()
    status, answer = service.change("activate", NEW, retiring=OLD, overlap=60)
    assert status == 409, answer
    assert f"The key {NEW} cannot sign a proof of possession" in answer["detail"]
    assert service.signer() == OLD


def test_another_key_under_a_known_id_is_not_activated(service):
    done(service.admin("POST", f"/v1/keys/{NEW}/prove", {}))
    service.stop()
    shutil.copy(service.keys.path(THIRD), service.keys.path(NEW))
    service.start()
    status, answer = service.change("activate", NEW, retiring=OLD, overlap=60)
    assert status == 409, answer
    assert "but the register has" in answer["detail"]


def test_another_key_in_the_file_of_the_active_key_signs_only_if_it_is_pinned(service):
    done(service.admin("POST", f"/v1/keys/{OLD}/prove", {}))
    service.stop()
    shutil.copy(service.keys.path(THIRD), service.keys.path(OLD))
    service.start()
    assert readiness(service) == (503, {OLD: "refused"})
    assert service.sign()[0] == 503
    assert "pin it with publicKey" in service.run("status")[1].decode()
    text = service.configuration.read_text()
    pinned = f"keyId: {OLD}, publicKey: \"{service.keys.fingerprint(THIRD)}\""
    assert text.count(f"keyId: {OLD}") == 1
    service.configuration.write_text(text.replace(f"keyId: {OLD}", pinned))
    assert service.reload()[0]
    await_(lambda: service.sign()[0] == 200, "a signature of the pinned key")


def test_one_of_two_concurrent_activations_is_refused(service):
    answers, ready = [], threading.Barrier(2, timeout=30)

    def activate(key_id):
        with admin_connection(service) as ask:
            ready.wait()
            body = {"reason": "at once", "retiring": OLD, "overlap": 60}
            answers.append(ask("POST", f"/v1/keys/{key_id}/activate", body)[0])

    for _ in range(5):
        answers.clear()
        threads = [threading.Thread(target=activate, args=(key_id,)) for key_id in (NEW, THIRD)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answers) == [200, 409]
        new = service.signer()
        service.activate(OLD, new)


def test_a_client_that_is_not_an_administrator_cannot_change_keys(service):
    status, answer = service.change("suspend", OLD, by=service.token)
    assert status == 403, answer
    assert service.signer() == OLD


# Two administrators


def test_the_proposer_of_a_change_cannot_approve_it(two):
    status, answer = two.change("activate", NEW, by="ann", **ACTIVATION)
    assert (status, answer["outcome"]) == (202, "proposed")
    proposal = answer["proposal"]["id"]
    assert two.signer() == OLD

    status, refused = two.approve(proposal, by="ann")
    assert status == 409
    assert "another administrator has to approve" in refused["detail"]
    status, refused = two.change("activate", NEW, by="ann", **ACTIVATION)
    assert status == 409
    assert f"ann has proposed that already, as {proposal}" in refused["detail"]
    seen = next(one for one in two.admin("GET", "/v1/keys")[1]["proposals"] if one["id"] == proposal)
    status, output, errors = two.keys_command("approve", proposal, "--digest", seen["digest"], by="ann")
    assert status == 1
    assert "another administrator has to approve" in errors
    assert two.signer() == OLD

    for wrong in ({}, {"digest": 1}):
        assert two.admin("POST", f"/v1/proposals/{proposal}/approve", wrong, by="ben")[0] == 422
    status, refused = two.admin("POST", f"/v1/proposals/{proposal}/approve", {"digest": "sha256:00"}, by="ben")
    assert (status, two.signer()) == (409, OLD)
    assert seen["digest"] in refused["detail"]
    approved = done(two.approve(proposal, by="ben"))
    assert approved["outcome"] == "done"
    assert two.signer() == NEW
    change = next(key for key in approved["keys"] if key["keyId"] == NEW)["history"][-1]
    assert (change["actor"], change["approver"]) == ("ann", "ben")
    entry = next(entry for _, entry in changes(AuditCopy(two.database)) if entry["action"] == "activate")
    assert (entry["actor"], entry["approver"]) == ("ann", "ben")

    status, refused = two.admin("POST", f"/v1/proposals/{proposal}/approve", {"digest": seen["digest"]}, by="ben")
    assert status == 404
    assert f"There is no proposal {proposal}" in refused["detail"]


def test_one_administrator_can_stop_a_key(two):
    done(two.change("suspend", OLD, by="ann"))
    assert two.signer() == NONE_IN_USE
    done(two.change("resume", OLD, by="ann"))
    done(two.change("compromise", NEW, by="ben"))
    status, answer = two.change("restore", NEW, by="ben")
    assert (status, answer["outcome"]) == (202, "proposed")


def test_a_rejected_proposal_cannot_be_approved(two):
    proposal = two.change("activate", NEW, by="ann", **ACTIVATION)[1]["proposal"]["id"]
    status, _ = two.admin("POST", f"/v1/proposals/{proposal}/reject", {}, by="ben")
    assert status == 204
    assert two.admin("POST", f"/v1/proposals/{proposal}/approve", {"digest": "sha256:00"}, by="ben")[0] == 404
    assert [entry["event"] for _, entry in life(AuditCopy(two.database))][-2:] == ["proposed", "rejected"]
    assert two.signer() == OLD


FINGERPRINT = "sha256:" + "5a" * 32


def order(action="import", key_id="5A8U7LAJ67", **more):
    return {
        "action": action,
        "issuerId": ISSUER_ID,
        "keyId": key_id,
        "uri": f"pkcs11:token=appstore;object={key_id}?module-path={SOFTHSM}",
        "fingerprint": FINGERPRINT,
        "reason": "a new key",
    } | more


END = {"succeeded": True, "evidence": {"method": "C_UnwrapKey"}}


def test_a_job_begins_after_its_approval_and_ends_when_the_gateway_sees_the_key(two):
    status, answer = two.admin("POST", "/v1/ceremonies", order(), by="ann")
    assert (status, answer["outcome"]) == (202, "proposed")
    proposal = answer["proposal"]
    assert proposal["details"] == {"uri": order()["uri"], "fingerprint": FINGERPRINT}
    shown = two.keys_command("proposals")[1]
    for name, value in (("account", ISSUER_ID), ("uri", order()["uri"]), ("fingerprint", FINGERPRINT), ("reason", order()["reason"])):
        assert re.search(rf"^{name} +{re.escape(value)}$", shown, re.MULTILINE), shown
    assert two.approve(proposal["id"], by="ben")[0] == 200
    status, refused = two.admin("POST", "/v1/ceremonies", order(), by="ben")
    assert (status, "may not carry it out" in refused["detail"]) == (409, True)
    status, answer = two.admin("POST", "/v1/ceremonies", order(), by="ann")
    assert (status, answer["outcome"]) == (200, "begun")
    assert (answer["ceremony"]["actor"], answer["ceremony"]["approver"]) == ("ann", "ben")
    job = answer["ceremony"]["id"]
    status, refused = two.admin("POST", f"/v1/ceremonies/{job}/finish", END, by="ben")
    assert (status, "ann does this work" in refused["detail"]) == (409, True)
    # The configuration names no key on that token, so the gateway cannot check it.
    status, answer = two.admin("POST", f"/v1/ceremonies/{job}/finish", END, by="ann")
    assert (status, answer["outcome"]) == (202, "waiting")
    assert "5A8U7LAJ67" not in two.states()
    events = [entry["event"] for _, entry in life(AuditCopy(two.database)) if entry["key"] == "5A8U7LAJ67"]
    assert events == ["proposed", "approved", "begun", "approved", "reported"]


def test_an_order_cannot_generate_or_destroy_a_key_in_a_file(two):
    for action in ("generate", "destroy"):
        work = order(action, "5A8U7LAJ67" if action == "generate" else NEW, uri=two.keys.uri(KEY_IDS.index(NEW)))
        del work["fingerprint"]
        status, refused = two.admin("POST", "/v1/ceremonies", work, by="ann")
        assert (status, "An order cannot" in refused["detail"]) == (409, True), refused
    _, overview = two.admin("GET", "/v1/keys")
    assert (overview["ceremonies"], overview["proposals"]) == ([], [])


def test_one_person_with_two_credentials_or_names_does_not_pass_dual_control(two):
    two.more_of_administrators = {"ann": f", uids: [{os.getuid()}]"}
    two.configure(keys=KEY_IDS)
    assert two.reload()[0]
    # Over the socket, without a token.
    proposal = two.change("activate", NEW, **ACTIVATION)[1]["proposal"]["id"]
    assert two.approve(proposal, by="ann")[0] == 409
    two.tokens = {"anna" if name == "ann" else name: token for name, token in two.tokens.items()}
    two.more_of_administrators = {}
    two.configure(keys=KEY_IDS)
    assert two.reload()[0]
    status, refused = two.approve(proposal, by="anna")
    assert (status, "another administrator has to approve" in refused["detail"]) == (409, True)
    assert two.signer() == OLD
    done(two.approve(proposal, by="ben"))


def test_a_proposal_of_root_does_not_count_after_the_account_excludes_root(two):
    proposal = two.change("activate", NEW, **ACTIVATION)[1]["proposal"]["id"]
    two.dual_control = "{operator: false}"
    two.configure(keys=KEY_IDS)
    assert two.reload()[0]
    status, refused = two.approve(proposal, by="ann")
    assert (status, "no longer counts as an administrator of the account" in refused["detail"]) == (409, True)
    assert two.signer() == OLD


def test_root_is_not_an_administrator_of_an_account_that_excludes_it(tmp_path):
    service = KeyService(BINARY, tmp_path, dual_control="{operator: false}").start_with_staged_keys()
    try:
        status, refused = service.change("activate", NEW, **ACTIVATION)
        assert (status, "dualControl: {operator: false}" in refused["detail"]) == (409, True)
        proposal = service.change("activate", NEW, by="ann", **ACTIVATION)[1]["proposal"]["id"]
        assert service.approve(proposal, by=None)[0] == 409
        done(service.approve(proposal, by="ben"))
    finally:
        service.stop()


def test_one_administrator_cannot_fill_the_register(two):
    def propose(number, by="ann", **more):
        return two.admin("POST", "/v1/ceremonies", order(key_id=f"KEY{number}", **more), by=by)[0]

    assert [propose(number, uri="pkcs11:" + "x" * 65000) for number in range(3)] == [409] * 3
    answers = [propose(number) for number in range(12)]
    assert answers == [202] * 8 + [409] * 4
    assert [propose(99, by="ben", fingerprint=uncertain) for uncertain in ("sha256:12", None)] == [422, 422]
    two.stop()
    two.start()
    _, overview = two.admin("GET", "/v1/keys")
    assert len(overview["proposals"]) == 8


def test_a_compromised_key_stays_unpublished_after_its_retirement(service):
    def published():
        return {key["kid"] for key in json.loads(service.ask("GET", "/.well-known/jwks.json")[2])["keys"]}

    done(service.change("compromise", NEW))
    assert NEW not in published()
    done(service.change("retire", NEW, by="ann"))
    assert published() == {OLD, THIRD}
    service.stop()
    service.start()
    assert published() == {OLD, THIRD}
    _, overview = service.admin("GET", f"/v1/keys/{NEW}")
    assert (overview["state"], "compromisedAt" in overview) == ("retired", True)


# The command line


def test_activate_on_the_command_line_prints_the_result_and_the_next_step(service):
    arguments = ["activate", NEW, "--retire", OLD, "--overlap", "24h", "--watch", "5m", "--reason", "Yearly rotation"]
    status, output, errors = service.keys_command(*arguments)
    assert (status, output) == (64, "")
    assert "add --yes" in errors
    assert service.signer() == OLD
    status, output, errors = service.keys_command(*arguments, "--yes")
    assert status == 0, errors
    for part in (
        f"{NEW} has signed a fresh proof of possession",
        f"{NEW} is active since 20",
        f"{OLD} is retiring since 20",
        "By operator.",
        "stops answering at 20",
        "Revoke it in App Store Connect after that",
        f"If {NEW} fails within 5m, {OLD} becomes active again",
        "privyseal audit search --kind life --since 20",
    ):
        assert part in output, output
    assert service.signer() == NEW
    search = output[output.index("privyseal audit search") :].split()[1:]
    found = subprocess.run([BINARY, *search, "--format", "json"], capture_output=True, text=True, timeout=60)
    entries = [json.loads(line)["entry"] for line in found.stdout.splitlines()]
    assert {(entry["key"], entry["to"]) for entry in entries} >= {(NEW, "active"), (OLD, "retiring")}, found

    status, output, _ = service.keys_command("history", OLD)
    assert status == 0
    assert "Yearly rotation" in output
    status, output, _ = service.keys_command("states")
    assert f"Write activeKey: {NEW}." in output
    status, output, _ = service.keys_command("show", OLD, "--format", "json")
    assert json.loads(output)["history"][-1]["reason"] == "Yearly rotation"


def test_the_command_line_makes_every_simple_change(service):
    for command, more, state in [
        ("suspend", [], "suspended"),
        ("resume", [], "staged"),
        ("compromise", ["--yes"], "compromised"),
        ("restore", [], "suspended"),
        ("retire", ["--yes"], "retired"),
    ]:
        status, output, errors = service.keys_command(command, NEW, "--reason", "a try", *more, by="ann")
        assert status == 0, errors
        assert f"{NEW} is {state} since" in output
        assert "By ann." in output
        assert service.states()[NEW] == state
    status, output, _ = service.keys_command("prove", THIRD, "--format", "json")
    assert (status, json.loads(output)["state"]) == (0, "staged")


def test_the_command_line_lists_approves_and_rejects_proposals(two):
    status, output, errors = two.keys_command(
        "activate", NEW, "--retire", OLD, "--overlap", "1h", "--reason", "Rotation", "--yes", by="ann"
    )
    assert status == 0, errors
    assert "Nothing has changed yet" in output
    status, output, _ = two.keys_command("proposals")
    assert f"activate {NEW} and retire {OLD} with 1h of overlap" in output
    shown = dict(line.split(maxsplit=1) for line in output.splitlines())
    proposal, digest = shown["proposal"], shown["digest"]
    assert shown["overlap"] == "3600"
    assert f"privyseal keys approve {proposal} --digest {digest}" in output
    status, output, _ = two.keys_command("states")
    assert "privyseal keys proposals" in output
    status, output, errors = two.keys_command("approve", proposal, by="ben")
    assert (status, "--digest" in errors) == (64, True)
    status, output, errors = two.keys_command("approve", proposal, "--digest", digest, by="ben")
    assert status == 0, errors
    assert "By ann, approved by ben." in output
    assert two.signer() == NEW
    status, output, _ = two.keys_command("compromise", THIRD, "--reason", "a try", "--yes", by="ann")
    assert status == 0
    status, output, _ = two.keys_command("restore", THIRD, "--reason", "a try", "--format", "json", by="ann")
    proposal = json.loads(output)["proposal"]["id"]
    status, output, errors = two.keys_command("reject", proposal)
    assert status == 0, errors
    assert f"The proposal {proposal} is rejected" in output
    assert two.keys_command("proposals")[1] == "There are no proposals.\n"


def test_the_command_line_uses_the_register_directly_while_no_gateway_runs(service):
    service.stop()
    status, output, errors = service.keys_command("suspend", NEW, "--reason", "while nothing runs")
    assert status == 0, errors
    assert "By operator." in output
    status, output, errors = service.keys_command("states", "--format", "json")
    assert status == 0, errors
    service.start()
    assert service.states()[NEW] == "suspended"
    assert register_faults(service) == []


@pytest.mark.parametrize("span", ["24", "h", "-1h", "1.5h", "24 h", "1w", "99999999d", ""])
def test_the_command_line_refuses_an_invalid_overlap(service, span):
    arguments = ["activate", NEW, "--retire", OLD, f"--overlap={span}", "--reason", "a try", "--yes"]
    status, output, errors = service.keys_command(*arguments)
    assert (status, output) == (64, "")
    assert "--overlap" in errors
    assert service.signer() == OLD


def test_the_command_line_refuses_incomplete_arguments(service):
    for arguments, sentence in [
        (["suspend", NEW], "--reason"),
        (["suspend", NEW, "--reason", " "], "--reason must not be blank"),
        (["activate", NEW, "--retire", OLD, "--reason", "a try", "--yes"], "Give --retire and --overlap together"),
        (["retire", NEW, "--reason", "a try"], "add --yes"),
        (["compromise", NEW, "--reason", "a try"], "add --yes"),
    ]:
        status, output, errors = service.keys_command(*arguments)
        assert (status, output) == (64, "")
        assert sentence in errors
    status, _, errors = service.keys_command("show", "0A0A0A0A0A")
    assert status == 1
    assert "There is no key 0A0A0A0A0A." in errors
    assert service.states() == {OLD: "active", NEW: "staged", THIRD: "staged"}


def test_the_command_line_distinguishes_a_stopped_gateway_from_a_refusal(service):
    service.stop()
    status, _, errors = service.keys_command("states", by="ann")
    assert status == 1
    assert f"unix:{service.directory}/admin.sock: no process listens there. Start the gateway, or correct the address." in errors


# Precedence of the register


def test_check_reports_where_configuration_and_register_differ(service):
    status, found = service.check()
    assert (status, found["register"]["status"]) == (0, "seen"), found
    service.activate(NEW, OLD)
    status, found = service.check()
    assert status == 1
    assert len(found["register"]["differences"]) == 1
    assert f"Write activeKey: {NEW}." in found["register"]["differences"][0]
    service.configure(keys=KEY_IDS, active=NEW)
    assert service.reload()[0]
    assert service.check()[0] == 0
    service.configure(keys=(NEW, THIRD), active=NEW)
    assert service.reload()[0]
    status, found = service.check()
    assert status == 1
    assert f"The key {OLD} is retiring in the register" in found["register"]["differences"][0]


def readiness(service):
    """(status, {key ID: state} of the active keys)."""
    status, _, body = service.ask("GET", "/readyz")
    return status, {key["keyId"]: key["state"] for key in json.loads(body)["keys"] if key["active"]}


def test_a_gateway_is_not_ready_and_says_why_if_the_configuration_does_not_name_the_active_key(service):
    assert readiness(service) == (200, {OLD: "ready"})
    service.configure(keys=(NEW, THIRD), active=NEW)
    assert service.reload()[0]
    assert readiness(service) == (503, {OLD: "refused"})
    assert service.metric("privyseal_keys", state="refused") == 1
    status, headers, body = service.sign()
    assert (status, headers["Retry-After"]) == (503, "60"), body
    assert json.loads(body)["detail"] == f"The key {OLD} cannot be used as it is configured."
    sentence = f"The key {OLD} is active in the register, but the configuration does not name it"
    await_(lambda: sentence in service.run("status")[1].decode(), "a warning in the status")
    assert b"NOT READY" in service.run("status")[1]
    # The gateway compares once a second.
    time.sleep(2.5)
    assert service.log.read_text().count(sentence) == 1
    service.configure(keys=KEY_IDS)
    assert service.reload()[0] and readiness(service) == (200, {OLD: "ready"})
    assert service.metric("privyseal_keys", state="refused") == 0


def test_a_gateway_is_not_ready_if_its_active_key_is_compromised_under_another_id(tmp_path):
    keys = KeysInFiles(tmp_path)
    shutil.copy(keys.path(OLD), keys.path(NEW))
    service = KeyService(BINARY, tmp_path, keys).start_with_staged_keys()
    try:
        assert service.change("compromise", NEW)[0] == 200
        assert service.signer() == NONE_IN_USE
        assert readiness(service) == (503, {OLD: "refused"})
    finally:
        service.end()


def test_check_names_the_remedy_for_an_unfinished_job(service):
    done(service.admin("POST", "/v1/ceremonies", order(), by="ann"))
    service.kill()
    service.start()
    status, found = service.check()
    assert status == 1
    sentence = found["register"]["ceremonies"][0]
    assert sentence.startswith("The import of 5A8U7LAJ67 began at 20")
    assert "by ann and did not end" in sentence
    assert "run the same privyseal keys import again" in sentence


def test_the_gateway_refuses_every_key_change_without_an_audit_log(tmp_path):
    service = KeyService(BINARY, tmp_path)
    service.configure(audit="off", keys=(OLD, NEW))
    with service:
        assert service.signer() == OLD
        assert service.sign_by_name(NEW)[0] == 200
        status, answer = service.change("suspend", OLD)
        assert (status, answer["type"]) == (409, CHANGE_REFUSED)
        assert "no audit log, and so no register" in answer["detail"]
        for by in (None, "ann"):
            status, _, errors = service.keys_command("states", by=by)
            assert status == 1
            assert "no register of keys" in errors
        assert service.check()[1]["register"] == {"status": "none"}


# Overlap


def test_a_retiring_key_signs_by_name_until_its_retirement_time_and_not_after_it(service):
    service.activate(NEW, OLD, overlap=2)
    key = next(k for k in done(service.admin("GET", "/v1/keys"))["accounts"][0]["keys"] if k["keyId"] == OLD)
    retire_at = moment(key["retireAt"]).timestamp()
    last = 0
    while True:
        asked = time.time()
        status, answer = service.sign_by_name(OLD)
        if status != 200:
            break
        last = asked
        assert asked < retire_at, "it still answers after its time"
        time.sleep(0.01)
    assert (status, answer["type"]) == (409, NOT_IN_USE)
    assert last > retire_at - 0.5
    await_state(service, OLD, "retired")
    log = AuditCopy(service.database)
    assert late_signatures(log, OLD, key["retireAt"]) == []
    assert changes(log)[-1][1]["action"] == "expire"
    assert service.sign_by_name(NEW)[0] == 200


# Under load


def test_rotations_under_load_cause_no_failure_and_no_wrong_signature(service):
    with KeepingLoad(service, connections=6) as load:
        load.wait_for(50)
        order, times = [NEW, THIRD, OLD] * 3, []
        active = OLD
        for new in order:
            asked = time.monotonic()
            service.activate(new, active)
            times.append(time.monotonic() - asked)
            active = new
            load.wait_for(20, after=time.monotonic())
    assert load.count_by_status() == {200: len(load.answers)}
    assert load.surprises == []
    assert max(times) < 1, times
    assert service.stop() == 0
    log = AuditCopy(service.database)
    assert [entry["key"] for _, entry in changes(log) if entry["action"] == "activate"] == order
    assert wrongly_signed(log) == []
    assert false_signatures(log, load.signed, service.keys.public) == []
    assert everything_wrong(service, load.signed) == []
    print(f"{len(load.answers)} answers, change-over {max(times) * 1000:.0f} ms at most")


@pytest.mark.parametrize("action", ["suspend", "compromise"])
def test_a_stopped_key_signs_nothing(service, action):
    with KeepingLoad(service, connections=4) as load:
        load.wait_for(50)
        answer = done(service.change(action, OLD))
        answered = time.monotonic()
        load.wait_for(20, status=503, after=answered)
    assert [s for _, s, asked in load.answers if asked > answered and s == 200] == []
    instant = answer["keys"][0]["since"]
    assert service.stop() == 0
    # Requests in progress on four connections; a batch has five entries.
    late = late_signatures(AuditCopy(service.database), OLD, instant)
    assert len({entry["requestId"] for entry in late}) <= 4, late


def test_the_old_key_replaces_a_new_key_that_fails(tmp_path):
    token = tmp_path / "token"
    make_token(token, "new", NEW)
    keys = KeysInFiles(tmp_path)
    keys.environment = {"SOFTHSM2_CONF": str(token / "softhsm2.conf")}
    uri = f"pkcs11:token=new;object={NEW}?module-path={SOFTHSM}&pin-source=file:{token}/pin"
    service = KeyService(BINARY, tmp_path, keys, more_of_keys={NEW: uri})
    service.start_with_staged_keys(keys=(OLD, NEW))
    try:
        service.activate(NEW, OLD, watch=60)
        assert service.signer() == NEW
        token.rename(tmp_path / "gone")
        await_(lambda: service.signer() == OLD, lambda: f"the old key signs: {service.states()}", 30)
        assert service.states() == {OLD: "active", NEW: "suspended"}
        actions = [entry["action"] for _, entry in changes(AuditCopy(service.database))]
        assert actions[-2:] == ["revert", "suspend"]
        assert "failed after it was activated" in changes(AuditCopy(service.database))[-1][1]["reason"]
    finally:
        service.stop()


# Kills


def test_state_and_log_agree_after_a_kill_during_an_activation(service):
    chance, count = random.Random(5), 10
    begun = time.monotonic()
    service.activate(NEW, OLD)
    whole, active = time.monotonic() - begun, NEW
    # Random times up to twice the duration of an activation, because the kill must not depend on an event. The first gateway
    # stands still, so that its kill comes before the activation.
    pauses = [0, *(2 * whole * (number + chance.random()) / count for number in range(1, count))]
    for pause in pauses:
        new = NEW if active != NEW else OLD
        with admin_connection(service) as ask:

            def activate():
                # The kill ends the connection, or the answer.
                with contextlib.suppress(OSError, http.client.HTTPException):
                    ask("POST", f"/v1/keys/{new}/activate", {"reason": "a kill", "retiring": active, "overlap": 3600})

            if pause == 0:
                service.process.send_signal(signal.SIGSTOP)
            thread = threading.Thread(target=activate)
            thread.start()
            time.sleep(pause)
            service.kill()
            thread.join()
        service.start()
        assert register_faults(service) == []
        states = service.states()
        now = [key_id for key_id, state in states.items() if state == "active"]
        assert now in ([active], [new])
        assert states[OLD if now == [NEW] else NEW] in ("retiring", "staged")
        assert service.signer() == now[0]
        (active,) = now
    assert service.stop() == 0
    log = AuditCopy(service.database)
    assert wrongly_signed(log) == []
    activations = [entry for _, entry in changes(log) if entry["action"] == "activate" and entry["to"] == "active"]
    # Kills that all come too early, or all too late, test nothing.
    assert 1 < len(activations) <= count, f"{len(activations) - 1} of {count} activations were recorded"
