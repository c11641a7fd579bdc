"""Files from other programs are read up to a limit, and refused before they use much memory."""

import subprocess
import sys

import pytest
from conftest import BINARY, ISSUER_ID, ROOT
from service import Service, digest, mint, write_key

SIZE = 300 << 20
EXAMPLE = ROOT / "docs" / "audit-example"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A sparse file of 300 MB of NUL."""
    path = tmp_path_factory.mktemp("large") / "large"
    with open(path, "wb") as file:
        file.truncate(SIZE)
    return str(path)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """The database of a log that a gateway wrote."""
    directory = tmp_path_factory.mktemp("log")
    write_key(directory / "AuthKey.p8")
    with Service(BINARY, directory, CONFIGURATION.format(directory=directory, issuer=ISSUER_ID, digest=digest(mint()))):
        return directory / "audit.db"


CONFIGURATION = """
listeners:
  public: {{address: "127.0.0.1:0"}}
drainDelay: 0
audit: {{database: {directory}/audit.db}}
accounts:
  - issuerId: {issuer}
    apps: [{{bundleId: com.example.app, features: [promotional-offer]}}]
    keys: [{{keyId: 2X9R4HXF34, uri: "file:{directory}/AuthKey.p8"}}]
    activeKey: 2X9R4HXF34
clients:
  - name: shop
    tokens: [{{sha256: "{digest}"}}]
    allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"]}}]
"""


# A small process starts the command, because a process inherits the peak memory of its parent: pytest may exceed the
# limit itself.
LAUNCHER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
sys.stdout.buffer.write(process.stdout.read())
_, status, usage = os.wait4(process.pid, 0)
with open(sys.argv[1], "w") as file:
    file.write(f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss << 10}")
"""


def run(directory, arguments, feed=None):
    """The exit status, the output, and the peak memory of the process in bytes."""
    result = directory / "result"
    output = subprocess.run(
        [sys.executable, "-c", LAUNCHER, str(result), BINARY, *arguments],
        stdin=feed or subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
    ).stdout
    status, memory = result.read_text().split()
    return int(status), output.decode(), int(memory)


# The exit status, and the arguments.
COMMANDS = {
    "proof": (64, ["audit", "check-proof", "{large}", "--key", f"{EXAMPLE}/log.pub"]),
    "proof-key": (64, ["audit", "check-proof", f"{EXAMPLE}/entry.tlog-proof", "--key", "{large}"]),
    "report": (64, ["compliance", "verify", "{large}", "--key", f"{EXAMPLE}/log.pub"]),
    "page": (64, ["compliance", "verify", f"{EXAMPLE}/growth.txt", "--key", f"{EXAMPLE}/log.pub", "--page", "{large}"]),
    "log-key": (64, ["audit", "verify", "--database", "{database}", "--key", "{large}"]),
    "request": (1, ["sign", "promotional-offer", "--config", "{configuration}", "--app", "com.example.app", "--input", "{large}"]),
    "token": (1, ["status", "--admin", "http://127.0.0.1:1", "--token-file", "{large}"]),
    "public-key": (64, ["verify", "--jws", "a.b.c", "--key", "{large}"]),
}


@pytest.mark.parametrize("expected, command", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_file_of_300_mb_is_refused_by_its_length(tmp_path, large, database, expected, command):
    places = {"large": large, "database": database, "configuration": database.with_name("gateway.yaml")}
    status, output, memory = run(tmp_path, [argument.format(**places) for argument in command])
    assert status == expected
    assert f"{large} is longer than" in output
    assert memory < 128 << 20


@pytest.mark.parametrize("command", [COMMANDS["proof"][1], COMMANDS["report"][1]], ids=["proof", "report"])
def test_standard_input_of_300_mb_is_read_up_to_the_limit(tmp_path, large, command):
    with open(large, "rb") as file:
        status, output, memory = run(tmp_path, [argument.format(large="-") for argument in command], feed=file)
    assert status == 64
    assert "is longer than" in output
    assert memory < 128 << 20


def test_another_file_in_place_of_the_checkpoints_is_refused_without_much_memory(tmp_path, large, database):
    configuration = tmp_path / "gateway.yaml"
    text = database.with_name("gateway.yaml").read_text()
    configuration.write_text(text.replace(f"{database}}}", f"{database}, checkpoints: {{file: {large}}}}}"))
    request = ["promotional-offer", "--app", "com.example.app", "productId=a", "offerIdentifier=b"]
    status, output, memory = run(tmp_path, ["sign", *request, "--config", str(configuration)])
    assert status == 78 and f"{large} does not hold checkpoints." in output
    assert memory < 128 << 20
