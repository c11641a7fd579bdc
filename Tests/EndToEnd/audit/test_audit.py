"""The contents of a gateway's audit log after normal use, after kills, and after refused requests."""

import base64
import concurrent.futures
import contextlib
import hashlib
import http.client
import http.server
import json
import pathlib
import random
import re
import shutil
import socket
import threading
import urllib.parse
import uuid

import pytest
from auditing import (
    LEGACY,
    OFFER,
    SEGMENT,
    AuditCopy,
    AuditedService,
    KeepingLoad,
    Kills,
    await_,
    everything_wrong,
    example,
    notes_in,
    public_key,
    signed,
)
from conftest import BINARY
from edits import back_up, edited
from outages import OUTAGES, Unavailable, run
from running import APP, KEY_IDS, FileKeys, TokenKeys, allowed, request_bytes
from scripted_server import LocalServer
from service import REFUSED_CONFIGURATION, exchange, mint, write_secret

# Fields in the log of requests.
ASKED, ASKER = "POST /v1/apps/{bundleId}/{feature}", f"listener=public client=load app={APP} feature=promotional-offer"
KINDS = {"files": FileKeys, "a token": TokenKeys}


@pytest.fixture
def service(place):
    """A gateway that is not started."""
    return AuditedService(BINARY, place, FileKeys(place))


def refusals(service):
    return [(e["requestId"], e["reason"], e["status"]) for e in AuditCopy(service.database).of_kind("refusal")]


def told_of(service, request_id):
    """The lines about a request in the log of requests, without their durations."""
    lines = re.findall(r" privyseal\.access: (.*)", service.log.read_text())
    return [re.sub(r" durationMs=\S+", "", line) for line in lines if f"requestId={request_id}" in line.split()]


def ask_with_an_unfinished_body(service, request_id, framing, then):
    """Sends bytes that look like a complete request, although their framing announces more. Then calls `then`.

    Returns status, problem, and whether the connection ends; None if the caller has gone.
    """
    head, body = request_bytes(service.token)
    length = f"Content-Length: {len(body)}\r\n".encode()
    if framing == "chunks":
        framed, body = b"Transfer-Encoding: chunked\r\n", b"%x\r\n%s\r\n" % (len(body), body)
    else:
        framed = f"Content-Length: {len(body) + 1}\r\n".encode()
    head = head.replace(length, framed + f"X-Request-Id: {request_id}\r\n".encode())
    with contextlib.closing(service.connect().sock) as channel:
        channel.sendall(head + body)
        then(channel)
        if channel.fileno() < 0:
            return None
        answer = http.client.HTTPResponse(channel)
        answer.begin()
        said = json.loads(answer.read())
        assert channel.recv(1) == b""
        return answer.status, said, answer.headers["Connection"] == "close"


# Kills


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_has_an_entry_after_kills_under_load(place, kind):
    kills = Kills(AuditedService(BINARY, place, KINDS[kind](place)), random.Random(kind))
    for _ in range(5 if kind == "files" else 2):
        kills.one()
        assert kills.faults() == []
    with kills.service:
        pass
    assert kills.faults() == [] and kills.signed


def test_the_independent_check_finds_missing_and_extra_entries(service):
    with service:
        load = KeepingLoad(service)
        load.wait_for(50)
        load.stop()
    assert everything_wrong(service, load.signed) == []
    stranger = signed("nobody", None, json.loads(service_answer(load)), {})
    assert len(everything_wrong(service, [*load.signed, stranger])) == 1
    assert len(everything_wrong(service, load.signed[1:])) == 1


def service_answer(load):
    return json.dumps({"jws": f"e30.e30.{'A' * 86}", "nonce": load.signed[0].nonce})


# Refusals


def test_repeated_refusals_give_one_entry_for_each_client_and_minute(place):
    narrow, slow = mint(), mint()
    others = [allowed("narrow", narrow, apps="[com.example.other]"), allowed("slow", slow, burst=1)]
    others[1] = others[1].replace("perSecond: 100000", "perSecond: 0.001")
    service = AuditedService(BINARY, place, FileKeys(place), extra_clients=others)
    with service:
        assert service.sign(token=slow)[0] == 200
        for token, expected in ((mint(), 401), (narrow, 403), (slow, 429)):
            with contextlib.closing(service.connect()) as connection:
                headers = {"Authorization": f"Bearer {token}"}
                for _ in range(1000):
                    body = {"productId": "com.example.monthly", "offerIdentifier": "winback"}
                    assert exchange(connection, "POST", OFFER, body, headers)[0] == expected
    log = AuditCopy(service.database)
    entries = log.of_kind("refusals")
    # Three clients were refused, and the minute may have changed.
    assert 3 <= len(entries) <= 6 and not log.of_kind("refusal")
    counted = {(entry.get("client"), reason): 0 for entry in entries for reason in entry["counts"]}
    for entry in entries:
        for reason, count in entry["counts"].items():
            counted[entry.get("client"), reason] += count
    assert counted == {(None, "unauthenticated"): 1000, ("narrow", "forbidden"): 1000, ("slow", "rate-limited"): 1000}


def test_the_gateway_records_other_refusals_individually(service):
    with service:
        status, _, _ = service.sign(body={"productId": "", "offerIdentifier": "winback"}, request_id="empty-product")
        assert status == 422
        batch = {"requests": [{"productId": "com.example.monthly", "offerIdentifier": "winback"}, {"productId": ""}]}
        assert service.sign(OFFER + "/batch", batch, request_id="half-a-batch")[0] == 200
    log = AuditCopy(service.database)
    refused = [(e["requestId"], e.get("item"), e["reason"], e["status"]) for e in log.of_kind("refusal")]
    assert refused == [("empty-product", None, "invalid-request", 422), ("half-a-batch", 1, "invalid-request", 422)]
    assert [(e["requestId"], e["item"]) for e in log.of_kind("signature")] == [("half-a-batch", 0)]


def test_a_refusal_entry_names_only_the_configured_parts_of_the_request(service):
    with service:
        assert service.sign(f"/v1/apps/{APP}/promotional-offers", request_id="no-feature")[0] == 404
        assert service.sign("/v1/apps/com.example.other/promotional-offer", request_id="no-app")[0] == 404
        assert service.sign(body={"productId": ""}, request_id="active")[0] == 422
        status, _, answer = service.ask(
            "POST", f"/v1/keys/{KEY_IDS[0]}/suspend", {"reason": "A test."}, listener="admin")
        assert status == 200, answer
        assert service.sign(body={"productId": ""}, request_id="no-key")[0] == 422
        assert service.sign(request_id="nothing-signs")[0] == 503
    status, _, _ = service.run("sign", "promotional-offer", "--app", APP, "productId=", "offerIdentifier=x")
    assert status != 0
    refused = AuditCopy(service.database).of_kind("refusal")
    assert [(e.get("app"), e.get("feature"), e.get("key"), e["reason"]) for e in refused] == [
        (APP, None, None, "unknown-feature"),
        (None, None, None, "unknown-app"),
        (APP, "promotional-offer", KEY_IDS[0], "invalid-request"),
        (APP, "promotional-offer", None, "invalid-request"),
        (APP, "promotional-offer", None, "no-key-in-use"),
        (APP, "promotional-offer", None, "invalid-request"),
    ]


def test_the_gateway_counts_each_answer_to_a_client_over_its_rate_once(service):
    narrow = mint()
    limited = allowed("limited", narrow, burst=2).replace("perSecond: 100000", "perSecond: 0.001")
    service.configure(extra_clients=[limited])
    with service:
        path = f"/v1/apps/{APP}/none"
        assert [service.sign(path, token=narrow)[0] for _ in range(5)] == [404] * 5
        assert service.sign(token=narrow)[0] == 429
        assert service.metric("privyseal_rate_limited_total", client="limited") == 1
    log = AuditCopy(service.database)
    assert len(log.of_kind("refusal")) == 2
    (counts,) = [entry["counts"] for entry in log.of_kind("refusals") if entry.get("client") == "limited"]
    assert counts == {"unknown-feature": 3, "rate-limited": 1}


def test_the_entry_of_a_late_body_matches_the_answer_to_its_caller(service):
    service.configure(more="limits: {requestTimeout: 1}\n")
    with service:
        status, said, closes = ask_with_an_unfinished_body(service, "too-late", "a length", lambda channel: None)
    assert (status, said["type"], said["requestId"]) == (408, "urn:privyseal:problem:request-timeout", "too-late")
    assert closes
    assert refusals(service) == [("too-late", "request-timeout", 408)]
    assert told_of(service, "too-late") == [f"{ASKED} status=408 {ASKER} problem=request-timeout requestId=too-late"]


def test_the_entry_of_a_late_signature_has_the_request_id_of_the_answer(place):
    with OUTAGES["the disk hangs"](place) as outage:
        more = "limits: {requestTimeout: 1}\n"
        service = AuditedService(
            BINARY, place, FileKeys(place), "writeTimeout: 30", more=more, environment=outage.environment)
        with service:
            assert service.sign()[0] == 200
            outage.begin()
            status, headers, body = service.sign(request_id="too-late")
            said = json.loads(body)
            assert (status, said["requestId"], headers["X-Request-Id"]) == (504, "too-late", "too-late")
            outage.end()
    assert [e["requestId"] for e in AuditCopy(service.database).of_kind("signature")][1:] == ["too-late"]
    assert told_of(service, "too-late") == [f"{ASKED} status=504 {ASKER} problem=deadline-exceeded requestId=too-late"]


@pytest.mark.parametrize("framing", ["a length", "chunks"])
def test_the_gateway_does_not_sign_a_truncated_body_that_is_valid_json(service, framing):
    with service:
        half_close = lambda channel: channel.shutdown(socket.SHUT_WR)
        status, said, closes = ask_with_an_unfinished_body(service, "half-closed", framing, half_close)
        assert (status, said["type"], said["requestId"]) == (400, "urn:privyseal:problem:malformed-body", "half-closed")
        assert closes
        assert ask_with_an_unfinished_body(service, "left", framing, lambda channel: channel.close()) is None
        await_(lambda: told_of(service, "left"), "the request whose caller left is over")
    assert refusals(service) == [("half-closed", "malformed-body", 400), ("left", "malformed-body", 400)]
    assert AuditCopy(service.database).of_kind("signature") == []


def test_the_gateway_does_not_sign_a_body_with_invalid_chunks(service):
    with service:
        garbage = lambda channel: channel.sendall(b"no chunk\r\n")
        status, said, closes = ask_with_an_unfinished_body(service, "garbage", "chunks", garbage)
    assert (status, said["type"], closes) == (400, "urn:privyseal:problem:malformed-request", True)
    assert refusals(service) == [("garbage", "malformed-request", 400)]
    assert AuditCopy(service.database).of_kind("signature") == []


# Events of the gateway


def test_the_gateway_records_start_stop_reload_and_client_changes(service):
    with service:
        guest = allowed("guest", mint())
        service.configure(extra_clients=[guest])
        assert service.reload() == (True, "applied")
        service.configure(extra_clients=[guest.replace("burst: 1000000", "burst: 7")])
        assert service.reload("signal")[0]
        service.configure()
        assert service.reload()[0]
        assert service.reload() == (True, "unchanged")
        service.configuration.write_text(service.configuration.read_text() + "lissen: 1\n")
        assert not service.reload()[0]
        refused = service.configuration.read_bytes()
    log = AuditCopy(service.database)
    assert log.entries[0]["kind"] == "start" and log.entries[-1]["kind"] == "stop"
    assert log.outcomes("reload", "outcome") == ["applied", "applied", "applied", "unchanged", "refused"]
    changes = [(entry["change"], entry["client"]) for entry in log.of_kind("client")]
    assert changes == [("added", "guest"), ("changed", "guest"), ("removed", "guest")]
    assert all(entry["actor"] for kind in ("reload", "client") for entry in log.of_kind(kind))
    applied = [entry["configuration"] for entry in log.of_kind("reload") if entry["outcome"] == "applied"]
    assert len(set(applied)) == 3 and log.entries[0]["configuration"] == applied[-1]
    digest = base64.urlsafe_b64encode(hashlib.sha256(refused).digest()).decode().rstrip("=")
    assert log.of_kind("reload")[-1]["configuration"] == digest


def test_the_gateway_records_each_of_many_clients_added_in_one_reload(service):
    with service:
        service.configure(extra_clients=[allowed(f"guest{number}", mint()) for number in range(2000)])
        assert service.reload() == (True, "applied")
    log = AuditCopy(service.database)
    assert len({entry["client"] for entry in log.of_kind("client")}) == 2000
    assert len(log.of_kind("reload")) == 1 and log.of_kind("outage") == []


def test_an_invalid_entry_does_not_break_the_json_of_the_admin_listener(service):
    with service:
        service.sign()
        with edited(service.database) as database:
            forged = b'{"kind":"idle"}},{"index":77777,"entry":{"kind":"signature"}'
            database.execute("UPDATE entry SET body = ? WHERE idx = 1", (forged,))
        status, _, body = service.ask("GET", "/v1/audit/entries/1", listener="admin")
        assert status == 200 and base64.b64decode(json.loads(body)["damaged"]) == forged
        status, _, body = service.ask("GET", "/v1/audit/entries", listener="admin")
        assert status == 200 and 77777 not in {entry["index"] for entry in json.loads(body)["entries"]}


def test_the_gateway_records_the_loss_and_the_return_of_a_token(place):
    keys = TokenKeys(place)
    tokens, away = keys.directory / "tokens", keys.directory / "away"
    service = AuditedService(BINARY, place, keys)
    with service:
        assert service.sign()[0] == 200
        tokens.rename(away)
        await_(lambda: service.sign()[0] == 503, "a token that is away")
        away.rename(tokens)
        await_(lambda: service.sign()[0] == 200, "a token that is back", 30)
        await_(lambda: service.status()["keys"][0]["state"] == "ready", "a key that is ready again")
    log = AuditCopy(service.database)
    # SoftHSM still finds the token when its directory is gone, but not the key.
    assert log.outcomes("key", "state") == ["ready", "down", "ready"]
    refused = [entry["reason"] for entry in log.of_kind("refusal")]
    assert refused and set(refused) == {"key-unavailable"}


def test_the_gateway_records_a_refused_pin(place):
    keys = TokenKeys(place)
    service = AuditedService(BINARY, place, keys)
    with service:
        service.configure(uri=keys.secret_faults["a wrong PIN"])
        assert not service.reload()[0]
        assert service.sign()[0] == 200
    log = AuditCopy(service.database)
    assert log.outcomes("token", "event") == ["pin-refused"]
    assert log.outcomes("key", "state") == ["ready", "refused", "ready"], "the key that goes on signing is ready"


def test_the_log_records_the_key_of_a_refused_configuration_as_removed(service):
    with service:
        text = service.configuration.read_text()
        service.configuration.write_text(text.replace("keys: [", "keys: [{keyId: NEWKEY, uri: file:/none.p8}, "))
        assert not service.reload()[0]
        assert service.sign()[0] == 200
    states = [(entry["key"], entry["state"]) for entry in AuditCopy(service.database).of_kind("key")]
    assert [state for key, state in states if key == "NEWKEY"][-1] == "removed"
    assert {state for key, state in states if key != "NEWKEY"} == {"ready"}


# The command line


def test_the_command_line_records_its_signatures_beside_a_gateway_that_signs(service):
    arguments = ("sign", "promotional-offer", "--app", APP, "productId=com.example.monthly", "offerIdentifier=cli")
    status, output, error = service.run(*arguments)
    assert status == 0, error
    answers = [json.loads(output)]
    with service:
        load = KeepingLoad(service)
        for _ in range(5):
            load.wait_for(len(load.signed) + 20)
            status, output, error = service.run(*arguments)
            assert status == 0, error
            answers.append(json.loads(output))
        load.stop()
        assert load.surprises == []
    status, output, error = service.run(*arguments[:-1], "offerIdentifier=")
    assert status == 1
    log = AuditCopy(service.database)
    mine = {entry["nonce"]: entry["digest"] for entry in log.of_kind("signature") if entry["offers"] == ["cli"]}
    assert mine == {answer["nonce"]: signed("", None, answer, {}).digest for answer in answers}
    assert [entry["reason"] for entry in log.of_kind("refusal")] == ["invalid-request"]
    theirs = {(e["requestId"], e.get("item")) for e in log.of_kind("signature") if e["offers"] == ["cli"]}
    assert len(theirs) == len(answers)
    assert everything_wrong(service, load.signed, theirs) == []


# Checkpoints


class Witness(LocalServer):
    """A server that accepts checkpoints over HTTP, refuses them, or holds them while `goes_on` is not set."""

    def __init__(self):
        self.notes, self.strangers, self.status, self.held = [], [], 200, 0
        self.token = mint()
        self.goes_on = threading.Event()
        self.goes_on.set()
        witness = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                if self.headers["Authorization"] != f"Bearer {witness.token}":
                    witness.strangers.append(body)
                elif witness.status == 200:
                    witness.notes.append(body)
                if not witness.goes_on.is_set():
                    witness.held += 1
                    witness.goes_on.wait(60)
                self.send_response(witness.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_): ...

        super().__init__(Handler)

    def __exit__(self, *_):
        self.goes_on.set()
        super().__exit__()


def witnessed(place, witness, more=""):
    """A gateway that sends a checkpoint each second to a file and to the witness."""
    write_secret(place / "witness.token", f"{witness.token}\n".encode())
    return AuditedService(BINARY, place, FileKeys(place), f"""checkpoints:
    interval: 1
    file: {place}/checkpoints
    url: {witness.url}/checkpoints
    tokenFile: {place}/witness.token
    {more}""")


def test_an_idle_gateway_sends_checkpoints_to_every_destination_even_if_one_fails(place):
    with Witness() as witness:
        service = witnessed(place, witness, "output: stdout")
        with service:
            # No client sends a request meanwhile.
            await_(lambda: len(witness.notes) >= 3, "three checkpoints")
            witness.status = 500
            complaint = await_(lambda: destination(service, "url").get("complaint"), "a complaint")
            assert "500" in complaint and "complaint" not in destination(service, "file")
            assert service.sign()[0] == 200
            count = len(notes_in(service.checkpoints))
            await_(lambda: len(notes_in(service.checkpoints)) > count, "a checkpoint in the file")
            assert service.ask("GET", "/readyz")[0] == 200
            witness.status = 200
            await_(lambda: "complaint" not in destination(service, "url"), "the end of the complaint")
    keys = example.read_keys(public_key(service.database))
    sizes = [example.check_note(note, keys)[1] for note in witness.notes]
    assert witness.strangers == [] and sizes == sorted(set(sizes)) and len(sizes) >= 4
    filed, printed = notes_in(service.checkpoints), service.logs.decode()
    # The file also has the checkpoints that the witness refused.
    assert set(witness.notes) < set(filed) and all(note in printed for note in filed)
    log = AuditCopy(service.database)
    assert log.faults(public_key(service.database), [*filed, *witness.notes]) == []
    assert log.of_kind("idle") and sorted(log.kept) == sorted(filed)
    assert witness.token not in printed


def test_a_hanging_checkpoint_destination_does_not_delay_the_others(place):
    with Witness() as witness:
        service = witnessed(place, witness)
        with service:
            witness.goes_on.clear()
            await_(lambda: witness.held == 1, "a request that hangs")
            complaint = await_(lambda: destination(service, "url").get("complaint"), "a complaint")
            assert "has not accepted the previous checkpoint" in complaint
            asked, filed = len(witness.notes), len(notes_in(service.checkpoints))
            # Less than half of the time for which a POST may hang.
            await_(lambda: len(notes_in(service.checkpoints)) >= filed + 3, "checkpoints in the file", seconds=7)
            assert len(witness.notes) == asked
            witness.goes_on.set()
            await_(lambda: "complaint" not in destination(service, "url"), "the end of the complaint")
            await_(lambda: len(witness.notes) > asked, "the next checkpoint")


def test_the_last_checkpoint_waits_for_a_destination_that_still_receives_another(place):
    with Witness() as witness:
        service = witnessed(place, witness)
        service.start()
        witness.goes_on.clear()
        await_(lambda: destination(service, "url").get("complaint"), "a checkpoint that is on its way")
        stopping = threading.Thread(target=service.stop)
        stopping.start()
        await_(lambda: AuditCopy(service.database).of_kind("stop"), "the stop")
        witness.goes_on.set()
        stopping.join()
        size = len(AuditCopy(service.database).entries)
        assert service.process.returncode == 0 and witness.notes[-1].split("\n")[1] == str(size)


def test_the_complaint_about_an_invalid_destination_token_does_not_repeat_it(place):
    with Witness() as witness:
        service = witnessed(place, witness)
        write_secret(place / "witness.token", b"sesame4711\nsesame4712\n")
        with service:
            complaint = await_(lambda: destination(service, "url").get("complaint"), "a complaint")
            assert f"{place}/witness.token is not one line" in complaint
        assert b"sesame" not in service.logs and witness.strangers == []


def test_the_gateway_complains_while_nothing_listens_at_the_system_log_socket(place):
    with SystemLog(place) as log:
        service = AuditedService(log.binary, place, FileKeys(place), f"""checkpoints:
    interval: 1
    file: {place}/checkpoints
    output: syslog""")
        with service:
            complaint = await_(lambda: destination(service, "syslog").get("complaint"), "a complaint")
            assert "No process listens at /dev/log" in complaint
            log.listen()
            await_(lambda: "complaint" not in destination(service, "syslog"), "the end of the complaint")
            note = log.take()
    keys = example.read_keys(public_key(service.database))
    assert note in notes_in(service.checkpoints) and example.check_note(note, keys)


class SystemLog:
    """A directory for the system log's socket that only `binary` sees, in its own mount namespace."""

    def __init__(self, place):
        self.devices, self.path, self.binary = place / "dev", place / "system-log", place / "privyseal"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(20)

    def __enter__(self):
        try:
            run("unshare", "--mount", "true")
        except Unavailable as reason:
            pytest.skip(str(reason))
        self.devices.mkdir()
        names = ("null", "zero", "random", "urandom")
        for name in names:
            (self.devices / name).touch()
        (self.devices / "log").symlink_to(self.path)
        binds = "".join(f"mount --bind /dev/{name} {self.devices}/{name}\n" for name in names)
        self.binary.write_text(f"""#!/bin/sh -e
if [ "$1" = within ]; then
shift
{binds}mount --rbind {self.devices} /dev
exec {BINARY} "$@"
fi
exec unshare --mount "$0" within "$@"
""")
        self.binary.chmod(0o755)
        return self

    def listen(self):
        self.socket.bind(str(self.path))

    def take(self):
        """The first checkpoint received, as a note."""
        line = self.socket.recv(65536).decode()
        return line[line.index("checkpoint ") + len("checkpoint ") :].replace("|", "\n")

    def __exit__(self, *_):
        self.socket.close()


def destination(service, name):
    return next(place for place in service.status()["audit"]["destinations"] if place["name"] == name)


# Refused starts


def used(service):
    with service:
        service.sign()
    return service


def older_copy(service):
    older = service.directory / "older.db"
    used(service)
    shutil.copy(service.database, older)
    used(service)
    older.replace(service.database)
    return service


def junk_behind(service):
    with open(service.checkpoints, "ab") as file:
        file.write(b"hello\n" * 12_000)


def old_again(service):
    first = service.checkpoints.read_text().split("\n\n")[:2]
    with open(service.checkpoints, "a") as file:
        file.write(("\n\n".join(first) + "\n\n") * 10_000)


def larger_behind(service):
    """Adds checkpoints of this log with growing sizes, which its key did not sign."""
    text, signatures = service.checkpoints.read_text().split("\n\n")[:2]
    origin, _, *rest = text.split("\n")
    with open(service.checkpoints, "a") as file:
        for size in range(1000, 1600):
            file.write("\n".join([origin, str(size), *rest]) + f"\n\n{signatures}\n\n")


def unmounted(service):
    origin = service.checkpoints.read_text().splitlines()[0]
    service.configure(f"origin: {origin}")
    service.place.rename(service.directory / "elsewhere")
    service.place.mkdir()


def with_a_changed_head(service):
    used(service)
    content = service.database.read_bytes()
    at = content.rindex("\u2014 ".encode())
    service.database.write_bytes(content[: at + 60] + bytes([content[at + 60] ^ 1]) + content[at + 61 :])


def with_one_more(service):
    with edited(service.database) as database:
        database.execute("INSERT INTO entry SELECT idx + 1, mark, body FROM entry ORDER BY idx DESC LIMIT 1")


def without_a_head(service):
    service.checkpoints.unlink()
    with edited(service.database) as database:
        database.execute("DELETE FROM head")


@pytest.mark.parametrize(
    "name, spoil, says",
    [
        ("an older copy", older_copy, "older copy"),
        ("no key", lambda s: pathlib.Path(f"{used(s).database}.key").unlink(), "but not its key"),
        ("a key for others", lambda s: pathlib.Path(f"{used(s).database}.key").chmod(0o640), "chmod 600"),
        ("no database", lambda s: used(s).database.unlink(), "is missing, but"),
        ("no log", lambda s: used(s).database.write_bytes(b"SQLite?" * 1000), "not an audit log"),
        ("a changed head", with_a_changed_head, "is wrong: the note is not what was signed"),
        ("an older copy, and junk behind the checkpoints", lambda s: junk_behind(older_copy(s)), "older copy"),
        ("an older copy, and old checkpoints once more", lambda s: old_again(older_copy(s)), "older copy"),
        ("an older copy, and forged checkpoints", lambda s: larger_behind(older_copy(s)), "older copy"),
        ("an entry behind the end", lambda s: with_one_more(used(s)), "signed for"),
        ("entries without a head", lambda s: without_a_head(used(s)), "signed for"),
        ("something else than checkpoints", lambda s: used(s).checkpoints.write_bytes(b"hello\n"), "does not hold checkpoints"),
        ("neither database nor key", lambda s: unmounted(used(s)), "mount their file system"),
        ("another log's key", lambda s: another_key(used(s)), "None of the known keys signed the note"),
    ],
)
def test_the_gateway_and_the_command_line_refuse_a_changed_log(service, name, spoil, says):
    spoil(service)
    before = service.database.read_bytes() if service.database.exists() else None
    status, said = service.refuses_to_start()
    assert status == REFUSED_CONFIGURATION and says in said, said
    status, _, error = service.run(
        "sign", "promotional-offer", "--app", APP, "productId=com.example.monthly", "offerIdentifier=cli"
    )
    assert status == REFUSED_CONFIGURATION, error
    if name not in ("no database", "neither database nor key"):
        assert service.database.read_bytes() == before, "it was written to all the same"


def with_key_copied(second, first):
    second.configure(f"key: {second.database}.key")
    text = second.configuration.read_text()
    second.configuration.write_text(text.replace(f"database: {second.database}", f"database: {first.database}"))


WAYS = {
    "a copy of the key": with_key_copied,
    "a link to the database": lambda second, first: second.database.symlink_to(first.database),
    "a hard link to the database": lambda second, first: second.database.hardlink_to(first.database),
}


def test_a_second_gateway_refuses_a_database_that_another_one_uses(service):
    def start_second(way):
        directory = service.directory / way
        directory.mkdir()
        second = AuditedService(BINARY, directory, service.keys, place=directory / "log")
        WAYS[way](second, service)
        for ending in ("", ".pub"):
            shutil.copy(f"{service.database}.key{ending}", f"{second.database}.key{ending}")
        return second.refuses_to_start()

    with service:
        service.sign()
        # Each waits for the other gateway for ten seconds.
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for status, said in pool.map(start_second, WAYS):
                assert status == 1 and "Another process uses the audit log with " in said, said
        assert service.sign()[0] == 200


def test_check_and_keys_states_notice_an_older_copy_of_the_log(service):
    older_copy(service)
    says = "entries, but " + f"{service.checkpoints} has a checkpoint over "
    status, printed, _ = service.run("check")
    assert status == 1 and says in printed.decode() and "serve could not use the audit log: " in printed.decode()
    status, _, warned = service.run("keys", "states")
    assert status == 0 and says in warned.decode() and warned.decode().startswith("warning: ")


@pytest.mark.parametrize("name", ["no key", "a key for others"])
def test_check_notices_a_key_of_the_log_that_serve_could_not_use(service, name):
    key = pathlib.Path(f"{used(service).database}.key")
    assert service.run("check")[0] == 0
    if name == "no key":
        key.unlink()
    else:
        key.chmod(0o640)
    status, printed, _ = service.run("check")
    assert status == 1 and f"serve could not use the audit log: The audit log's key {key} " in printed.decode()


@pytest.mark.parametrize(
    "change", [lambda text: text.replace(b"\n", b"\r\n"), lambda text: b"\0" * 512], ids=["CRLF", "zeros"]
)
def test_verify_refuses_a_configured_checkpoint_file_that_holds_another_text(service, change):
    older_copy(service)
    service.checkpoints.write_bytes(change(service.checkpoints.read_bytes()))
    status, printed, said = service.run("audit", "verify", "--quiet")
    assert status == 64 and f"{service.checkpoints} holds no checkpoint, but another text".encode() in said, (printed, said)


def test_a_refused_start_with_an_older_database_keeps_the_write_ahead_log_intact(service):
    """After a crash, the newest entries are only in the write-ahead log."""
    older, right = service.directory / "older.db", service.directory / "right.db"
    service.start()
    load = KeepingLoad(service)
    load.wait_for(50)
    back_up(service.database, older)
    # Wait until the write-ahead log has been checkpointed and restarted, with other salts in its header.
    begun = salts(service)
    await_(lambda: salts(service) != begun, "a write-ahead log that begins anew", seconds=120)
    load.wait_for(len(load.signed) + 100)
    service.kill()
    load.stop()
    service.database.rename(right)
    older.rename(service.database)
    status, said = service.refuses_to_start()
    assert status == REFUSED_CONFIGURATION, said
    service.run("audit", "verify", "--quiet")
    # Readers and writers may have created files next to the copy; the right files replace them.
    right.rename(service.database)
    with service:
        assert service.sign(request_id="after")[0] == 200
    assert everything_wrong(service, load.signed, load.unanswered | {("after", None)}) == []


def salts(service):
    with open(f"{service.database}-wal", "rb") as file:
        return file.read(24)[16:]


def another_key(service):
    other = AuditedService(BINARY, service.directory, service.keys, place=service.directory / "other")
    with other:
        pass
    for suffix in (".key", ".key.pub"):
        shutil.copy(f"{other.database}{suffix}", f"{service.database}{suffix}")
    service.configure()


# Secrets

USERNAME, ACCOUNT = "Jane Döe <jane.doe@example.org>", "7E3FB204-2F2B-4A05-9A9F-2F5E5C9E5A43"
TRANSACTION, REFERENCE = "2000000812345678", "f55df048-4cd8-4261-b404-b6f813ff70e5"


@pytest.mark.parametrize("kind", KINDS)
def test_the_gateway_writes_no_user_identifier_no_signature_and_no_secret(place, kind):
    keys = KINDS[kind](place)
    stranger = mint()
    old_app = mint()
    by_key = allowed("old-app", old_app).replace('offers: ["*"]', 'offers: ["*"], keyIds: ["*"]')
    service = AuditedService(BINARY, place, keys, more="logging: {level: debug}\n", extra_clients=[by_key])
    with service:
        signatures = ask_for_everything(service, old_app)
        service.sign(token=stranger)
        # A full segment, so that there is a search index.
        batch = {"requests": [offer(applicationUsername=USERNAME)] * 100}
        while service.metric("privyseal_audit_size") < SEGMENT + 100:
            status, _, body = service.sign(LEGACY + "/batch", batch)
            assert status == 200, body
            signatures += [base64.b64decode(part["response"]["signature"]) for part in json.loads(body)["results"][:3]]
        await_(lambda: (service.place / "audit.index.db").exists(), "a search index")
        files = everything_in(service.place)
    files |= {f"{name}, later": content for name, content in everything_in(service.place).items()}
    files |= {"checkpoints": service.checkpoints.read_bytes(), "the gateway's log": service.logs}
    users = {"username": USERNAME, "account": ACCOUNT, "transaction": TRANSACTION, "reference": REFERENCE}
    searched = {name: shapes_of_text(text) for name, text in users.items()}
    secrets = {"token": service.token, "stranger's token": stranger, "old app's token": old_app}
    if kind == "a token":
        secrets |= {name: (keys.directory / name).read_text().strip() for name in ("pin", "so-pin")}
    searched |= {name: {text.encode(), base64.b64encode(text.encode())} for name, text in secrets.items()}
    searched |= {f"signature {number}": shapes_of_bytes(one) for number, one in enumerate(signatures)}
    log_key = pathlib.Path(f"{service.database}.key").read_text().strip().split("+", 4)[4]
    searched["log's key"] = {log_key.encode(), *shapes_of_bytes(base64.b64decode(log_key)[1:])}
    assert {"audit.db-wal", "audit.index.db", "audit.db.key.pub"} <= files.keys() and len(signatures) > 10
    # An allowed text is found, so the search would also find a forbidden one.
    # A gateway that stops on a busy machine leaves its last entries in the write-ahead log.
    stored = files["audit.db, later"] + files.get("audit.db-wal, later", b"")
    assert b"com.example.monthly" in stored
    found = [
        (name, what) for name, content in files.items() for what, shapes in searched.items() if any(s in content for s in shapes)
    ]
    assert found == []


def everything_in(place):
    """The contents of all files except the log's secret key; files may disappear meanwhile."""
    files = {}
    for path in place.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if path.suffix != ".key":
                files[path.name] = path.read_bytes()
    return files


def offer(**more):
    return {"productId": "com.example.monthly", "offerIdentifier": "winback", **more}


def ask_for_everything(service, old_app):
    """Sends one request of each kind that names a user, and some refused ones. Returns the signatures."""
    commerce = {
        "operation": "REACTIVATE_SUBSCRIPTION",
        "version": "1",
        "requestInfo": {"requestReferenceId": REFERENCE, "appAccountToken": ACCOUNT.lower()},
        "transactionId": TRANSACTION,
        "storefront": "USA",
    }
    paths = {
        LEGACY: [offer(applicationUsername=USERNAME), offer(appAccountToken=ACCOUNT)],
        OFFER: [offer(transactionId=TRANSACTION)],
        f"/v1/apps/{APP}/introductory-offer-eligibility": [
            {"productId": "com.example.monthly", "allowIntroductoryOffer": True, "transactionId": TRANSACTION}
        ],
        f"/v1/apps/{APP}/advanced-commerce-api": [
            {"request": commerce}, {"requestData": base64.b64encode(json.dumps(commerce).encode()).decode()}
        ],
    }  # fmt: skip
    signatures = []
    for path, bodies in paths.items():
        for body in bodies:
            status, _, answer = service.sign(path, body)
            assert status == 200, answer
            parts = json.loads(answer)
            if "jws" in parts:
                signatures.append(base64.urlsafe_b64decode(parts["jws"].rpartition(".")[2] + "=="))
            else:
                signatures.append(base64.b64decode(parts["signature"]))
    for path, body in (
        (LEGACY, offer(applicationUsername=USERNAME, appAccountToken=ACCOUNT)),
        (LEGACY, offer(appAccountToken=USERNAME)),
        (LEGACY, offer(appAccountToken=ACCOUNT + USERNAME)),
        (OFFER, offer(appAccountToken=ACCOUNT)),
    ):
        assert service.sign(path, body)[0] == 422
    fields = {"appBundleID": APP, "keyIdentifier": "2X9R4HXF34", "productIdentifier": "p", "offerIdentifier": "o"}
    for query in ({**fields, "applicationUsername": USERNAME}, {**fields, "applicationUsername": ACCOUNT}):
        path = "/?" + urllib.parse.urlencode(query)
        status, _, answer = service.ask("GET", path, headers={"Authorization": f"Bearer {old_app}"})
        assert status == 200, answer
        signatures.append(base64.b64decode(json.loads(answer)["signature"]))
    return signatures


def shapes_of_text(text):
    shapes = {text, text.lower(), text.upper(), urllib.parse.quote(text), urllib.parse.quote_plus(text), text[2:-2]}
    shapes |= {json.dumps(text)[1:-1], text.replace("-", ""), text.lower().replace("-", "")}
    found = {shape.encode() for shape in shapes} | shapes_of_bytes(text.encode())
    with contextlib.suppress(ValueError):
        found |= shapes_of_bytes(uuid.UUID(text).bytes) if "-" in text else set()
    return found


def shapes_of_bytes(data):
    encoded = (base64.b64encode(data), base64.urlsafe_b64encode(data))
    return {data, data.hex().encode(), data.hex().upper().encode(), *(text.rstrip(b"=") for text in encoded)}
