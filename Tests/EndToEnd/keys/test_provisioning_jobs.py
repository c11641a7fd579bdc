"""Import and destruction of token keys on the command line, next to a running gateway, with kills in between. After a
kill, token and register agree, or `privyseal check` says what to do."""

import contextlib
import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess

import auditing
import pytest
from auditing import AuditCopy
from conftest import BINARY
from cryptography.hazmat.primitives import serialization
from key_lifecycle import NEW, THIRD, life
from running import ISSUER_ID
from service import write_key
from signers import faulty_library
from token_and_gateway import TokenAndGateway, declare, keys_first, took

KILLS = int(os.environ.get("PRIVYSEAL_KILLS", "5"))


@pytest.fixture
def beside(tmp_path):
    beside = TokenAndGateway(tmp_path)
    yield beside
    if beside.service.process.poll() is None:
        beside.service.stop()


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
    both = [
        subprocess.Popen(
            beside.command(*arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **beside.environment})
        for _ in range(2)
    ]  # fmt: skip
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


def test_an_import_into_a_token_without_public_key_objects_ends_beside_a_gateway(tmp_path):
    beside = TokenAndGateway(tmp_path, faulty_library(BINARY))
    try:
        took(beside, *beside.import_())
        declare(beside)
        rules, file = tmp_path / "rules", tmp_path / "third.p8"
        rules.write_text("C_CreateObject rv=0x13\n")
        public = write_key(file).public_key()
        # Only for the commands: the gateway has its own environment.
        beside.environment["FAULTY_PKCS11_RULES"] = str(rules)
        into = beside.uri.replace(f"object={NEW}", f"object={THIRD}")
        ended = beside.run("import", file, "--into", into, "--key-id", THIRD, "--reason", "a test")
        assert ended.returncode == 0, ended.stderr
        assert (beside.service.states()[THIRD], beside.open_work()) == ("staged", [])
        pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
        assert pem.strip() in ended.stdout and "publicKeyFile: " in ended.stdout
        # The command printed it before it reported to the register.
        assert pem.strip() in ended.stderr
    finally:
        beside.service.stop()


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
    subprocess.run(
        [BINARY, "keys", "wrapping-key", "--into", at, "--out", tmp_path / "wrapping.pem"],
        env={**os.environ, **beside.environment}, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    before = beside.objects()
    refused = beside.run("destroy", THIRD, "--at", at, "--reason", "a test")
    assert refused.returncode == 1 and "is not an elliptic-curve key" in refused.stderr, refused.stderr
    assert beside.objects() == before and THIRD not in beside.service.states()
    assert beside.open_work() == []


def test_destroy_refuses_a_key_that_still_signs(beside):
    took(beside, *beside.import_())
    declare(beside)
    beside.service.activate(NEW, keys_first())
    refused = beside.run(*beside.destroy())
    assert refused.returncode == 1 and "it still signs" in refused.stderr, refused.stderr
    assert beside.objects() == ["Private", "Public"]


def test_token_and_register_agree_after_kills_during_imports_and_destructions(beside):
    chance = random.Random(7)
    whole = took(beside, *beside.import_())
    declare(beside)
    took(beside, *beside.destroy())
    found = {"import": set(), "destroy": set()}
    for _ in range(KILLS):
        for action, arguments in (("import", beside.import_()), ("destroy", beside.destroy())):
            # A random time, because the kill must not depend on an event.
            beside.killed(chance.uniform(0, whole * 1.2), *arguments)
            status, seen = beside.service.check()
            work = beside.open_work()
            if work:
                # The register has the job that began, and `check` names the next command.
                assert work == [(action, NEW)]
                assert status == 1 and f"privyseal keys {action}" in json.dumps(seen), seen
                found[action].add("begun")
            else:
                state = beside.service.states()[NEW]
                expected = {"import": ("staged", "destroyed"), "destroy": ("destroyed", "staged")}[action]
                assert state in expected
                assert (beside.objects() != []) == (state == "staged"), (action, state, beside.open_work(), seen)
                found[action].add(state)
            ended = beside.run(*arguments)
            for _ in range(3):
                # SoftHSM sometimes fails on empty files that the kill left. The command then reports the failure and is
                # repeated. While the gateway searches for its key, its SoftHSM may list a private key before its public
                # key.
                if ended.returncode == 0 or "already" in ended.stderr:
                    break
                assert "CKR_" in ended.stderr or "neither a public key" in ended.stderr, ended.stderr
                found[action].add("stumbled")
                ended = beside.run(*arguments)
            assert ended.returncode == 0 or "already" in ended.stderr, ended.stdout + ended.stderr
            # The gateway may notice the key a moment later.
            auditing.await_(lambda: beside.open_work() == [], "the end of the work")
            assert beside.service.states()[NEW] == {"import": "staged", "destroy": "destroyed"}[action]
            assert beside.objects() == (["Private", "Public"] if action == "import" else [])
    print(found)


def test_a_key_is_removed_again_if_it_was_destroyed_during_its_import(beside, tmp_path):
    took(beside, *beside.import_())
    declare(beside)
    before = beside.objects()
    write_key(tmp_path / "third.p8")
    into = beside.uri.replace(f"object={NEW}", f"object={THIRD}")
    order = ("import", tmp_path / "third.p8", "--into", into, "--key-id", THIRD, "--reason", "a test")
    late = subprocess.Popen(
        beside.command(*order), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **beside.environment})  # fmt: skip
    # Before the command goes on to write the key: the register is read without the gateway, which takes longer.
    with contextlib.closing(sqlite3.connect(f"file:{beside.service.database}?mode=ro", uri=True)) as log:
        while not log.execute("SELECT 1 FROM register WHERE name = 'ceremonies' AND instr(value, ?)", (THIRD,)).fetchall():
            assert late.poll() is None, late.communicate()
    late.send_signal(signal.SIGSTOP)
    try:
        took(beside, "destroy", THIRD, "--at", into, "--reason", "a test")
    finally:
        late.send_signal(signal.SIGCONT)
    said = late.communicate(timeout=60)[1]
    assert late.returncode == 1 and f"{THIRD} was destroyed while this command worked" in said, said
    assert beside.objects() == before and beside.open_work() == []
    assert beside.service.states()[THIRD] == "destroyed"
    assert beside.service.run("audit", "verify")[0] == 0


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
    beside.service.configure(keys=(keys_first(), NEW))
    assert beside.service.reload()[0]
    fingerprint = "sha256:" + hashlib.sha256(point).hexdigest()
    end = {"succeeded": True, "fingerprint": fingerprint, "evidence": {"CKA_LOCAL": "true", "method": "generated"}}
    status, refused = beside.service.admin("POST", f"/v1/ceremonies/{begun['ceremony']['id']}/finish", end)
    assert (status, "was not generated by its token" in refused["detail"]) == (409, True), refused
