"""A gateway with a key in a file, and an empty SoftHSM token for provisioning jobs."""

import os
import signal
import subprocess
import time

import auditing
from conftest import BINARY, ROOT
from key_lifecycle import NEW, KeysInFiles, KeyService
from service import write_key

MODULE = "/usr/lib/softhsm/libsofthsm2.so"


class TokenAndGateway:
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
