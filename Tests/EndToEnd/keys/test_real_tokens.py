"""Keys on tokens of other projects, and faulty modules."""

import hashlib
import json

import pytest
from conftest import BINARY, BUNDLE_ID, KEY_ID
from cryptography.hazmat.primitives import serialization
from given_keys import SigningGateway, configuration, run
from polling import await_
from real_tokens import LIBRARIES, NSS, SOFTHSM, TPM, P11KitServer, SoftHSMToken
from service import Service, mint, write_key
from signers import faulty_library

OTHER_KEY_ID = "2X9R4HXF35"


def check(tmp_path, uri, environment=()):
    """The result of `privyseal check` for one key: (state, reason)."""
    path = tmp_path / "check.yaml"
    path.write_text(configuration({KEY_ID: uri}, mint()))
    ended = run(dict(environment), "check", "--config", path, "--format", "json")
    assert ended.stdout, ended.stderr
    return found(json.loads(ended.stdout))


def found(answer):
    key = answer["keys"][0]
    return key["state"], key.get("reason", "")


# Keys on real tokens


@pytest.mark.parametrize("kind", [SoftHSMToken, P11KitServer], ids=["softhsm", "p11-kit-server"])
def test_a_gateway_signs_with_a_key_generated_by_the_token(tmp_path, kind):
    with kind() as token, SigningGateway(tmp_path, {KEY_ID: token.uri("KEY")}, token.environment) as gateway:
        gateway.expect_signature(token.public_key("KEY"))


def test_a_gateway_signs_with_a_generated_and_an_imported_key_of_a_tpm(tmp_path):
    with TPM() as tpm:
        state, reason = check(tmp_path, tpm.uri("IMPORTED"), tpm.environment)
        assert state == "refused" and "CKA_EXTRACTABLE is true" in reason
        tpm.make_unextractable()
        keys = [(tpm.uri("MADE"), tpm.public_key("MADE")), (tpm.uri("IMPORTED"), tpm.imported)]
        for uri, public_key in keys:
            with SigningGateway(tmp_path, {KEY_ID: uri}, tpm.environment) as gateway:
                gateway.expect_signature(public_key)


@pytest.mark.parametrize("kind, label", [(TPM, "MADE"), (P11KitServer, "KEY")], ids=["tpm2-abrmd", "p11-kit-server"])
def test_a_gateway_signs_again_after_a_restart_of_the_token_service(tmp_path, kind, label):
    with kind() as token, SigningGateway(tmp_path, {KEY_ID: token.uri(label)}, token.environment) as gateway:
        public_key = token.public_key(label)
        gateway.expect_signature(public_key)
        token.stop_serving()
        status, answer = gateway.sign()
        assert status == 503, answer
        token.serve()
        await_(lambda: gateway.sign()[0] == 200, "the gateway signs again", 60)
        gateway.expect_signature(public_key)


def test_an_import_into_a_tpm_is_refused_before_anything_is_sent(tmp_path):
    with TPM() as tpm:
        ended = import_key(tmp_path, tpm, "NEW")
        assert ended.returncode == 1, ended.stdout
        assert "cannot import the key in wrapped form" in ended.stderr and "--allow-clear-import" in ended.stderr, ended.stderr
        # tpm2-pkcs11 creates no private key from a template.
        ended = import_key(tmp_path, tpm, "NEW", "--allow-clear-import")
        assert ended.returncode == 1 and "C_CreateObject answered" in ended.stderr, ended.stderr
        assert b"NEW" not in tpm.tool("tpm2_ptool", "listobjects", "--label", tpm.label)


def test_a_gateway_signs_with_a_module_that_needs_arguments(tmp_path):
    # NSS generates extractable keys.
    settings = "backends: {pkcs11: {allowUnprotectedKeys: true}}\n"
    with NSS() as nss, SigningGateway(tmp_path, {KEY_ID: nss.uri()}, nss.environment, settings) as gateway:
        gateway.expect_signature(nss.made)


def test_an_imported_wrapped_key_signs(tmp_path):
    with SoftHSMToken() as token:
        expect_import(tmp_path, token, "unwrapped")


def test_an_import_in_the_clear_requires_allow_clear_import(tmp_path):
    # p11-kit's protocol has no mechanism for unwrapping.
    with P11KitServer() as token:
        ended = import_key(tmp_path, token, "NEW")
        assert ended.returncode == 1, ended.stdout
        assert "Nothing was sent to it" in ended.stderr and "--allow-clear-import" in ended.stderr, ended.stderr
        expect_import(tmp_path, token, "created", "--allow-clear-import")


def expect_import(tmp_path, token, method, *more):
    ended = import_key(tmp_path, token, "NEW", "--format", "json", *more)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["method"] == method
    with SigningGateway(tmp_path, {KEY_ID: token.uri("NEW")}, token.environment) as gateway:
        gateway.expect_signature(public_key(tmp_path / "new.p8"))


def test_a_package_for_a_token_with_sha_256_uses_sha_256(tmp_path):
    with NSS() as nss:
        wrapping, package, source = tmp_path / "wrapping.pem", tmp_path / "new.wrapped", tmp_path / "new.p8"
        write_key(source)
        made = run({}, "keys", "wrapping-key", "--into", nss.uri("WRAPPING"), "--out", wrapping, "--format", "json")
        assert made.returncode == 0, made.stderr
        assert json.loads(made.stdout)["hash"] == "SHA-256"
        # Other programs read only the key from the file.
        der = serialization.load_pem_public_key(wrapping.read_bytes()).public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        assert json.loads(made.stdout)["fingerprint"] == f"sha256:{hashlib.sha256(der).hexdigest()}"
        wrapped = run({}, "keys", "wrap", source, "--for", wrapping, "--out", package)
        assert wrapped.returncode == 0, wrapped.stderr
        assert json.loads(package.read_text())["algorithm"] == "RSA-OAEP-SHA256+AES-256-KWP"
        ended = import_key(tmp_path, nss, "NEW", wrapped=package)
        assert "The token unwrapped the package's AES key." in ended.stderr, ended.stderr


def public_key(path):
    return serialization.load_pem_private_key(path.read_bytes(), None).public_key()


def fingerprint(path):
    der = public_key(path).public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return f"sha256:{hashlib.sha256(der).hexdigest()}"


def import_key(tmp_path, token, label, *more, wrapped=None):
    """`privyseal keys import` while the gateway does not run."""
    first, source, path = tmp_path / "first.p8", tmp_path / "new.p8", tmp_path / "import.yaml"
    for file in (first, source):
        if not file.exists():
            write_key(file)
    path.write_text(configuration({OTHER_KEY_ID: f"file:{first}"}, mint(), tmp_path))
    # The gateway creates the log and adopts its keys.
    if not (tmp_path / "audit.db").exists():
        Service(BINARY, tmp_path, path.read_text()).start().stop()
    what = ["--wrapped", wrapped] if wrapped else [source]
    return run(
        token.environment, "keys", "import", *what, "--fingerprint", fingerprint(source), "--into", token.uri(label),
        "--key-id", KEY_ID, "--config", path, "--yes", *more,
    )


# Faulty modules


def test_an_answer_does_not_contain_what_a_module_prints(tmp_path):
    with SoftHSMToken() as token:
        rules = tmp_path / "rules"
        rules.write_text("C_Initialize print=noise\nC_Sign print=noise\nC_Finalize print=noise\n")
        environment = {**token.environment, "FAULTY_PKCS11_TARGET": SOFTHSM, "FAULTY_PKCS11_RULES": str(rules)}
        token.module = faulty_library(BINARY)
        path = tmp_path / "gateway.yaml"
        path.write_text(configuration({KEY_ID: token.uri("KEY")}, mint()))
        for command in (["check"], ["keys", "list"]):
            ended = run(environment, *command, "--config", path, "--format", "json")
            assert ended.returncode == 0, ended.stderr
            assert isinstance(json.loads(ended.stdout), (dict, list))
            assert "noise" in ended.stderr
        signed = run(
            environment, "sign", "promotional-offer", "--config", path, "--app", BUNDLE_ID, "productId=monthly",
            "offerIdentifier=winback")
        assert signed.returncode == 0, signed.stderr
        assert json.loads(signed.stdout)["jws"]


def test_keys_commands_log_in_as_the_configured_or_given_user_type(tmp_path):
    with SoftHSMToken() as token:
        # A signer may not use files that appear beside the gateway's own ones.
        (tmp_path / "module").mkdir()
        calls, path = tmp_path / "module" / "calls", tmp_path / "gateway.yaml"
        environment = {**token.environment, "FAULTY_PKCS11_TARGET": SOFTHSM, "FAULTY_PKCS11_CALLS": str(calls)}
        token.module = faulty_library(BINARY)
        settings = "backends: {pkcs11: {userType: 2147483649}}\n"
        path.write_text(configuration({KEY_ID: token.uri("KEY")}, mint(), tmp_path, settings))
        generate = ["generate", "--into", token.uri("NEW"), "--key-id", OTHER_KEY_ID, "--config", path, "--yes"]
        destroy = ["destroy", KEY_ID, "--config", path, "--yes"]
        wrap = ["wrapping-key", "--into", token.uri("WRAP"), "--out", tmp_path / "wrapping.pem"]
        for command, user in (
            (generate, "0x80000001"), (destroy, "0x80000001"), ([*generate, "--user-type", "1"], "0x1"),
            ([*wrap, "--user-type", "2147483649"], "0x80000001"),
        ):
            calls.unlink(missing_ok=True)
            ended = run(environment, "keys", *command)
            logins = [line for line in calls.read_text().splitlines() if line.startswith("login")]
            assert logins == [f"login user={user} pin=given rv=0x0"], (command[0], ended.stderr)


def test_the_gateway_finds_a_module_by_its_p11_kit_name(tmp_path):
    with SoftHSMToken() as token:
        assert check(tmp_path, token.uri("KEY", "module-name=softhsm2"), token.environment)[0] == "ready"


@pytest.mark.parametrize(
    "where, expected",
    [
        ("module-name=p11-kit-proxy", "p11-kit list-modules"),
        (f"module-path={LIBRARIES}/p11-kit-proxy.so", "p11-kit list-modules"),
        ("module-name=nothing", "no file nothing.module"),
        (f"module-path={LIBRARIES}/pkcs11/p11-kit-client.so", "P11_KIT_SERVER_ADDRESS"),
    ],
)
def test_an_unusable_module_is_refused_with_the_cure(tmp_path, where, expected):
    state, reason = check(tmp_path, f"pkcs11:token=shop;object=KEY?{where}", {"P11_KIT_SERVER_ADDRESS": ""})
    assert state != "ready" and expected in reason, reason


def test_the_refusal_of_a_module_without_its_arguments_names_init_args(tmp_path):
    with NSS() as nss:
        state, reason = check(tmp_path, nss.uri(arguments=False))
        assert state == "refused" and "init-args=" in reason, reason
