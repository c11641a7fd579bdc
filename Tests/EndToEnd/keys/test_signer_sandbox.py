"""What a signer process can reach, what the gateway's process holds, and signers that run under another user."""

import contextlib
import errno
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time

import pytest
from conftest import BINARY
from polling import await_
from service import connect_as, digest
from signers import (
    FAULTY, FILES, REAL, SOFTHSM, KeyLoad, SignerService, children, faults_of_log, is_running, modules_of,
)

NOBODY, DAEMON = 65534, 1


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    service = SignerService(BINARY, tmp_path_factory.mktemp("sandbox"))
    with service:
        for number in range(3):
            service.await_signature(number)
        yield service


def descriptors(pid):
    found = {}
    for file in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            found[int(file.name)] = os.readlink(file)
        except OSError:
            pass  # Closed meanwhile.
    return found


@pytest.mark.parametrize("name", [FAULTY, REAL, FILES])
def test_a_signer_that_starts_under_load_has_no_descriptor_of_the_gateway(service, name):
    with KeyLoad(service, connections=3) as load:
        for number in range(3):
            load.wait_for(200, number, 0, 5)
        assert service.restart(name)[0] == 200
        (pid,) = service.pids(name)
        ours = {target for target in descriptors(service.process.pid).values() if target.startswith(("socket:", "pipe:"))}
        # 0 to 2 are the standard streams, and 3 is the connection to the gateway.
        foreign = {number: target for number, target in descriptors(pid).items() if number > 3 and target in ours}
        assert foreign == {}, f"the signer {name} has sockets of the gateway"


# Code and secrets in memory


def test_only_the_signer_of_a_token_maps_its_module(service):
    faulty, softhsm = os.path.realpath(service.module), os.path.realpath(SOFTHSM)
    assert modules_of(service.process.pid) == modules_of(service.pids(FILES)[0]) == set()
    assert modules_of(service.pids(FAULTY)[0]) == {faulty, softhsm}
    assert modules_of(service.pids(REAL)[0]) == {softhsm}


def secrets_in(pid, secrets):
    """The names of the secrets that the process's readable memory contains (proc(5))."""
    found = set()
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
            begin, end, rights = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
            # The kernel's own pages have names such as [vvar].
            if not rights.startswith("r") or line.endswith(("[vvar]", "[vvar_vclock]", "[vsyscall]")):
                continue
            with contextlib.suppress(OSError):  # A file that is shorter than its mapping.
                memory.seek(int(begin, 16))
                content = memory.read(int(end, 16) - int(begin, 16))
                found |= {name for name, secret in secrets.items() if secret in content}
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can read the memory of a signer")
def test_secrets_are_in_the_memory_of_their_signer_only(service):
    for number in range(3):
        assert service.sign_with(number)[0] == 200
    scalar = service.key.private_numbers().private_value
    secrets = {
        # libcrypto stores numbers with the lowest word first.
        "scalar": scalar.to_bytes(32, "little"),
        "scalar in network order": scalar.to_bytes(32, "big"),
        "key file": service.key_file.read_bytes().splitlines()[1][20:60],
        "PIN of the first token": service.pins[0].read_bytes().strip(),
        "PIN of the second token": service.pins[1].read_bytes().strip(),
        # The gateway holds it, so that this test can find something there.
        "digest of the client's token": bytes.fromhex(digest(service.token)),
    }
    assert secrets_in(service.process.pid, secrets) == {"digest of the client's token"}
    assert secrets_in(service.pids(FILES)[0], secrets) == {"scalar"}
    # A signer keeps the PIN for a login after the token returns (docs/threat-model.md).
    assert secrets_in(service.pids(FAULTY)[0], secrets) == {"PIN of the first token"}
    assert secrets_in(service.pids(REAL)[0], secrets) == {"PIN of the second token"}


# Attempts of a module


def attempt(service, action):
    """The errno of this attempt in a signature of the first key; 0 if it succeeded."""
    service.faults.forget()
    service.faults.set(f"C_Sign from=1 to=1 try={action}")
    assert service.sign_with(0)[0] == 200
    result = service.faults.result(f"try={action}")
    assert result is not None, "the attempt did not return"
    return result


def layers(service, name=FAULTY):
    (process,) = service.listed()[name]["processes"]
    return set(process["protection"])


def attempts_on_files(service):
    """Attempts that only the layers for files refuse."""
    log, others = service.database, (service.key_file, service.pins[1])
    files = [log, f"{log}-wal", f"{log}.key", service.checkpoints, *others]
    return [f"read:{file}" for file in files] + [f"write:{log}", f"write:{service.key_file}"]


@pytest.mark.parametrize(
    "action",
    ["socket:inet", "socket:inet6", "socket:netlink", "socket:packet", "shell", "execute", "fork", "thread:fork",
     "trace-parent", "signal-parent:9", "signal-parent-thread:9", "limit-parent", "dumpable", "parent-death-signal",
     "schedule-other", "renice-other", "bind-other"],
)
def test_seccomp_refuses_what_reaches_beyond_the_process(service, action):
    assert "systemCalls" in layers(service)
    assert attempt(service, action) == errno.EPERM
    assert service.process.poll() is None


def test_mounts_or_landlock_refuse_the_files_of_the_gateway_and_of_other_signers(service):
    # As root, mounts of /dev/null cover the files; another user has Landlock.
    assert ("mounts" if os.geteuid() == 0 else "files") in layers(service)
    actions = attempts_on_files(service)
    assert {action: attempt(service, action) for action in actions} == dict.fromkeys(actions, errno.EACCES)
    if os.geteuid() == 0:
        covered = pathlib.Path(f"/proc/{service.pids(FAULTY)[0]}/mountinfo").read_text()
        assert all(f" {file} " in covered for file in (service.database, service.key_file, service.pins[1]))


def test_a_signer_cannot_open_the_gateways_files_in_proc(service):
    actions = ["parent-file:mem", "parent-file:environ", f"parent-file:root{service.database}"]
    assert {action: attempt(service, action) for action in actions} == dict.fromkeys(actions, errno.EACCES)


def test_a_signer_can_use_what_a_module_needs(service):
    # The control of the refusals above: its own PIN, its token, a Unix socket and threads.
    actions = [f"read:{service.pins[0]}", f"list:{service.token_directory}", "socket:unix", "threads:4", "schedule-itself"]
    assert {action: attempt(service, action) for action in actions} == dict.fromkeys(actions, 0)


@contextlib.contextmanager
def gateway(directory, signers):
    """A gateway whose first key signs. `signers` may contain {place}, the directory."""
    service = SignerService(BINARY, directory, signers.format(place=directory))
    with service:
        service.await_signature(0)
        yield service
    assert faults_of_log(service) == []


@pytest.mark.parametrize(
    "network, expected",
    [
        ("any", {"socket:inet": 0, "socket:unix": 0, "shell": errno.EPERM}),
        ("none", {"socket:inet": errno.EPERM, "socket:unix": errno.EPERM}),
    ],
)
def test_the_setting_network_decides_on_sockets_only(tmp_path, network, expected):
    with gateway(tmp_path, f"- name: {FAULTY}\n  network: {network}") as service:
        assert {action: attempt(service, action) for action in expected} == expected
        (action, *_) = attempts_on_files(service)
        assert attempt(service, action) == errno.EACCES


def test_in_the_gateways_process_a_module_can_do_all_that_a_signer_refuses(tmp_path):
    with gateway(tmp_path, f"- name: {FAULTY}\n  inProcess: true") as service:
        # Without the database: a process that closes the file loses SQLite's locks on it (fcntl(2)).
        files = [action for action in attempts_on_files(service) if not action.endswith((".db", "-wal"))]
        actions = ["socket:inet", "shell", "fork", *files]
        assert len(files) == 5
        assert {action: attempt(service, action) for action in actions} == dict.fromkeys(actions, 0)


@pytest.mark.parametrize("is_strict", [True, False], ids=["a list of paths", "no list"])
def test_a_list_of_paths_excludes_all_other_files(tmp_path, is_strict):
    for name in ("inside", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    paths = "\n  sandbox: {{paths: [{place}/inside, {place}/token, {place}/faults]}}" if is_strict else ""
    with gateway(tmp_path, f"- name: {FAULTY}{paths}") as service:
        if "files" not in layers(service):
            pytest.skip("this kernel has no Landlock")
        refusal = errno.EACCES if is_strict else 0
        expected = {
            f"read:{tmp_path}/inside/file": 0,
            f"create:{tmp_path}/inside/new": 0,
            f"read:{service.pins[0]}": 0,
            "read:/etc/passwd": 0,
            f"read:{tmp_path}/outside/file": refusal,
            f"list:{tmp_path}/outside": refusal,
            f"create:{tmp_path}/outside/new": refusal,
            # landlock(7): EXDEV for a link between directories with different rights.
            f"link:{tmp_path}/outside/file:{tmp_path}/inside/link": errno.EXDEV if is_strict else 0,
            f"read:{service.configuration}": refusal,
            f"read:{service.database}": errno.EACCES,
            f"read:{service.key_file}": errno.EACCES,
        }
        assert {action: attempt(service, action) for action in expected} == expected


# Signers under another user


class ExternalSigner:
    """`privyseal signer --listen` of the user nobody, which owns the second token. The gateway runs as root."""

    def __init__(self, directory):
        self.service = SignerService(BINARY, directory)
        directory.chmod(0o755)
        self.place = directory / "signer"
        self.place.mkdir()
        pin = self.service.pins[1]
        token = self.service.token_directory
        for file in [self.place, pin.parent, pin, token, *token.rglob("*")]:
            os.chown(file, NOBODY, NOBODY)
        self.socket, self.log = self.place / "signer.sock", self.place / "log"
        self.service.configure(signers=f"- name: {REAL}\n  socket: unix:{self.socket}")
        self.process = None

    def start(self, *options):
        self.socket.unlink(missing_ok=True)
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [BINARY, "signer", "--listen", self.socket, *options], env=self.service.environment,
                stdout=log, stderr=log, user=NOBODY, group=NOBODY, extra_groups=[],
            )
        await_(self.accepts, lambda: f"a listening socket: {self.log.read_text()}")

    def accepts(self):
        with socket.socket(socket.AF_UNIX) as channel:
            return channel.connect_ex(str(self.socket)) == 0

    def stop(self):
        self.process.kill()
        self.process.wait(30)

    def children(self):
        return [pid for pid in children(self.process.pid) if is_running(pid)]

    def is_refused(self, user):
        """Whether a connection of this user ends. One that is accepted gets no byte before the first call."""
        with contextlib.closing(connect_as(user, str(self.socket))) as channel:
            channel.settimeout(0.5)
            try:
                return channel.recv(1) == b""
            except TimeoutError:
                return False


@pytest.fixture(scope="module")
def external():
    if os.geteuid() != 0:
        pytest.skip("only root can start processes of other users")
    with tempfile.TemporaryDirectory(prefix="privyseal-") as directory:
        external = ExternalSigner(pathlib.Path(directory))
        external.start()
        try:
            with external.service as service:
                for number in range(3):
                    service.await_signature(number)
                yield external
            await_(lambda: external.children() == [], "the end of the process with its gateway", 5)
            assert faults_of_log(service) == []
        finally:
            external.stop()


def test_a_signer_under_another_user_signs(external):
    service = external.service
    assert service.sign_with(1)[0] == 200
    signer = service.listed()[REAL]
    (process,) = signer["processes"]
    assert (signer["socket"], process["uid"]) == (str(external.socket), NOBODY)
    await_(lambda: external.children() == [process["pid"]], lambda: f"one process: {external.children()}", 5)
    assert process["pid"] not in service.children()
    assert f"{REAL} at {external.socket}" in service.run("signers", "list")[1].decode()
    assert {"systemCalls", "noNewPrivileges", "parentDeath"} <= layers(service, REAL)


def test_a_signer_under_another_user_is_restarted_under_load(external):
    (old,) = external.service.pids(REAL)
    with KeyLoad(external.service, connections=2, pause=0.01) as load:
        for number in range(3):
            load.wait_for(200, number, 0, 5)
        assert external.service.restart(REAL)[0] == 200
        assert external.service.pids(REAL) != [old]
        await_(lambda: not is_running(old), "the end of the old process", 5)
        assert load.failed(0, 1, 2, since=time.monotonic()) == []
    external.service.signed += load.signed
    assert (load.failed(0, 1, 2), load.broken) == ([], [])


def test_a_signer_refuses_a_client_of_another_user(external):
    assert not external.is_refused(0) and not external.is_refused(NOBODY)
    # The mode of the socket refuses it.
    with pytest.raises(PermissionError):
        external.is_refused(DAEMON)
    # Without the mode, the credentials of the connection do.
    external.socket.chmod(0o666)
    try:
        assert external.is_refused(DAEMON)
    finally:
        external.socket.chmod(0o660)
    assert "A connection was refused: the user ID 1 is not allowed; see --allow-user." in external.log.read_text()


@pytest.mark.parametrize("option", [str(DAEMON), "daemon"])
def test_a_signer_accepts_the_user_of_an_option(external, option):
    service = external.service
    external.stop()
    external.start("--allow-user", option)
    service.await_signature(1, 10)
    external.socket.chmod(0o666)
    try:
        assert not external.is_refused(DAEMON)
        assert external.is_refused(2)
    finally:
        external.socket.chmod(0o660)


@pytest.mark.parametrize(
    "owner, mode, reason",
    [(DAEMON, 0o660, "has the user ID 65534, but"), (NOBODY, 0o666, "set its mode to 0660")],
    ids=["another owner", "open to all"],
)
def test_the_gateway_refuses_a_socket_that_another_user_could_have_made(external, owner, mode, reason):
    service = external.service
    before = service.pids(REAL)
    os.chown(external.socket, owner, owner)
    external.socket.chmod(mode)
    try:
        status, problem = service.restart(REAL)
    finally:
        os.chown(external.socket, NOBODY, NOBODY)
        external.socket.chmod(0o660)
    assert status == 409 and reason in problem["detail"]
    assert service.pids(REAL) == before and service.sign_with(1)[0] == 200
    assert service.restart(REAL)[0] == 200


def test_a_signer_under_another_user_that_was_killed_signs_after_its_start(external):
    service = external.service
    index = service.last_index()
    (old,) = service.pids(REAL)
    external.stop()
    await_(lambda: not is_running(old), "the end of the process with its parent", 5)
    assert service.sign_with(1)[0] == 503
    assert service.sign_with(0)[0] == service.sign_with(2)[0] == 200
    external.start()
    print(f"the key signed {service.await_signature(1, 10):.2f} s after the start")
    assert [entry["label"] for entry in service.losses(index)] == [REAL]


def test_one_process_of_a_signer_under_another_user_is_replaced_after_its_loss(external):
    service = external.service
    (old,) = service.pids(REAL)
    os.kill(old, signal.SIGKILL)
    await_(lambda: service.pids(REAL) not in ([], [old]), "another process", 5)
    service.await_signature(1)
    assert service.sign_with(1)[0] == 200
