"""Signer processes: their list, their replacement, their end, and the section `signers` of the configuration."""

import json
import os
import re
import signal
import subprocess
import threading
import time

import pytest
from conftest import BINARY
from polling import await_
from running import KEY_IDS
from service import REFUSED_CONFIGURATION
from signers import FAULTY, FILES, REAL, SOFTHSM, KeyLoad, SignerService, faults_of_log, is_running, modules_of

NAMES = [FAULTY, REAL, FILES]
# `operationTimeout` in seconds.
TIMEOUT = 1


class Run:
    """A gateway with light load on each of its three keys."""

    def __init__(self, directory, *signers, **how):
        self.service = SignerService(BINARY, directory, *signers, **how)

    def __enter__(self):
        self.service.start()
        for number in range(3):
            self.service.await_signature(number)
        self.load = KeyLoad(self.service, connections=2, pause=0.02)
        return self

    def __exit__(self, kind, *_):
        self.service.faults.clear()
        self.load.stop()
        status = self.service.stop()
        if kind is None:
            assert status == 0
            assert faults_of_log(self.service, self.load) == []

    def begin(self):
        self.service.faults.clear()
        self.service.faults.forget()
        self.service.await_complete()
        self.index, self.begun = self.service.last_index(), time.monotonic()

    def check(self):
        """No request since `begin` has failed, and each key signs."""
        now = time.monotonic()
        for number in range(3):
            self.load.wait_for(200, number, now, 5, count=3)
        assert self.load.failed(0, 1, 2, since=self.begun) == []
        assert [fault for fault in self.load.broken if fault[0] >= self.begun] == []

    def replacements(self):
        """(name, reason) of the replaced signers in the audit log since `begin`."""
        entries = [entry for _, entry in self.service.entries(self.index)]
        return [(entry["label"], entry["reason"]) for entry in entries if "signer-replaced" in entry.values()]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with Run(tmp_path_factory.mktemp("signers"), timeout=TIMEOUT) as run:
        yield run


@pytest.fixture
def service(tmp_path):
    """A gateway that does not run yet."""
    service = SignerService(BINARY, tmp_path, timeout=TIMEOUT)
    yield service
    service.end()


# The list


def rows(output):
    """[(name, process ID)] of the table, which may be followed by sentences."""
    table = output.decode().split("\n\n")[0]
    return [(row[0], int(row[1])) for row in map(str.split, table.splitlines()[1:])]


def test_the_list_shows_each_signer_process_and_no_other(run):
    run.begin()
    status, output, _ = run.service.run("signers", "list")
    assert status == 0
    assert [name for name, _ in rows(output)] == sorted(NAMES, key=str.lower)
    assert sorted(pid for _, pid in rows(output)) == run.service.children()


def test_the_list_in_JSON_has_the_protection_of_each_process(run):
    status, output, _ = run.service.run("signers", "list", "--format", "json")
    signers = json.loads(output)["signers"]
    assert (status, [signer["name"] for signer in signers]) == (0, sorted(NAMES, key=str.lower))
    for signer in signers:
        (process,) = signer["processes"]
        layers = {*process["protection"], *process["missingProtection"]}
        assert {"systemCalls", "noCoreDump", "noNewPrivileges"} <= layers


def test_a_warning_of_a_signer_has_the_logger_of_its_subject(service):
    service.pins[1].chmod(0o644)
    service.start()
    service.stop()
    lines = [line for line in service.logs.decode().splitlines() if "chmod 600" in line]
    assert lines and all("privyseal.secrets: " in line and "printed" not in line for line in lines), lines


def test_the_list_needs_a_running_gateway(service):
    status, output, errors = service.run("signers", "list")
    assert (status, output) == (1, b"") and b"admin.sock" in errors


# Restarts


@pytest.mark.parametrize("name", NAMES)
def test_a_restart_replaces_the_process_under_load_and_fails_no_request(run, name):
    run.begin()
    others = {other: run.service.pids(other) for other in NAMES if other != name}
    (old,) = run.service.pids(name)
    status, output, _ = run.service.run("signers", "restart", name)
    ((shown, new),) = rows(output)
    assert (status, shown) == (0, name) and new != old
    assert run.service.pids(name) == [new]
    await_(lambda: not is_running(old), "the end of the old process", 5)
    assert {other: run.service.pids(other) for other in others} == others
    assert run.replacements() == [(name, "operator ordered it.")]
    run.check()


def test_restarts_at_the_same_time_fail_no_request(run):
    run.begin()
    old = set(run.service.children())
    command = [BINARY, "signers", "restart", FAULTY, "--config", run.service.configuration]
    commands = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=run.service.environment)
        for _ in range(3)
    ]
    assert [command.wait(30) for command in commands] == [0, 0, 0]
    await_(lambda: len(run.service.children()) == 3, lambda: f"three children: {run.service.children()}", 5)
    assert len(set(run.service.children()) - old) == 1
    run.check()


@pytest.mark.parametrize("name", ["softhsm", "SoftHSM2", "a b/c", "files/restart"])
def test_a_restart_of_an_unknown_signer_names_the_known_ones(run, name):
    run.begin()
    status, output, errors = run.service.run("signers", "restart", name)
    assert (status, output) == (1, b"")
    assert f"No such signer runs; the signers are {FAULTY}, {FILES}, {REAL}." in errors.decode()


def test_the_problem_of_an_unknown_signer_is_not_found(run):
    status, problem = run.service.restart("softhsm")
    assert (status, problem["type"]) == (404, "urn:privyseal:problem:not-found")


@pytest.mark.parametrize(
    "rule, reason",
    [
        ("C_Initialize rv=0x30", "CKR_DEVICE_ERROR"),
        ("C_Initialize segv", "signal 11"),
        ("C_Initialize hang", "did not answer within"),
        ("C_OpenSession rv=0x32", "CKR_DEVICE_REMOVED"),
        ("C_Login segv", "signal 11"),
        ("C_FindObjects length=0", KEY_IDS[0]),
    ],
)
def test_the_old_process_stays_and_signs_if_the_new_one_cannot_open_its_keys(run, rule, reason):
    run.begin()
    before = run.service.children()
    run.service.faults.set(rule)
    status, problem = run.service.restart(FAULTY)
    assert (status, problem["type"]) == (409, "urn:privyseal:problem:signer-not-replaced")
    assert problem["detail"].endswith(" The running processes stay.") and reason in problem["detail"]
    run.check()
    await_(lambda: run.service.children() == before, lambda: f"only the old processes: {run.service.children()}", 5)
    assert run.replacements() == []


def test_the_command_prints_why_a_signer_was_not_replaced_and_fails(run):
    run.begin()
    run.service.faults.set("C_Initialize rv=0x30")
    status, output, errors = run.service.run("signers", "restart", FAULTY)
    assert (status, output) == (1, b"")
    assert "CKR_DEVICE_ERROR" in errors.decode() and "The running processes stay." in errors.decode()


def test_a_restart_of_a_signer_without_a_process_fails_until_a_new_one_signs(service):
    service.start()
    service.await_signature(0)
    index = service.last_index()
    service.faults.set("C_Initialize segv")
    os.kill(service.pids(FAULTY)[0], signal.SIGKILL)
    await_(lambda: service.faults.count("C_Initialize") >= 2, "a start that failed", 5)
    assert service.pids(FAULTY) == []
    status, answer = service.restart(FAULTY)
    assert status == 409 and "signal 11" in answer["detail"], answer
    assert not [entry for _, entry in service.entries(index) if "signer-replaced" in entry.values()]


def test_a_restart_replaces_the_processes_of_all_tokens_of_a_module(tmp_path):
    with Run(tmp_path, module=SOFTHSM) as run:
        run.begin()
        old = [pid for name, pid in rows(run.service.run("signers", "list")[1]) if name == REAL]
        status, output, _ = run.service.run("signers", "restart", REAL)
        assert (status, len(old), [name for name, _ in rows(output)]) == (0, 2, [REAL, REAL])
        assert not {pid for _, pid in rows(output)} & set(old)
        run.check()


# The end of the gateway and of commands


def no_signer_remains(service, seconds=2):
    await_(lambda: service.remaining() == [], lambda: f"the end of the signers {service.remaining()}", seconds)


@pytest.mark.parametrize(
    "number, rule",
    [
        *((signal.SIGTERM, rule) for rule in ("", "C_Sign hang", "C_Sign ignore-term", "C_Finalize hang")),
        *((signal.SIGKILL, rule) for rule in ("", "C_Sign hang")),
    ],
)
def test_the_signers_end_with_their_gateway(service, number, rule):
    service.start()
    for key in range(3):
        service.await_signature(key)
    assert service.remaining() == service.children() and len(service.children()) == 3
    with KeyLoad(service):
        service.faults.set(rule)
        if rule.startswith("C_Sign"):
            await_(service.faults.results, f"the action of {rule}", 5)
        if number == signal.SIGTERM:
            assert service.stop() == 0
            # The gateway waits for the ends of its signers.
            assert service.remaining() == []
        else:
            service.kill()
            no_signer_remains(service)


def test_the_signers_end_with_a_gateway_that_is_killed_while_it_starts_them(service):
    service.faults.set("C_Login hang")
    service.start()
    await_(service.faults.results, "a login that hangs", 5)
    assert service.remaining() != []
    service.kill()
    no_signer_remains(service)


COMMANDS = {
    "check": ["check"],
    "keys list": ["keys", "list"],
    "sign": ["sign", "promotional-offer", "--app", SignerService.apps[0], "productId=a", "offerIdentifier=b"],
    "compliance report": ["compliance", "report", "--accept-software", "--unsigned"],
}


@pytest.mark.parametrize("command, rule", [*((name, "") for name in COMMANDS), ("check", "C_Finalize hang")])
def test_a_command_leaves_no_signer_process(service, command, rule):
    service.faults.set(rule)
    service.run(*COMMANDS[command])
    assert service.faults.count("C_Initialize") > 0, "the command used no signer"
    assert service.remaining() == []


def test_a_command_that_is_killed_leaves_no_signer_process(service):
    service.faults.set("C_Sign hang")
    with subprocess.Popen(
        [BINARY, "check", "--config", service.configuration], env=service.environment, stderr=subprocess.DEVNULL
    ) as command:
        await_(service.faults.results, "a signature that hangs", 10)
        assert service.remaining() != []
        command.kill()
    no_signer_remains(service)


# Several processes


def test_the_loss_of_one_of_two_processes_under_load_fails_no_request(tmp_path):
    with Run(tmp_path, f"- name: {FAULTY}\n  processes: 2\n- name: {FILES}\n  processes: 2") as run:
        run.begin()
        kills = 3
        for count in range(kills):
            for name in (FAULTY, FILES):
                pids = run.service.pids(name)
                assert len(pids) == 2
                os.kill(pids[count % 2], signal.SIGKILL)
                await_(lambda: len(set(run.service.pids(name)) - {pids[count % 2]}) == 2, f"two processes of {name}", 5)
        run.check()
        run.service.await_complete()
        counts = {name: signer["losses"] for name, signer in run.service.listed().items()}
        assert counts == {FAULTY: kills, FILES: kills, REAL: 0}
        await_(lambda: len(run.service.losses(run.index)) == 2 * kills, "an entry for each loss", 5)
        assert all("signal 9" in entry["reason"] for entry in run.service.losses(run.index))


def test_a_request_whose_call_hangs_in_one_of_two_processes_is_signed_by_the_other(tmp_path):
    with SignerService(BINARY, tmp_path, f"- name: {FAULTY}\n  processes: 2") as service:
        service.await_signature(0)
        service.await_complete()
        before = service.pids(FAULTY)
        answers = []
        asking = threading.Thread(target=lambda: answers.append(service.sign_with(0)))
        service.faults.set("C_Sign from=1 to=1 hang")
        asking.start()
        await_(lambda: service.faults.results(), "a call that hangs")
        # Each process counts its own calls.
        service.faults.clear()
        asking.join()
        assert answers[0][0] == 200
        await_(lambda: len(set(service.pids(FAULTY)) - set(before)) == 1, "another process", 10)
    assert faults_of_log(service) == []


def test_a_reload_that_changes_the_number_of_processes_fails_no_request(run):
    run.begin()
    for signers, count in ((f"- name: {FAULTY}\n  processes: 3", 3), ("", 1)):
        run.service.configure(signers=signers)
        assert run.service.reload()[0]
        await_(lambda: len(run.service.pids(FAULTY)) == count, f"{count} processes", 5)
        # Those of the earlier configuration end.
        await_(lambda: len(run.service.children()) == count + 2, lambda: f"no other process: {run.service.children()}", 5)
    run.check()


# In the gateway's process


def test_a_key_in_the_gateways_process_has_no_signer_process(tmp_path):
    service = SignerService(BINARY, tmp_path, f"- name: {FAULTY}\n  inProcess: true")
    with service:
        for number in range(3):
            service.await_signature(number)
        assert sorted(service.listed()) == sorted([REAL, FILES])
        assert service.children() == sorted(service.pids(REAL) + service.pids(FILES))
        assert os.path.realpath(service.module) in modules_of(service.process.pid)
        status, problem = service.restart(FAULTY)
        assert status == 404 and FAULTY not in problem["detail"]


# The configuration


@pytest.fixture(scope="module")
def unstarted(tmp_path_factory):
    return SignerService(BINARY, tmp_path_factory.mktemp("configuration"))


def messages(service, signers):
    """(exit status, [(line of the file, message)]) of `privyseal check`."""
    service.configure(signers=signers)
    environment = {name: value for name, value in service.environment.items() if not name.startswith("PRIVYSEAL_")}
    command = [BINARY, "check", "--config", service.configuration]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    lines = service.configuration.read_text().splitlines()
    found = re.findall(rf"^(?:[a-z]+: )?{service.configuration}:(\d+): (.+)$", ended.stderr, re.MULTILINE)
    return ended.returncode, [(lines[int(number) - 1].strip(), message) for number, message in found]


# Name of the case: the lines of the section, a part of the line with the error, and the message.
ERRORS = {
    "no process": ("- name: files\n  processes: 0", "processes: 0", "[0].processes: is 0; it must be from 1 to 16."),
    "many processes": ("- name: files\n  processes: 17", "processes", "[0].processes: is 17; it must be from 1 to 16."),
    "processes as text": (
        "- name: files\n  processes: two",
        "processes: two",
        "[0].processes: must be a whole number, but is text; write it in decimal digits, without quotes or a unit.",
    ),
    "no name": (
        "- processes: 2",
        "processes: 2",
        "[0].name: is missing; give the name of the signer, which privyseal signers list shows, such as softhsm2.",
    ),
    "a name twice": (
        "- name: files\n- name: softhsm2\n- name: files # again",
        "# again",
        '[2].name: gives the signer "files" that is already given at FILE:9: signers[0].name; give it only once.',
    ),
    "a path twice": (
        "- name: files\n  sandbox:\n    paths:\n    - /a\n    - /a # again",
        "# again",
        '[0].sandbox.paths[1]: gives the path "/a" that is already given at FILE:12: signers[0].sandbox.paths[0]; '
        "give it only once.",
    ),
    "a relative path": (
        "- name: files\n  sandbox: {paths: [a]}",
        "[a]",
        "[0].sandbox.paths[0]: must be an absolute path, such as /opt/vendor.",
    ),
    "a relative socket": (
        "- name: files\n  socket: unix:a.sock",
        "a.sock",
        "[0].socket: must be the absolute path of a socket, such as unix:/run/privyseal/hsm-a.sock.",
    ),
    "little memory": (
        "- name: files\n  sandbox: {memory: 63}",
        "memory",
        "[0].sandbox.memory: is 63; it must be from 64 to 65536.",
    ),
    "another network": ("- name: files\n  network: tcp", "tcp", "[0].network: must be none, local or any."),
    "a misspelt setting": (
        "- name: files\n  proceses: 2",
        "proceses",
        "[0].proceses: is not a known key; did you mean processes? "
        "The keys are name, inProcess, processes, network, socket, sandbox.",
    ),
    "a mapping": (
        "files: {}",
        "files: {}",
        ': must be a list, but is a mapping; begin each element with "- ", or write [a, b].',
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_of_the_section_names_its_line_and_the_cure(unstarted, case):
    signers, part, message = ERRORS[case]
    status, ((line, found),) = messages(unstarted, signers)
    assert (status, found) == (REFUSED_CONFIGURATION, "signers" + message.replace("FILE", str(unstarted.configuration)))
    assert part in line


def test_each_setting_without_effect_in_the_gateways_process_is_an_error(unstarted):
    settings = ["processes: 2", "network: any", "socket: /run/a.sock", "sandbox: {memory: 100}"]
    status, found = messages(unstarted, "\n  ".join(["- name: files", "inProcess: true", *settings]))
    cure = "has no effect with inProcess: true; remove one of them."
    assert status == REFUSED_CONFIGURATION
    assert found == [(line, f"signers[0].{line.partition(':')[0]}: {cure}") for line in settings]


@pytest.mark.parametrize("name", ["Files", "libsofthsm2.so"])
def test_a_signer_without_a_key_gets_a_warning_with_its_line(unstarted, name):
    status, found = messages(unstarted, f"- name: files\n- name: {name}")
    cure = f"has no effect, because no key has this signer; the signers are {FAULTY}, {FILES}, {REAL}."
    # The line of the list.
    assert (status, found) == (0, [("- name: files", f"signers[1].name: {cure}")])


def test_a_reload_with_an_error_in_the_section_changes_no_process(run):
    run.begin()
    before = run.service.children()
    run.service.configure(signers=f"- name: {FAULTY}\n  processes: 0")
    applied, detail = run.service.reload()
    assert not applied and "signers[0].processes: is 0; it must be from 1 to 16." in detail
    run.service.configure(signers="")
    assert run.service.children() == before
    run.check()
