"""A key in AWS KMS, as moto simulates it: provisioning, signing, compliance report, throttling, expiring credentials."""

import concurrent.futures
import hashlib
import json
import time

import pytest
from cloud import KEYS, NOWHERE, REGION, STATIC, Container, Instance, TokenService, client, make_key, public_key
from conftest import KEY_ID
from cryptography.hazmat.primitives import serialization
from given_keys import SigningGateway, configuration, run
from moto.core import DEFAULT_ACCOUNT_ID
from polling import await_
from service import mint, write_key


class Gateway(SigningGateway):
    has_audit = True

    def load(self, count=50, seconds=0, workers=8):
        """Signs on several connections, this often and for this time: the statuses of all answers."""
        end, statuses = time.monotonic() + seconds, []

        def work():
            while len(statuses) < count or time.monotonic() < end:
                status, answer = self.sign()
                statuses.append(status if status == 200 else (status, answer))

        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for worker in [pool.submit(work) for _ in range(workers)]:
                worker.result()
        return statuses


def check(tmp_path, uri, environment):
    """The result of `privyseal check` for one key: (state, custody, reason)."""
    path = tmp_path / "check.yaml"
    path.write_text(configuration({KEY_ID: uri}, mint(), tmp_path))
    ended = run(environment, "check", "--config", path, "--format", "json")
    assert ended.stdout, ended.stderr
    key = json.loads(ended.stdout)["keys"][0]
    return key["state"], key.get("custody"), key.get("reason", "")


# Keys


def test_a_gateway_signs_with_a_key_of_kms_by_its_alias_its_id_and_its_arn(tmp_path, kms):
    made = make_key(kms)
    arn = client(kms).describe_key(KeyId=made)["KeyMetadata"]["Arn"]
    for name in ("alias/appstore", made, f"key/{made}"):
        assert check(tmp_path, kms.uri(name), STATIC) == ("ready", "service", "")
    uri = f"awskms:{arn}?endpoint={kms.origin}"
    assert check(tmp_path, uri, STATIC) == ("ready", "service", "")
    with Gateway(tmp_path, {KEY_ID: uri}, STATIC) as gateway:
        gateway.expect_signature(public_key(kms))
    assert kms.refused == []


def test_a_key_that_cannot_sign_is_refused_with_the_remedy(tmp_path, kms):
    make_key(kms, "alias/rsa", "RSA_2048")
    made = make_key(kms)
    assert "RSA_2048" in check(tmp_path, kms.uri("alias/rsa"), STATIC)[2]
    state, _, reason = check(tmp_path, kms.uri("alias/none"), STATIC)
    assert state == "down" and "Check the region" in reason
    client(kms).disable_key(KeyId=made)
    state, _, reason = check(tmp_path, kms.uri("alias/appstore"), STATIC)
    assert state == "down" and "aws kms enable-key" in reason
    client(kms).schedule_key_deletion(KeyId=made)
    state, _, reason = check(tmp_path, kms.uri("alias/appstore"), STATIC)
    assert state == "refused" and "cancel-key-deletion" in reason
    state, _, reason = check(tmp_path, kms.uri("alias/appstore"), {**STATIC, "AWS_SECRET_ACCESS_KEY": "wrong"})
    assert state == "down" and "InvalidSignatureException" in reason and "wrong" not in reason
    state, _, reason = check(tmp_path, kms.uri("alias/appstore"), NOWHERE)
    assert state == "down" and "There are no AWS credentials" in reason


def test_a_key_is_generated_reported_and_destroyed_beside_a_gateway(tmp_path, kms):
    first, new = "3Y8S5JYG45", KEY_ID
    write_key(tmp_path / "first.p8")
    uris = {first: f"file:{tmp_path}/first.p8"}
    gateway = Gateway(tmp_path, uris, STATIC)
    config = ["--config", gateway.configuration, "--yes"]
    with gateway:
        # The location without a key: the alias becomes the key's ID.
        made = run(STATIC, "keys", "generate", "--into", kms.uri(), "--key-id", new, "--format", "json", *config)
        assert made.returncode == 0, made.stderr
        answer = json.loads(made.stdout)
        assert answer["method"] == "generated" and answer["attributes"]["Origin"] == "AWS_KMS"
        assert answer["uri"] == kms.uri(f"alias/{new}") and answer["outcome"] == "waiting"
        uris[new] = answer["uri"]
        gateway.configuration.write_text(configuration(uris, gateway.token, tmp_path))
        done, said = gateway.reload()
        assert done, said
        await_(lambda: overview(gateway)["ceremonies"] == [], "the gateway sees the new key")
        assert states(gateway)[new] == "staged"

        report = run(STATIC, "compliance", "report", "--config", gateway.configuration, "--format", "json")
        (found,) = [key for key in json.loads(report.stdout)["report"]["keys"] if key["keyId"] == new]
        checks = {check["id"]: check for check in found["checks"]}
        assert (checks["kms.origin"]["result"], checks["kms.origin"]["value"]) == ("pass", "AWS_KMS")
        assert (checks["kms.state"]["result"], checks["kms.state"]["value"]) == ("pass", "Enabled")
        assert checks["usage.signOnly"]["result"] == "pass" and checks["selftest.pairwise"]["result"] == "pass"
        # The endpoint is not AWS's, so the report does not say that the key is in hardware.
        assert checks["custody"]["result"] == "unavailable"

        gone = run(STATIC, "keys", "destroy", new, "--format", "json", *config)
        assert gone.returncode == 0, gone.stderr
        assert "an administrator of the account can cancel the deletion" in json.loads(gone.stdout)["remainder"]
        assert states(gateway)[new] == "destroyed"
    assert client(kms).describe_key(KeyId=f"alias/{new}")["KeyMetadata"]["KeyState"] == "PendingDeletion"
    assert kms.refused == []


@pytest.mark.parametrize("is_wrapped", [True, False], ids=["package", "plain"])
def test_an_imported_key_signs_and_its_destruction_deletes_the_material(tmp_path, kms, is_wrapped):
    first, new = "3Y8S5JYG45", KEY_ID
    write_key(tmp_path / "first.p8")
    source, wrapping, package = tmp_path / "new.p8", tmp_path / "wrapping.pem", tmp_path / "new.wrapped"
    key = write_key(source)
    uris = {first: f"file:{tmp_path}/first.p8"}
    into = kms.uri("alias/appstore")
    what = [source]
    if is_wrapped:
        made = run(STATIC, "keys", "wrapping-key", "--into", into, "--out", wrapping, "--format", "json")
        assert made.returncode == 0 and json.loads(made.stdout)["hash"] == "SHA-256", made.stderr
        # The machine with the .p8 needs neither a network nor credentials.
        wrapped = run(NOWHERE, "keys", "wrap", source, "--for", wrapping, "--out", package)
        assert wrapped.returncode == 0, wrapped.stderr
        source.unlink()
        der = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        what = ["--wrapped", package, "--fingerprint", "sha256:" + hashlib.sha256(der).hexdigest()]
    with Gateway(tmp_path, uris, STATIC) as gateway:
        config = ["--config", gateway.configuration, "--yes"]
        ended = run(
            STATIC, "keys", "import", *what, "--into", into, "--key-id", new, "--format", "json", *config)
        assert ended.returncode == 0, ended.stderr
        answer = json.loads(ended.stdout)
        assert answer["method"] == ("unwrapped-package" if is_wrapped else "unwrapped")
        assert answer["attributes"]["Origin"] == "EXTERNAL"
        uris[new] = into
        gateway.configuration.write_text(configuration(uris, gateway.token, tmp_path))
        assert gateway.reload()[0]
        await_(lambda: overview(gateway)["ceremonies"] == [], "the gateway sees the new key")
        assert client(kms).describe_key(KeyId="alias/appstore")["KeyMetadata"]["Description"] == "PrivySeal signing key"
        gone = run(STATIC, "keys", "destroy", new, *config)
        assert gone.returncode == 0, gone.stderr
        assert "The imported key material is deleted" in gone.stderr
        assert states(gateway)[new] == "destroyed"
    assert kms.refused == []


def overview(gateway):
    status, _, answer = gateway.ask("GET", "/v1/keys", listener="admin")
    assert status == 200, answer
    return json.loads(answer)


def states(gateway):
    return {key["keyId"]: key["state"] for account in overview(gateway)["accounts"] for key in account["keys"]}


# Faults


def test_throttled_calls_are_repeated_and_no_request_fails(tmp_path, kms):
    make_key(kms)
    with Gateway(tmp_path, {KEY_ID: kms.uri("alias/appstore")}, STATIC) as gateway:
        gateway.expect_signature(public_key(kms))
        kms.throttling = 0.3
        statuses = gateway.load()
        kms.throttling = 0
        assert [status for status in statuses if status != 200] == [] and kms.injected
        # With every call throttled, the answer comes within the timeout, and the key serves again at once.
        kms.throttling = 1
        begun = time.monotonic()
        assert gateway.sign()[0] == 503 and time.monotonic() - begun < 5
        kms.throttling = 0
        gateway.expect_signature(public_key(kms))


def test_the_gateway_recovers_from_an_outage_of_kms(tmp_path, kms):
    make_key(kms)
    with Gateway(tmp_path, {KEY_ID: kms.uri("alias/appstore")}, STATIC) as gateway:
        gateway.expect_signature(public_key(kms))
        kms.is_down = True
        status, answer = gateway.sign()
        assert status == 503 and "key-unavailable" in answer["type"], answer
        kms.is_down = False
        await_(lambda: gateway.sign()[0] == 200, "the gateway signs again", 10)


def test_credentials_expire_during_a_run_and_no_request_fails(tmp_path, kms):
    make_key(kms)
    with Container(kms, 2) as container:
        environment = container.environment(tmp_path)
        with Gateway(tmp_path, {KEY_ID: kms.uri("alias/appstore")}, environment) as gateway:
            statuses = gateway.load(seconds=5)
        assert set(statuses) == {200}, statuses
        # The first ones have expired twice, and no request asks for its own.
        assert 3 <= container.count <= 20
        log = gateway.log.read_text()
        for secret, token, _ in kms.issued.values():
            assert secret not in log and (token is None or token not in log)


def test_revoked_credentials_are_replaced_without_a_failed_request(tmp_path, kms):
    make_key(kms)
    with Container(kms, 3600) as container:
        environment = container.environment(tmp_path)
        with Gateway(tmp_path, {KEY_ID: kms.uri("alias/appstore")}, environment) as gateway:
            gateway.expect_signature(public_key(kms))
            for access in list(kms.issued):
                if access != KEYS[0]:
                    kms.issued[access] = (*kms.issued[access][:2], 0)
            gateway.expect_signature(public_key(kms))
        assert container.count == 2


def test_credentials_come_from_a_profile_and_from_instance_metadata(tmp_path, kms):
    make_key(kms)
    (tmp_path / "credentials").write_text(
        f"[gateway]\naws_access_key_id = {KEYS[0]}\naws_secret_access_key = {KEYS[1]}\n")
    profile = {**NOWHERE, "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"), "AWS_PROFILE": "gateway"}
    assert check(tmp_path, kms.uri("alias/appstore"), profile) == ("ready", "service", "")
    # Without an endpoint in the URI, AWS's variable counts.
    variable = {**STATIC, "AWS_ENDPOINT_URL_KMS": kms.origin}
    assert check(tmp_path, f"awskms:{REGION}/alias/appstore", variable) == ("ready", "service", "")
    with Instance(kms) as instance:
        assert check(tmp_path, kms.uri("alias/appstore"), instance.environment) == ("ready", "service", "")


def test_a_web_identity_and_a_profile_are_exchanged_for_a_role(tmp_path, kms):
    make_key(kms)
    role = f"arn:aws:iam::{DEFAULT_ACCOUNT_ID}:role/gateway"
    (tmp_path / "token").write_text("header.payload.signature")
    with TokenService(kms) as sts:
        environment = {**NOWHERE, "AWS_ENDPOINT_URL_STS": sts.origin}
        web = {**environment, "AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token"), "AWS_ROLE_ARN": role}
        assert check(tmp_path, kms.uri("alias/appstore"), web) == ("ready", "service", "")
        call, authorization = sts.calls.pop()
        assert (call["Action"], call["RoleArn"], authorization) == ("AssumeRoleWithWebIdentity", role, None)
        (tmp_path / "config").write_text(
            f"[default]\nrole_arn = {role}\nsource_profile = base\n"
            f"[profile base]\naws_access_key_id = {KEYS[0]}\naws_secret_access_key = {KEYS[1]}\n")
        profile = {**environment, "AWS_CONFIG_FILE": str(tmp_path / "config")}
        assert check(tmp_path, kms.uri("alias/appstore"), profile) == ("ready", "service", "")
        call, authorization = sts.calls.pop()
        assert call["Action"] == "AssumeRole" and f"Credential={KEYS[0]}/" in authorization
    assert kms.refused == []


def test_questions_for_readiness_make_no_proofs(tmp_path, kms):
    make_key(kms)
    with Gateway(tmp_path, {KEY_ID: kms.uri("alias/appstore")}, STATIC) as gateway:
        gateway.expect_signature(public_key(kms))
        before = kms.calls.count("Sign")
        for _ in range(2):
            # A result is fresh for a second.
            time.sleep(1.1)
            assert gateway.ask("GET", "/readyz")[0] == 200
        assert kms.calls.count("Sign") == before
