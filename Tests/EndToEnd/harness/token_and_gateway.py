"""Commands that import and destroy keys on SoftHSM tokens beside a gateway."""

import os
import subprocess
import time

from conftest import BINARY
from key_lifecycle import NEW, OLD, KeysInFiles, KeyService
from polling import await_
from real_tokens import SOFTHSM, copy_tokens, make_token
from service import write_key
from signers import FaultRules

# SoftHSM 2.6.1 fails now and then while another process writes files of the token (its issue 757), and on files that a kill
# left empty. It may also list a private key before its public key, and answer for a key whose file it cannot read as if all
# its attributes had their defaults.
SOFTHSM_FAULTS = ("CKR_GENERAL_ERROR", "CKR_FUNCTION_FAILED", "neither a public key", "CKA_TOKEN is false")


class JobsBesideGateway:
    """Commands for the key NEW beside the gateway `service`.

    `store`: the directory of SoftHSM's tokens. `environment`: the gateway's variables. Only the commands obey `faults`, and
    only if the module is FaultyPKCS11."""

    def __init__(self, directory, service, store, environment):
        self.directory, self.service, self.store, self.faults = directory, service, store, FaultRules(directory)
        self.environment = {**environment, **self.faults.environment}
        self.file = directory / "incoming.p8"
        self.public = write_key(self.file).public_key()

    def command(self, *arguments):
        return [BINARY, "keys", *map(str, arguments), "--config", str(self.service.configuration), "--yes"]

    def popen(self, command, **how):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, text=True, env={**os.environ, **self.environment}, **{**pipes, **how})

    def run(self, *arguments):
        return self.run_command(self.command(*arguments))

    def run_command(self, command):
        """Repeats the command after a fault of SoftHSM, at most three times, unless the test has given the module faults."""
        for _ in range(4):
            ended = self._run_once(command)
            has_softhsm_fault = any(fault in ended.stderr for fault in SOFTHSM_FAULTS)
            if ended.returncode == 0 or not has_softhsm_fault or self.faults.rules.stat().st_size:
                break
            print(f"SoftHSM failed: {ended.stderr}")
        return ended

    def _run_once(self, command):
        with self.popen(command) as process:
            try:
                said = process.communicate(timeout=120)
            finally:
                process.kill()
        return subprocess.CompletedProcess(command, process.returncode, *said)

    def completed(self, *arguments):
        """Completes a job that a kill interrupted."""
        ended = self.run(*arguments)
        assert ended.returncode == 0 or "already" in ended.stderr, ended.stdout + ended.stderr

    def killed(self, after, *arguments):
        """Starts a command and kills it after this time in seconds."""
        self._kill_after(lambda: time.sleep(after), *arguments)

    def killed_in(self, function, *arguments):
        """Kills a command when it calls this function of its module."""
        self.faults.forget()
        self.faults.set(f"{function} hang")
        self._kill_after(lambda: await_(lambda: self.faults.count(function), f"a call of {function}"), *arguments)
        self.faults.clear()

    def _kill_after(self, wait, *arguments):
        # SoftHSM rewrites these files at each login. A kill between truncation and write would destroy the token.
        descriptions = {path: path.read_bytes() for path in self.store.glob("*/token.object")}
        with self.popen(self.command(*arguments)) as process:
            try:
                wait()
            finally:
                process.kill()
        for path, whole in descriptions.items():
            if path.stat().st_size < len(whole):
                path.write_bytes(whole)

    def destroy(self):
        return ("destroy", NEW, "--reason", "a test")

    def work(self):
        status, overview = self.service.admin("GET", "/v1/keys")
        assert status == 200, overview
        return overview["ceremonies"]

    def open_work(self):
        return [(work["action"], work["keyId"]) for work in self.work()]

    def await_end(self):
        """The gateway may notice the key a moment later."""
        await_(lambda: self.work() == [], lambda: f"the end of the work {self.work()}")


class TokenAndGateway(JobsBesideGateway):
    """An empty SoftHSM token, and a gateway with a key in a file."""

    def __init__(self, directory, module=SOFTHSM):
        self.token, self.module = directory / "token", module
        copy_tokens(make_empty_token, self.token)
        keys = KeysInFiles(directory)
        keys.environment = {"SOFTHSM2_CONF": str(self.token / "softhsm2.conf"), "FAULTY_PKCS11_TARGET": SOFTHSM}
        service = KeyService(BINARY, directory, keys)
        super().__init__(directory, service, self.token / "tokens", keys.environment)
        service.start_with_staged_keys(keys=(OLD,))

    @property
    def uri(self):
        return f"pkcs11:token=store;object={NEW}?module-path={self.module}&pin-source=file:{self.token}/pin"

    def tool(self, *arguments):
        return token_tool(self.token, *arguments)

    def objects(self):
        """The kinds of the objects with the key's label."""
        # SoftHSM fails while the files of a token are being replaced, and on files that a kill left empty.
        listed = await_(lambda: (one := self.tool("--list-objects")).returncode == 0 and one, "the objects", 5, pause=0.2)
        kinds, kind = [], None
        for line in listed.stdout.splitlines():
            if " Object" in line:
                kind = line.split(" Key")[0].strip() if " Key" in line else line.split(" Object")[0].strip()
            if line.strip().startswith("label:") and NEW in line:
                kinds.append(kind)
        return sorted(kinds)

    def import_(self):
        return ("import", self.file, "--into", self.uri, "--key-id", NEW, "--reason", "a test")


def token_tool(token, *arguments):
    """pkcs11-tool, as the user of the token `store`."""
    command = ["pkcs11-tool", "--module", SOFTHSM, "--token-label", "store", "--login", "--pin", "env:PIN", *arguments]
    variables = {"SOFTHSM2_CONF": str(token / "softhsm2.conf"), "PIN": (token / "pin").read_text().strip()}
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, timeout=60)


def make_empty_token(directory):
    make_token(directory, "store", "x")
    for kind in ("privkey", "pubkey"):
        token_tool(directory, "--delete-object", "--type", kind, "--label", "x")


def keys_first():
    return OLD


def took(beside, *arguments):
    begun = time.monotonic()
    ended = beside.run(*arguments)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return time.monotonic() - begun


def declare(beside):
    """Adds the key to the configuration, as a destruction requires."""
    beside.service.uris[NEW] = beside.uri
    beside.service.configure(keys=(OLD, NEW))
    done, said = beside.service.reload()
    assert done, said
    beside.await_end()
    assert beside.service.states()[NEW] == "staged"
