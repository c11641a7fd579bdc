"""A process exits with its own status, independent of the exit handlers of loaded libraries."""

import fcntl
import os
import pathlib
import socket
import subprocess
import tempfile

import pytest
from conftest import BINARY, ISSUER_ID, ROOT
from polling import await_
from service import Service, digest, mint, write_key

# A library whose destructor aborts, as cleanup during use by another thread can.
CRASH = "#include <stdlib.h>\n__attribute__((destructor)) static void end(void) { abort(); }\n"


@pytest.fixture
def environment(tmp_path):
    library = tmp_path / "crash.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-o", library, "-x", "c", "-"], input=CRASH, text=True, check=True, capture_output=True
    )
    return {"LD_PRELOAD": str(library)}


@pytest.mark.parametrize(
    "arguments, status, stdout, stderr",
    [
        (["--version"], 0, ".", ""),
        (["help", "verify"], 0, "USAGE: privyseal verify", ""),
        (["sing"], 64, "", 'There is no command "privyseal sing".'),
        (["openapi", "sing"], 64, "", "Unexpected argument 'sing'"),
        (["check", "--config", "/nowhere/gateway.yaml"], 78, "", "privyseal: "),
    ],
)
def test_a_command_writes_its_output_and_ends_with_its_status(environment, arguments, status, stdout, stderr):
    # Through pipes, so that output stays in a buffer until the end.
    ended = subprocess.run([BINARY, *arguments], capture_output=True, text=True, env={**os.environ, **environment})
    assert ended.returncode == status
    assert stdout in ended.stdout and bool(stdout) == bool(ended.stdout)
    assert stderr in ended.stderr and bool(stderr) == bool(ended.stderr)


EXITING_MODULE = """
#include <stdlib.h>
__attribute__((visibility("default"))) unsigned long C_GetFunctionList(void *list) { (void)list; END(0); }
"""


@pytest.fixture
def call(request):
    """The function with which the module ends the process."""
    return getattr(request, "param", "exit")


@pytest.fixture
def exiting(tmp_path, call):
    """A configuration whose PKCS #11 module ends the process with status 0."""
    module = tmp_path / "exiting.so"
    subprocess.run(
        ["gcc", f"-DEND={call}", "-shared", "-fPIC", "-o", module, "-x", "c", "-"], input=EXITING_MODULE, text=True, check=True,
        capture_output=True,
    )
    pin = tmp_path / "pin"
    pin.write_text("1234\n")
    pin.chmod(0o600)
    configuration = tmp_path / "gateway.yaml"
    configuration.write_text(
        f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: com.example.app, features: [promotional-offer]}}]
    keys: [{{keyId: 2X9R4HXF34, uri: "pkcs11:token=t;object=k?module-path={module}&pin-source=file:{pin}"}}]
    activeKey: 2X9R4HXF34
clients:
  - {{name: shop, tokens: [{{sha256: "{digest(mint())}"}}], allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"]}}]}}
"""
    )
    return configuration


@pytest.mark.parametrize("call", ["exit", "quick_exit"], indirect=True)
@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["sign", "promotional-offer", "--app", "com.example.app", "productId=p", "offerIdentifier=o"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_module_that_calls_exit_0_ends_only_its_signer_and_the_command_fails(exiting, arguments):
    command = [BINARY, arguments[0], *arguments[1:2], "--config", exiting, *arguments[2:]]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "The process of the signer exiting ended with the exit status 0" in ended.stdout + ended.stderr


@pytest.mark.parametrize("call", ["exit", "quick_exit"], indirect=True)
def test_a_module_in_the_gateways_process_that_calls_exit_0_ends_it_with_a_message_and_a_failure(exiting, call):
    exiting.write_text(exiting.read_text() + "signers: [{name: exiting, inProcess: true}]\n")
    ended = subprocess.run([BINARY, "serve", "--config", exiting], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 70
    assert f"a library ended the process by calling {call}()" in ended.stderr


@pytest.mark.parametrize("arguments", [["--version"], ["help", "verify"], ["clients", "mint", "shop"]], ids=lambda arguments: arguments[0])
def test_a_command_fails_with_a_message_if_it_cannot_write_its_output(arguments):
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([BINARY, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (ended.returncode, "No space left on device" in ended.stderr) == (74, True), ended.stderr


def test_a_command_waits_for_space_in_a_nonblocking_pipe():
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    junk = b"x" * fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ)
    assert os.write(writer, junk) == len(junk)
    with subprocess.Popen([BINARY, "help", "verify"], stdout=writer, stderr=subprocess.DEVNULL) as process:
        os.close(writer)
        # The process waits for room in the pipe, or has already ended.
        waits = lambda: any("poll" in path.read_text() for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/wchan"))
        await_(lambda: process.poll() is not None or waits(), "the command has something to write")
        with open(reader, "rb") as pipe:
            answer = pipe.read()
    assert process.returncode == 0
    assert b"USAGE: privyseal verify" in answer[len(junk):]


def test_systemd_restarts_the_service_after_any_status_except_configuration_errors():
    unit = (ROOT / "packaging/systemd/privyseal.service").read_text().splitlines()
    assert "Restart=always" in unit
    assert "RestartPreventExitStatus=64 78" in unit


def test_a_stopped_gateway_writes_its_whole_log_and_ends_with_status_0(environment, tmp_path):
    write_key(tmp_path / "AuthKey.p8")
    service = Service(
        BINARY,
        tmp_path,
        f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
drainDelay: 0
audit: {{database: {tmp_path}/audit.db}}
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: com.example.app, features: [promotional-offer]}}]
    keys: [{{keyId: 2X9R4HXF34, uri: "file:{tmp_path}/AuthKey.p8"}}]
    activeKey: 2X9R4HXF34
clients:
  - {{name: shop, tokens: [{{sha256: "{digest(mint())}"}}], allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"]}}]}}
""",
        environment,
    )
    service.start()
    assert service.stop() == 0
    assert "Stopped" in service.tail()


ABORTING_MODULE = EXITING_MODULE.replace("END(0)", "abort()")


def test_a_crash_of_a_module_starts_no_backtracer(exiting):
    """Swift's runtime has such a program (the backtracer), which may outlive the process."""
    module = exiting.parent / "exiting.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-o", module, "-x", "c", "-"], input=ABORTING_MODULE, text=True, check=True,
        capture_output=True,
    )
    ended = subprocess.run(
        [BINARY, "check", "--config", exiting],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "SWIFT_BACKTRACE": "enable=yes,interactive=no,color=no"},
    )
    assert ended.returncode == 1
    output = ended.stdout + ended.stderr
    assert "ended by the signal 6" in output
    assert "crashed" not in output.lower()


@pytest.fixture
def socket_path():
    with tempfile.TemporaryDirectory() as directory:
        yield pathlib.Path(directory) / "public.sock"


@pytest.fixture
def small_gateway(tmp_path, socket_path):
    write_key(tmp_path / "key.p8")
    configuration = tmp_path / "gateway.yaml"
    configuration.write_text(
        f"""
listeners:
  public: {{address: "unix:{socket_path}"}}
drainDelay: 0
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: com.example.app, features: [promotional-offer]}}]
    keys: [{{keyId: 2X9R4HXF34, uri: "file:{tmp_path}/key.p8"}}]
    activeKey: 2X9R4HXF34
clients:
  - {{name: shop, tokens: [{{sha256: "{digest(mint())}"}}], allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"]}}]}}
"""
    )
    return configuration


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_the_service_ends_on_sigterm_with_any_standard_stream_closed(small_gateway, socket_path, closed):
    process = subprocess.Popen(["bash", "-c", f'exec "$0" serve --config "$1" {closed}', BINARY, small_gateway])
    try:
        await_answer(process, socket_path)
        process.terminate()
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()


def test_the_service_ends_on_sigterm_if_nothing_reads_its_log(small_gateway, socket_path):
    reader, writer = os.pipe()
    with open(reader, "rb"), open(writer, "wb", buffering=0) as pipe:
        process = subprocess.Popen([BINARY, "serve", "--config", small_gateway], stderr=pipe)
        try:
            await_answer(process, socket_path)
            os.set_blocking(writer, False)
            while pipe.write(b"x" * 4096) is not None:
                pass
            os.set_blocking(writer, True)
            process.terminate()
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()
            process.wait()


def await_answer(process, path, pause=0.05):
    def answers():
        assert process.poll() is None
        with socket.socket(socket.AF_UNIX) as channel:
            return channel.connect_ex(str(path)) == 0

    await_(answers, "the gateway accepts connections", seconds=60, pause=pause)


def test_a_connection_during_the_stop_does_not_crash_the_service(small_gateway, socket_path):
    for _ in range(15):
        with subprocess.Popen([BINARY, "serve", "--config", small_gateway], stderr=subprocess.PIPE, text=True) as process:
            try:
                await_answer(process, socket_path, pause=0.005)
                # The gateway may not have handled the connection of `await_answer` yet.
                process.terminate()
                _, said = process.communicate(timeout=30)
            finally:
                process.kill()
        assert process.returncode == 0, said
