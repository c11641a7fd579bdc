"""Import and destruction of token keys on the command line, next to a running gateway, with kills in between. After a
kill, token and register agree, or `privyseal check` says what to do."""

import hashlib
import json
import os
import random

import pytest
from auditing import AuditCopy
from conftest import BINARY
from cryptography.hazmat.primitives import serialization
from key_lifecycle import NEW, OLD, THIRD, life
from polling import await_
from running import ISSUER_ID
from service import write_key
from signers import faulty_library
from token_and_gateway import TokenAndGateway, declare, took

KILLS = int(os.environ.get("PRIVYSEAL_KILLS", "5"))


@pytest.fixture
def beside(tmp_path):
    beside = TokenAndGateway(tmp_path)
    yield beside
    beside.service.end()


@pytest.fixture
def faulty(tmp_path):
    """The commands obey the rules of FaultyPKCS11."""
    beside = TokenAndGateway(tmp_path, faulty_library(BINARY))
    took(beside, *beside.import_())
    declare(beside)
    yield beside
    beside.service.end()


def test_the_log_records_the_import_and_the_destruction_of_a_key(beside):
    took(beside, *beside.import_())
    assert beside.objects() == ["Private", "Public"]
    # The gateway has no PIN for that token until the configuration names a key on it.
    assert NEW not in beside.service.states()
    declare(beside)

    def published():
        return {key["kid"] for key in json.loads(beside.service.ask("GET", "/.well-known/jwks.json")[2])["keys"]}

    assert NEW in published()
    entries = [entry for _, entry in life(AuditCopy(beside.service.database)) if entry["action"] == "import"]
    assert [entry["event"] for entry in entries] == ["begun", "reported", "changed", "changed"]
    evidence = entries[2]["evidence"]
    assert evidence["CKA_EXTRACTABLE"] == "false" and evidence["CKA_SENSITIVE"] == "true"
    assert (evidence["seenBy"], evidence["endedBy"]) == ("the gateway", "operator")
    assert evidence["reported.CKA_EXTRACTABLE"] == "false" and "method" not in evidence
    again = beside.run(*beside.import_())
    assert again.returncode == 1 and "already" in again.stderr, again.stderr
    took(beside, *beside.destroy())
    assert beside.objects() == []
    assert beside.service.states()[NEW] == "destroyed"
    assert NEW not in published()
    assert beside.open_work() == []


@pytest.mark.parametrize("action", ["import", "destroy"])
def test_the_same_command_twice_at_the_same_time_ends_like_one(beside, action):
    if action == "destroy":
        took(beside, *beside.import_())
        declare(beside)
    arguments = beside.import_() if action == "import" else beside.destroy()
    both = [beside.popen(beside.command(*arguments)) for _ in range(2)]
    said = [one.communicate(timeout=120)[1] for one in both]
    if all(one.returncode for one in both):
        # Each may have met the work of the other. The same command completes it.
        ended = beside.run(*arguments)
        assert ended.returncode == 0 or "is destroyed already" in ended.stderr, (said, ended.stderr)
    objects = beside.objects()
    if action == "import":
        # Both may have found no public key before they created it. A second one harms nothing.
        assert objects.count("Private") == 1 and set(objects) == {"Private", "Public"}, (objects, said)
        declare(beside)
        took(beside, *beside.destroy())
    assert beside.objects() == [] and beside.service.states()[NEW] == "destroyed", said
    assert beside.open_work() == []


def test_an_import_into_a_token_without_public_key_objects_ends_beside_a_gateway(faulty, tmp_path):
    file = tmp_path / "third.p8"
    faulty.faults.set("C_CreateObject rv=0x13")
    public = write_key(file).public_key()
    into = faulty.uri.replace(f"object={NEW}", f"object={THIRD}")
    ended = faulty.run("import", file, "--into", into, "--key-id", THIRD, "--reason", "a test")
    assert ended.returncode == 0, ended.stderr
    assert (faulty.service.states()[THIRD], faulty.open_work()) == ("staged", [])
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    assert pem.strip() in ended.stdout and "publicKeyFile: " in ended.stdout
    # The command printed it before it reported to the register.
    assert pem.strip() in ended.stderr


def test_the_key_of_a_service_is_destroyed_at_its_configured_place_after_two_administrators_agree(beside, tmp_path):
    write_key(tmp_path / "push.p8")

    def configure(more_keys=""):
        beside.service.configure(more=f"""
services:
  - name: push
    profile: apns
    teamId: ABCDE12345
    dualControl: true
    keys: [{{keyId: PUSHKEY001, uri: "file:{tmp_path}/push.p8"}}{more_keys}]
    activeKey: PUSHKEY001
""")
        done, said = beside.service.reload()
        assert done, said

    def work(*arguments):
        ended = beside.run(*arguments)
        assert ended.returncode == 0, ended.stderr
        (proposal,) = beside.service.admin("GET", "/v1/keys")[1]["proposals"]
        assert proposal["digest"] in ended.stdout + ended.stderr
        assert beside.service.approve(proposal["id"], "ann")[0] in (200, 202)
        took(beside, *arguments)

    configure()
    work("import", beside.file, "--into", beside.uri, "--key-id", NEW, "--issuer", "services/push", "--reason", "a test")
    assert beside.objects() == ["Private", "Public"]
    configure(f', {{keyId: {NEW}, uri: "{beside.uri}"}}')
    beside.await_end()
    work("destroy", NEW, "--reason", "a test")
    assert beside.objects() == [] and beside.service.states()[NEW] == "destroyed"


def test_an_import_keeps_the_file_until_the_gateway_has_seen_the_key(beside):
    # It is the first key on this token, so the gateway cannot look at it yet.
    ended = beside.run(*beside.import_(), "--destroy-file")
    assert ended.returncode == 0, ended.stderr
    assert f"{beside.file} was kept, because the gateway has not seen the key yet." in ended.stderr
    assert beside.file.exists() and beside.objects() == ["Private", "Public"]


def test_the_destruction_of_a_symbolic_link_is_refused_with_the_reason(beside, tmp_path):
    took(beside, *beside.import_())
    declare(beside)
    file, link = tmp_path / "third.p8", tmp_path / "link.p8"
    write_key(file)
    link.symlink_to(file)
    into = beside.uri.replace(f"object={NEW}", f"object={THIRD}")
    ended = beside.run("import", link, "--into", into, "--key-id", THIRD, "--reason", "a test", "--destroy-file")
    assert ended.returncode == 0, ended.stderr
    assert f"{link} is a symbolic link, and was left as it is." in ended.stderr
    assert link.exists() and file.exists()


def test_destroy_refuses_a_wrapping_key(beside, tmp_path):
    took(beside, *beside.import_())
    declare(beside)
    at = beside.uri.replace(f"object={NEW}", "object=WRAPPING")
    made = beside.run_command([BINARY, "keys", "wrapping-key", "--into", at, "--out", tmp_path / "wrapping.pem"])
    assert made.returncode == 0, made.stderr
    before = beside.objects()
    refused = beside.run("destroy", THIRD, "--at", at, "--reason", "a test")
    assert refused.returncode == 1 and "is not an elliptic-curve key" in refused.stderr, refused.stderr
    assert beside.objects() == before and THIRD not in beside.service.states()
    assert beside.open_work() == []


def test_destroy_refuses_a_key_that_still_signs(beside):
    took(beside, *beside.import_())
    declare(beside)
    beside.service.activate(NEW, OLD)
    refused = beside.run(*beside.destroy())
    assert refused.returncode == 1 and "it still signs" in refused.stderr, refused.stderr
    assert beside.objects() == ["Private", "Public"]


def has_open_job(beside, action):
    """Whether the register has a job that began; `check` names the next command then."""
    # In this order, because the gateway may end a job by itself.
    status, seen = beside.service.check()
    work = beside.open_work()
    if work:
        assert work == [(action, NEW)]
        assert status == 1 and f"privyseal keys {action}" in json.dumps(seen), seen
    return work != []


def expect_end(beside, action):
    beside.await_end()
    assert beside.service.states()[NEW] == {"import": "staged", "destroy": "destroyed"}[action]
    assert beside.objects() == (["Private", "Public"] if action == "import" else [])


def test_a_job_whose_command_was_killed_in_the_token_is_completed_by_the_same_command(faulty):
    jobs = {"destroy": (faulty.destroy(), "C_DestroyObject"), "import": (faulty.import_(), "C_UnwrapKey")}
    for action, (arguments, function) in jobs.items():
        faulty.killed_in(function, *arguments)
        assert has_open_job(faulty, action)
        faulty.completed(*arguments)
        expect_end(faulty, action)


def test_token_and_register_agree_after_kills_during_imports_and_destructions(beside):
    chance = random.Random(7)
    whole = took(beside, *beside.import_())
    declare(beside)
    took(beside, *beside.destroy())
    for _ in range(KILLS):
        for action, arguments in (("import", beside.import_()), ("destroy", beside.destroy())):
            # A random time, because the kill must not depend on an event.
            beside.killed(chance.uniform(0, whole * 1.2), *arguments)
            if not has_open_job(beside, action):
                state = beside.service.states()[NEW]
                assert state in ("staged", "destroyed")
                assert (beside.objects() != []) == (state == "staged"), (action, state, beside.open_work())
            beside.completed(*arguments)
            expect_end(beside, action)


def test_a_key_is_removed_again_if_it_was_destroyed_during_its_import(faulty, tmp_path):
    before = faulty.objects()
    write_key(tmp_path / "third.p8")
    into = faulty.uri.replace(f"object={NEW}", f"object={THIRD}")
    go_on = faulty.faults.directory / "go-on"
    faulty.faults.forget()
    faulty.faults.set(f"C_UnwrapKey hang={go_on}")
    order = ("import", tmp_path / "third.p8", "--into", into, "--key-id", THIRD, "--reason", "a test")
    with faulty.popen(faulty.command(*order)) as late:
        try:
            await_(lambda: faulty.faults.count("C_UnwrapKey"), "the import is about to write the key")
            took(faulty, "destroy", THIRD, "--at", into, "--reason", "a test")
        finally:
            go_on.touch()
        said = late.communicate(timeout=60)[1]
    assert late.returncode == 1 and f"{THIRD} was destroyed while this command worked" in said, said
    assert faulty.objects() == before and faulty.open_work() == []
    assert faulty.service.states()[THIRD] == "destroyed"
    assert faulty.service.run("audit", "verify")[0] == 0


def test_a_destruction_cannot_end_while_its_key_exists(beside):
    took(beside, *beside.import_())
    declare(beside)
    order = {"action": "destroy", "issuerId": ISSUER_ID, "keyId": NEW, "reason": "a test"}
    elsewhere = beside.uri.replace(f"object={NEW}", "object=nothing").split("&pin-source")[0]
    status, refused = beside.service.admin("POST", "/v1/ceremonies", order | {"uri": elsewhere})
    assert (status, "The gateway sees no key at" in refused["detail"]) == (409, True)
    uri = beside.uri.split("&pin-source")[0]
    status, begun = beside.service.admin("POST", "/v1/ceremonies", order | {"uri": uri})
    assert status == 200, begun
    end = {"succeeded": True, "evidence": {"objectsLeft": "0"}}
    path = f"/v1/ceremonies/{begun['ceremony']['id']}/finish"
    status, refused = beside.service.admin("POST", path, end)
    assert (status, "still sees a key" in refused["detail"]) == (409, True)
    assert beside.service.states()[NEW] == "staged"
    took(beside, *beside.destroy())
    assert (beside.service.states()[NEW], beside.open_work()) == ("destroyed", [])


def test_a_destruction_cannot_end_if_the_key_only_has_another_name(beside):
    made = beside.tool("--keypairgen", "--key-type", "EC:prime256v1", "--label", NEW, "--id", "01", "--usage-sign")
    assert made.returncode == 0, made.stderr
    declare(beside)
    by_id = beside.uri.replace(f"object={NEW}", "id=%01")
    order = {"action": "destroy", "issuerId": ISSUER_ID, "keyId": NEW, "reason": "a test", "uri": by_id.split("&pin-source")[0]}
    status, begun = beside.service.admin("POST", "/v1/ceremonies", order)
    assert status == 200, begun
    path = f"/v1/ceremonies/{begun['ceremony']['id']}/finish"

    def finish():
        return beside.service.admin("POST", path, {"succeeded": True, "evidence": {"objectsLeft": "0"}})

    for kind in ("privkey", "pubkey"):
        assert beside.tool("--set-id", "77", "--type", kind, "--id", "01").returncode == 0
    status, refused = finish()
    assert (status, f"still sees one at pkcs11:token=store;object={NEW}" in refused["detail"]) == (409, True), refused
    for kind in ("privkey", "pubkey"):
        beside.tool("--delete-object", "--type", kind, "--id", "77")
    status, ended = finish()
    assert (status, ended["state"]) == (200, "destroyed"), ended
    evidence = ended["history"][-1]["evidence"]
    assert (evidence["seenBy"], evidence["reported.objectsLeft"]) == ("the gateway", "0")


def test_a_generation_cannot_end_with_an_imported_key(beside):
    order = {"action": "generate", "issuerId": ISSUER_ID, "keyId": NEW, "reason": "a test"}
    status, begun = beside.service.admin("POST", "/v1/ceremonies", order | {"uri": beside.uri.split("&pin-source")[0]})
    assert status == 200, begun
    key = serialization.load_pem_private_key(beside.file.read_bytes(), None)
    der = beside.directory / "key.der"
    der.write_bytes(
        key.private_bytes(
            serialization.Encoding.DER, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    written = beside.tool("--write-object", der, "--type", "privkey", "--label", NEW, "--id", "01", "--usage-sign")
    assert written.returncode == 0, written.stderr
    point = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    (beside.directory / "public.der").write_bytes(point)
    written = beside.tool("--write-object", beside.directory / "public.der", "--type", "pubkey", "--label", NEW, "--id", "01")
    assert written.returncode == 0, written.stderr
    beside.service.uris[NEW] = beside.uri
    beside.service.configure(keys=(OLD, NEW))
    assert beside.service.reload()[0]
    fingerprint = "sha256:" + hashlib.sha256(point).hexdigest()
    end = {"succeeded": True, "fingerprint": fingerprint, "evidence": {"CKA_LOCAL": "true", "method": "generated"}}
    status, refused = beside.service.admin("POST", f"/v1/ceremonies/{begun['ceremony']['id']}/finish", end)
    assert (status, "was not generated by its token" in refused["detail"]) == (409, True), refused
