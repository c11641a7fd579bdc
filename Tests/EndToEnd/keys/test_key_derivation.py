"""Limits of a key file's derivation, which cannot be interrupted."""

import subprocess
import time

import pytest
from conftest import BINARY, ISSUER_ID
from service import write_secret

CONFIGURATION = """
listeners:
  public: {{address: "127.0.0.1:0"}}
drainDelay: 0
shutdownGracePeriod: 10
accounts:
  - issuerId: {issuer}
    apps: [{{bundleId: com.example.app, features: [promotional-offer]}}]
    keys: [{{keyId: 2X9R4HXF34, uri: "file:{directory}/AuthKey.p8?passphrase-source=file:{directory}/passphrase"}}]
    activeKey: 2X9R4HXF34
"""


def element(tag, *contents):
    content = b"".join(contents)
    length = len(content)
    size = bytes([length]) if length < 128 else bytes([0x81, length]) if length < 256 else bytes([0x82]) + length.to_bytes(2, "big")
    return bytes([tag]) + size + content


def encrypted_key(iterations):
    """EncryptedPrivateKeyInfo under PBES2 (RFC 8018) with this number of PBKDF2 iterations."""
    number = iterations.to_bytes(iterations.bit_length() // 8 + 1, "big")
    derivation = element(
        0x30,
        element(0x06, bytes.fromhex("2a864886f70d01050c")),
        element(0x30, element(0x04, b"s" * 16), element(0x02, number)),
    )
    cipher = element(0x30, element(0x06, bytes.fromhex("60864801650304012a")), element(0x04, b"i" * 16))
    algorithm = element(0x30, element(0x06, bytes.fromhex("2a864886f70d01050d")), element(0x30, derivation, cipher))
    return element(0x30, algorithm, element(0x04, b"c" * 160))


@pytest.fixture
def configuration(tmp_path):
    write_secret(tmp_path / "passphrase", b"passphrase\n")
    (tmp_path / "gateway.yaml").write_text(CONFIGURATION.format(issuer=ISSUER_ID, directory=tmp_path))
    return tmp_path / "gateway.yaml"


def test_a_key_file_with_a_billion_iterations_is_refused_at_once(configuration, tmp_path):
    write_secret(tmp_path / "AuthKey.p8", encrypted_key(10**9))
    ended = subprocess.run([BINARY, "check", "--config", configuration], capture_output=True, text=True, timeout=20)
    assert ended.returncode == 1
    assert "more than 5000000 PBKDF2 iterations" in ended.stdout + ended.stderr


@pytest.mark.parametrize("iterations", [5_000_000, 10**9])
def test_sigterm_ends_a_gateway_in_its_grace_period_while_it_opens_a_costly_key(configuration, tmp_path, iterations):
    write_secret(tmp_path / "AuthKey.p8", encrypted_key(iterations))
    with subprocess.Popen([BINARY, "serve", "--config", configuration], stderr=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stderr:
                if "Listening on" in line:
                    break
            begin = time.monotonic()
            process.terminate()
            process.communicate(timeout=30)
        finally:
            process.kill()
    # The process ends by the signal, or because the passphrase does not decrypt the key.
    assert process.returncode in (0, 78)
    assert time.monotonic() - begin < 20
