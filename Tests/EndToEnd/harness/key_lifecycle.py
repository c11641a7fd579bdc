"""Gateways whose keys are changed while they serve, and an independent check of the log; without pytest, because
scripts/soak may use it too."""

import base64
import contextlib
import datetime
import hashlib
import json
import pathlib
import subprocess

from auditing import FEATURES, AuditCopy, AuditedService
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from polling import await_
from running import APP, ISSUER_ID, KEY_IDS
from service import digest, exchange, mint, write_key, write_secret

OLD, NEW, THIRD = KEY_IDS
NOT_IN_USE, NONE_IN_USE = "urn:privyseal:problem:key-not-in-use", "urn:privyseal:problem:no-key-in-use"
BODY = {"productId": "com.example.monthly", "offerIdentifier": "winback"}


class KeysInFiles:
    """Three keys in files, with their public keys."""

    environment, settings = {}, ""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.public = {key_id: write_key(self.path(key_id)).public_key() for key_id in KEY_IDS}

    def path(self, key_id):
        return self.directory / f"AuthKey_{key_id}.p8"

    def uri(self, number):
        return f"file:{self.path(KEY_IDS[number])}"

    def fingerprint(self, key_id):
        """As `publicKey` in a configuration."""
        form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        return f"sha256:{hashlib.sha256(self.public[key_id].public_bytes(*form)).hexdigest()}"


class KeyService(AuditedService):
    """A gateway with one account, two administrators besides `operator`, and the given keys."""

    administrators = ("ann", "ben")

    def __init__(self, binary, directory, keys=None, dual_control=False, more_of_keys=()):
        directory = pathlib.Path(directory)
        self.tokens = {name: mint() for name in self.administrators}
        for name, token in self.tokens.items():
            write_secret(directory / f"{name}.token", f"{token}\n".encode())
        self.dual_control, self.uris, self.audit = dual_control, dict(more_of_keys), ""
        # Further YAML members of an administrator.
        self.more_of_administrators = {}
        super().__init__(binary, directory, keys or KeysInFiles(directory))

    def configure(self, audit="", more="", extra_clients=(), uri=None, keys=(OLD,), active=OLD):
        """`keys`: the IDs of the declared keys."""
        declared = "\n".join(
            f'      - {{keyId: {key_id}, uri: "{self.uris.get(key_id) or self.keys.uri(KEY_IDS.index(key_id))}"}}'
            for key_id in keys
        )
        administrators = "\n".join(
            f'  - {{name: {name}, administrator: true, tokens: [{{sha256: "{digest(token)}"}}]'
            f"{self.more_of_administrators.get(name, '')}}}"
            for name, token in self.tokens.items()
        )
        self.configuration.write_text(f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
  admin: {{address: "unix:{self.directory}/admin.sock"}}
  metrics: {{address: "127.0.0.1:0"}}
drainDelay: 0
{more}{self.keys.settings}accounts:
  - issuerId: {ISSUER_ID}
    dualControl: {self.dual_control if isinstance(self.dual_control, str) else str(self.dual_control).lower()}
    apps: [{{bundleId: {APP}, features: [{FEATURES}]}}]
    keys:
{declared}
    activeKey: {active}
clients:
{administrators}
  - name: load
    tokens: [{{sha256: "{digest(self.token)}"}}]
    allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"], keyIds: ["*"]}}]
    rate: {{perSecond: 100000, burst: 1000000}}
audit: {audit or f'{{database: {self.database}, checkpoints: {{interval: 1, file: {self.checkpoints}}}}}'}
""")

    def start_with_staged_keys(self, keys=KEY_IDS):
        """The first key is adopted as the active one; the others are staged."""
        self.start()
        self.configure(keys=keys)
        done, said = self.reload()
        assert done, said
        return self

    # Administration over HTTP

    def admin(self, method, path, body=None, by=None):
        """A request as this administrator, or as `operator`: (status, answer)."""
        headers = {"Authorization": f"Bearer {self.tokens.get(by, by)}"} if by else {}
        status, _, answer = self.ask(method, path, body, headers, listener="admin")
        return status, json.loads(answer) if answer else None

    def change(self, action, key_id, by=None, reason="because it is tested", **more):
        return self.admin("POST", f"/v1/keys/{key_id}/{action}", {"reason": reason, **more}, by)

    def approve(self, proposal, by):
        """Approves the proposal with the digest from the overview: (status, answer)."""
        _, overview = self.admin("GET", "/v1/keys")
        digests = [one.get("digest") for one in overview["proposals"] if one["id"] == proposal]
        return self.admin("POST", f"/v1/proposals/{proposal}/approve", {"digest": digests[0]} if digests else {}, by)

    def states(self):
        status, overview = self.admin("GET", "/v1/keys")
        assert status == 200, overview
        return {key["keyId"]: key["state"] for account in overview["accounts"] for key in account["keys"]}

    def activate(self, new, old, overlap=3600, **more):
        """Returns the time from which on the new key signs."""
        status, answer = self.change("activate", new, retiring=old, overlap=overlap, **more)
        assert status == 200, answer
        assert answer["outcome"] == "done"
        return next(key["since"] for key in answer["keys"] if key["keyId"] == new)

    # The command line

    def keys_command(self, *arguments, by=None):
        """`privyseal keys …` with an administrator's token, or with the configuration: (status, output, errors)."""
        if by:
            place = ["--admin", f"unix:{self.directory}/admin.sock", "--token-file", self.directory / f"{by}.token"]
        else:
            place = ["--config", self.configuration]
        ended = subprocess.run(
            [self.binary, "keys", *map(str, arguments), *place],
            capture_output=True, text=True, env=self.environment, stdin=subprocess.DEVNULL, timeout=120,
        )
        return ended.returncode, ended.stdout, ended.stderr

    def check(self):
        """`privyseal check`: (status, findings)."""
        status, output, errors = self.run("check", "--format", "json")
        assert output, errors
        return status, json.loads(output)

    # Signatures

    def sign_by_name(self, key_id):
        """The compatibility request, which names a key: (status, answer)."""
        query = f"appBundleID={APP}&keyIdentifier={key_id}&productIdentifier=com.example.monthly"
        headers = {"Authorization": f"Bearer {self.token}"}
        status, _, body = self.ask("GET", f"/?{query}&offerIdentifier=winback&applicationUsername=Ann", headers=headers)
        return status, json.loads(body)

    def signer(self):
        """The key that signs a request without a key ID; the problem type if the gateway refuses."""
        status, _, body = self.sign(f"/v1/apps/{APP}/legacy-promotional-offer", {**BODY, "applicationUsername": "Ann"})
        answer = json.loads(body)
        return answer["keyIdentifier"] if status == 200 else answer["type"]


def life(log):
    """The log's entries about keys: [(index, entry)]. Adoptions are omitted, because the gateway adds them later."""
    return [
        (index, entry)
        for index, entry in enumerate(log.entries)
        if entry["kind"] == "life" and entry["action"] != "adopt"
    ]


def changes(log):
    return [(index, entry) for index, entry in life(log) if entry["event"] == "changed"]


def adoptions(log):
    return [entry for entry in log.of_kind("life") if entry["action"] == "adopt"]


def moment(text):
    return datetime.datetime.fromisoformat(text)


def wrongly_signed(log, named=()):
    """Signatures with another key than the active one at the time of the entry.

    The order of entries does not count: an entry gets its time before it is written, and may follow a later change.
    `named`: IDs of requests that named a key."""
    actives, active = [], None
    for entry in (entry for entry in log.of_kind("life") if entry["event"] == "changed"):
        if entry["to"] == "active":
            active = entry["key"]
        elif entry["key"] == active:
            active = None
        else:
            continue
        actives.append((moment(entry["time"]), active))
    faults = []
    for entry in log.of_kind("signature"):
        before = [key for since, key in actives if since <= moment(entry["time"])]
        if entry["requestId"] not in named and before and entry["key"] != before[-1]:
            faults.append(f"{entry['requestId']} bears {entry['key']} at {entry['time']}, when {before[-1]} was active")
    return faults


def late_signatures(log, key_id, instant):
    """Signature entries of a key that are later than the time at which it stopped."""
    return [
        entry
        for entry in log.of_kind("signature")
        if entry["key"] == key_id and moment(entry["time"]) > moment(instant)
    ]


def false_signatures(log, signed, public):
    """Signatures that are not valid for the key in their log entry."""
    keys = {(entry["requestId"], entry.get("item")): entry["key"] for entry in log.of_kind("signature")}
    return [one for one in signed if not is_by(public[keys[one.request_id, one.item]], one)]


def is_by(key, one):
    signature = one.signature
    # A JWS signature is r ‖ s (RFC 7518 §3.4); a legacy signature is DER.
    if len(signature) == 64:
        halves = int.from_bytes(signature[:32]), int.from_bytes(signature[32:])
        signature = utils.encode_dss_signature(*halves)
    message = base64.urlsafe_b64decode(one.digest + "==")
    try:
        key.verify(signature, message, ec.ECDSA(utils.Prehashed(hashes.SHA256())))
        return True
    except InvalidSignature:
        return False


def register_faults(service):
    """Differences between the states that a gateway reports and those that follow from its log."""
    log = AuditCopy(service.database)
    told = {entry["key"]: entry["to"] for entry in log.of_kind("life") if entry["event"] == "changed"}
    states = service.states()
    faults = [f"{key_id} is {states.get(key_id)}, and the log says {state}" for key_id, state in told.items()
              if states.get(key_id) != state]
    if list(states.values()).count("active") > 1:
        faults.append(f"more than one key is active: {states}")
    return faults


@contextlib.contextmanager
def admin_connection(service):
    """A connection that is already open, so that a test can choose the time of a request."""
    with contextlib.closing(service.connect("admin")) as connection:
        yield lambda method, path, body: exchange(connection, method, path, body)


def await_state(service, key_id, state):
    await_(lambda: service.states().get(key_id) == state, lambda: f"{key_id} is {state}: {service.states()}", 10)
