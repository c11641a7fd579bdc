"""Import and destruction of token keys on the command line, next to a running gateway, with kills in between. After a
kill, token and register agree, or `privyseal check` says what to do."""

import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import time

import auditing
import pytest
from auditing import AuditCopy
from conftest import BINARY, ROOT
from cryptography.hazmat.primitives import serialization
from key_life import NEW, THIRD, KeysInFiles, KeyService, life
from running import ISSUER_ID
from service import write_key

MODULE = "/usr/lib/softhsm/libsofthsm2.so"
KILLS = int(os.environ.get("PRIVYSEAL_KILLS", "5"))


class TokenBeside:
    """An empty SoftHSM token, and a gateway with a key in a file."""

    def __init__(self, directory, module=MODULE):
        self.directory = directory
        self.module = module
        self.token = directory / "token"
        make = [ROOT / "softhsm-config" / "make-token", "--directory", self.token, "--token", "store", "--key-label", "x"]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        self.environment = {"SOFTHSM2_CONF": str(self.token / "softhsm2.conf"), "FAULTY_PKCS11_TARGET": MODULE}
        for kind in ("privkey", "pubkey"):
            self.tool("--delete-object", "--type", kind, "--label", "x")
        keys = KeysInFiles(directory)
        keys.environment = self.environment
        self.service = KeyService(BINARY, directory, keys)
        self.service.start_with_staged_keys(keys=(keys_first(),))
        self.file = directory / "incoming.p8"
        self.public = write_key(self.file).public_key()

    @property
    def uri(self):
        return f"pkcs11:token=store;object={NEW}?module-path={self.module}&pin-source=file:{self.token}/pin"

    def tool(self, *arguments):
        pin = (self.token / "pin").read_text().strip()
        command = ["pkcs11-tool", "--module", MODULE, "--token-label", "store", "--login", "--pin", "env:PIN", *arguments]
        environment = {**os.environ, **self.environment, "PIN": pin}
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)

    def objects(self):
        """The kinds of the objects with the key's label."""
        kinds, kind = [], None
        for _ in range(5):
            listed = self.tool("--list-objects")
            if listed.returncode == 0:
                break
            # SoftHSM fails while the files of a token are being replaced, and on files that a kill left empty.
            time.sleep(0.2)
        assert listed.returncode == 0, listed.stderr
        for line in listed.stdout.splitlines():
            if " Object" in line:
                kind = line.split(" Key")[0].strip() if " Key" in line else line.split(" Object")[0].strip()
            if line.strip().startswith("label:") and NEW in line:
                kinds.append(kind)
        return sorted(kinds)

    def command(self, *arguments):
        return [BINARY, "keys", *map(str, arguments), "--config", str(self.service.configuration), "--yes"]

    def run(self, *arguments):
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL, timeout=120,
        )

    def killed(self, after, *arguments):
        """Starts a command and kills it after this time in seconds."""
        # SoftHSM rewrites this file at each login. A kill between truncation and write would destroy the token.
        (description,) = (self.token / "tokens").glob("*/token.object")
        whole = description.read_bytes()
        with subprocess.Popen(
            self.command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
            env={**os.environ, **self.environment},
        ) as process:
            time.sleep(after)
            process.send_signal(signal.SIGKILL)
            status = process.wait()
        if description.stat().st_size < len(whole):
            description.write_bytes(whole)
        return status

    def import_(self):
        return ("import", self.file, "--into", self.uri, "--key-id", NEW, "--reason", "a test")

    def destroy(self):
        return ("destroy", NEW, "--reason", "a test")

    def open_work(self):
        status, overview = self.service.admin("GET", "/v1/keys")
        assert status == 200, overview
        return [(work["action"], work["keyId"]) for work in overview["ceremonies"]]


def keys_first():
    return "2X9R4HXF34"


@pytest.fixture
def beside(tmp_path):
    beside = TokenBeside(tmp_path)
    yield beside
    if beside.service.process.poll() is None:
        beside.service.stop()


def took(beside, *arguments):
    begun = time.monotonic()
    ended = beside.run(*arguments)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return time.monotonic() - begun


def declare(beside):
    """Adds the key to the configuration, as a destruction requires."""
    beside.service.uris[NEW] = beside.uri
    beside.service.configure(keys=(keys_first(), NEW))
    done, said = beside.service.reload()
    assert done, said
    # The gateway finds the key and ends the job.
    auditing.await_(lambda: beside.open_work() == [], "the end of the import")
    assert beside.service.states()[NEW] == "staged"


def test_the_log_records_the_import_and_the_destruction_of_a_key(beside):
    took(beside, *beside.import_())
    assert beside.objects() == ["Private", "Public"]
    # The gateway has no PIN for that token until the configuration names a key on it.
    assert NEW not in beside.service.states()
    declare(beside)
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
    assert beside.open_work() == []


def test_an_import_into_a_token_without_public_key_objects_ends_beside_a_gateway(tmp_path):
    faulty = os.environ.get("PRIVYSEAL_FAULTY") or str(pathlib.Path(BINARY).resolve().parent / "libFaultyPKCS11.so")
    beside = TokenBeside(tmp_path, faulty)
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
    assert (status, "was not made by its token" in refused["detail"]) == (409, True), refused
