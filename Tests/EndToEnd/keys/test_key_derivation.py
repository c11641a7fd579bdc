"""Limits of a key file's derivation, which cannot be interrupted."""

import os
import pathlib
import subprocess
import time

import pytest
from conftest import BINARY, KEY_ID
from given_keys import configuration
from polling import await_
from service import mint, write_secret
from signers import children


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
def file(tmp_path):
    """The configuration of a gateway whose key is in an encrypted file."""
    write_secret(tmp_path / "passphrase", b"passphrase\n")
    uri = f"file:{tmp_path}/AuthKey.p8?passphrase-source=file:{tmp_path}/passphrase"
    (tmp_path / "gateway.yaml").write_text(configuration({KEY_ID: uri}, mint(), settings="shutdownGracePeriod: 10"))
    return tmp_path / "gateway.yaml"


def test_a_key_file_with_a_billion_iterations_is_refused_at_once(file, tmp_path):
    write_secret(tmp_path / "AuthKey.p8", encrypted_key(10**9))
    ended = subprocess.run([BINARY, "check", "--config", file], capture_output=True, text=True, timeout=20)
    assert ended.returncode == 1
    assert "more than 5000000 PBKDF2 iterations" in ended.stdout + ended.stderr


def processor_time(pid):
    """In seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_sigterm_ends_a_gateway_in_its_grace_period_while_it_opens_a_costly_key(file, tmp_path):
    write_secret(tmp_path / "AuthKey.p8", encrypted_key(5_000_000))
    with subprocess.Popen([BINARY, "serve", "--config", file], stderr=subprocess.DEVNULL) as process:
        try:
            # A signer needs less for everything else.
            derives = lambda: any(processor_time(pid) > 0.4 for pid in children(process.pid))
            await_(derives, "the derivation", 60)
            begin = time.monotonic()
            process.terminate()
            assert process.wait(timeout=30) == 0
            assert time.monotonic() - begin < 20
        finally:
            process.kill()
