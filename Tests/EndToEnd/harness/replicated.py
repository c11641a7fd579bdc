"""A gateway whose key has two places: two SoftHSM tokens; without pytest, because scripts/soak may use it too."""

import json
import os
import re
import shutil
import subprocess

from auditing import AuditCopy
from cryptography.hazmat.primitives import serialization
from key_lifecycle import OLD, KeysInFiles, KeyService
from polling import await_
from real_tokens import SOFTHSM
from service import write_key, write_secret

PIN = "274851"


class TwoTokens:
    """The tokens hsm-a and hsm-b with the same key. Each has a copy of the library, as tokens of two vendors have."""

    labels = ("hsm-a", "hsm-b")

    def __init__(self, directory, module=SOFTHSM):
        """`module`: the library of both, SoftHSM or FaultyPKCS11."""
        self.directory, self.settings = directory / "tokens", ""
        self.store = store = self.directory / "store"
        store.mkdir(parents=True)
        conf = self.directory / "softhsm2.conf"
        conf.write_text(
            f"directories.tokendir = {store}\nobjectstore.backend = file\nlog.level = ERROR\nslots.removable = false\n"
        )
        self.environment = {"SOFTHSM2_CONF": str(conf), "FAULTY_PKCS11_TARGET": SOFTHSM}
        write_secret(self.directory / "pin", f"{PIN}\n".encode())
        # KeysInFiles has files for all key IDs.
        self.files = KeysInFiles(directory)
        self.public = self.files.public
        self.places, self.modules = {}, {}
        for label in self.labels:
            before = set(store.iterdir())
            self._util("--init-token", "--free", "--label", label, "--pin", PIN, "--so-pin", "9" + PIN)
            (self.places[label],) = set(store.iterdir()) - before
            self.modules[label] = self.directory / f"{label}.so"
            shutil.copy(module, self.modules[label])
            self.add(label, OLD)

    def _util(self, *arguments):
        subprocess.run(
            ["softhsm2-util", "--module", SOFTHSM, *arguments], check=True, capture_output=True,
            env={**os.environ, **self.environment},
        )

    def add(self, label, key_id, file=None):
        """Imports the key of that ID, or another one from `file`."""
        path = file or self.files.path(key_id)
        pem = serialization.load_pem_private_key(path.read_bytes(), None).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        copy = self.directory / "import.pem"
        write_secret(copy, pem)
        number = f"{len(list(self.places[label].iterdir())):02x}"
        self._util("--import", str(copy), "--token", label, "--label", key_id, "--id", number, "--pin", PIN)
        copy.unlink()

    def add_another(self, label, key_id):
        """Imports a new key under this ID. Returns its file."""
        file = self.directory / "another.p8"
        write_key(file)
        self.add(label, key_id, file)
        return file

    def add_deriving(self, label, key_id):
        """Imports the key of that ID with CKA_DERIVE."""
        path = self.files.path(key_id)
        key = serialization.load_pem_private_key(path.read_bytes(), None)
        private, public = self.directory / "private.der", self.directory / "public.der"
        write_secret(
            private,
            key.private_bytes(
                serialization.Encoding.DER, serialization.PrivateFormat.TraditionalOpenSSL,
                serialization.NoEncryption(),
            ),
        )
        write_secret(
            public,
            key.public_key().public_bytes(
                serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
            ),
        )
        for kind, file in (("privkey", private), ("pubkey", public)):
            usage = ("--usage-sign", "--usage-derive") if kind == "privkey" else ()
            done = self.tool(
                label, "--write-object", file, "--type", kind, "--label", key_id, "--id", "77", *usage
            )
            assert done.returncode == 0, done.stderr
            file.unlink()

    def tool(self, label, *arguments):
        return subprocess.run(
            ["pkcs11-tool", "--module", SOFTHSM, "--token-label", label, "--login", "--pin", "env:PIN", *arguments],
            capture_output=True, text=True, env={**os.environ, **self.environment, "PIN": PIN}, timeout=60,
        )

    def remove(self, label, key_id):
        for kind in ("privkey", "pubkey"):
            self.tool(label, "--delete-object", "--type", kind, "--label", key_id)

    def objects(self, label, key_id):
        """The number of objects with the key's label."""
        # SoftHSM fails while the files of a token are being replaced, and on files that a kill left empty.
        listed = await_(lambda: (one := self.tool(label, "--list-objects")).returncode == 0 and one, "the objects", 5, pause=0.2)
        return sum(line.strip().startswith("label:") and key_id in line for line in listed.stdout.splitlines())

    def uri_on(self, label, key_id=OLD):
        return (
            f"pkcs11:token={label};object={key_id}?module-path={self.modules[label]}"
            f"&pin-source=file:{self.directory}/pin"
        )

    def lose(self, label):
        """Moves the token's directory away, as if a person had removed the token."""
        self.places[label].rename(self.directory / f"away-{label}")

    def put_back(self, label):
        (self.directory / f"away-{label}").rename(self.places[label])

    def serial(self, label):
        listed = subprocess.run(
            ["pkcs11-tool", "--module", SOFTHSM, "--list-token-slots"], capture_output=True, text=True,
            env={**os.environ, **self.environment}, timeout=60,
        ).stdout.split("Slot ")
        (slot,) = [slot for slot in listed if f"token label        : {label}" in slot]
        (line,) = [line for line in slot.splitlines() if "serial num" in line]
        return line.split(":")[1].strip()


class ReplicatedService(KeyService):
    """A gateway with the key OLD at hsm-a and hsm-b, or at the places of `tokens`, and further keys in files."""

    def __init__(self, binary, directory, tokens=None, selection="inOrder", pinned=False, **how):
        self.held = tokens or TwoTokens(directory)
        self.selection, self.pinned = selection, pinned
        self.held.files.environment = self.held.environment
        super().__init__(binary, directory, self.held.files, **how)

    def configure(self, audit="", more="", extra_clients=(), uri=None, keys=(OLD,), active=OLD, labels=None):
        """`labels`: the places of OLD. Without `proofInterval` in `more`, proofs are frequent."""
        labels = labels or self.held.labels
        self.uris[OLD] = "OLD-URI"
        more = more if "proofInterval" in more else f"proofInterval: 1\n{more}"
        super().configure(audit, more, extra_clients, uri, keys, active)
        fields = f'uri: "{self.held.uri_on(labels[0])}"'
        if len(labels) > 1:
            rest = ", ".join(f'"{self.held.uri_on(label)}"' for label in labels[1:])
            fields += f", replicas: [{rest}], selection: {self.selection}"
        if self.pinned:
            fields += f', publicKey: "{self.pinned}"'
        text = self.configuration.read_text().replace('uri: "OLD-URI"', fields)
        self.configuration.write_text(text)

    def places(self, key_id=OLD):
        """The fitness of each place of the key, in order."""
        status, overview = self.admin("GET", "/v1/keys")
        assert status == 200, overview
        (key,) = [key for account in overview["accounts"] for key in account["keys"] if key["keyId"] == key_id]
        return [place["fitness"] for place in key["replicas"]]

    def await_places(self, *wanted, seconds=90):
        await_(lambda: self.places() == list(wanted), lambda: f"{wanted}, not {self.places()}", seconds)

    def is_ready(self):
        return self.ask("GET", "/readyz")[0] == 200

    def signers(self):
        """The serial numbers of the tokens in the signature entries."""
        return [entry.get("tokenSerial") for entry in AuditCopy(self.database).of_kind("signature")]

    def series(self, name):
        """The series of a metric: [(labels, value)]."""
        text = self.ask("GET", "/metrics", listener="metrics")[2].decode()
        rows = re.findall(rf"^{name}{{(.*)}} (\S+)$", text, re.MULTILINE)
        return [(dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value)) for labels, value in rows]


def state_of(service, key_id=OLD):
    (key,) = [key for key in service.status()["keys"] if key["keyId"] == key_id]
    return key


def reasons(service, kind="key"):
    return json.dumps(AuditCopy(service.database).of_kind(kind))
