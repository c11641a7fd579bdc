"""`privyseal witness serve` against an independent log (C2SP tlog-witness, tlog-cosignature)."""

import base64
import concurrent.futures
import contextlib
import http.client
import os
import re
import socket
import ssl
import subprocess
import threading
import time

import pytest
from auditing import await_
from authority import Authority
from conftest import BINARY
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from leaks import leaked
from witnesses import SampleLog, WitnessProcess, cosigned_at, split

ORIGIN = "example.com/privyseal/shop"


@pytest.fixture
def log():
    return SampleLog(ORIGIN)


@pytest.fixture
def witness(place, log):
    with WitnessProcess(BINARY, place / "witness", [log.vkey, SampleLog("example.com/other").vkey]) as witness:
        yield witness


def cosign(witness, request):
    """The time of the cosignature in the answer to a request that must be cosigned."""
    status, kind, text = witness.add(request)
    assert status == 200, text
    assert kind == "text/plain; charset=utf-8"
    checkpoint, _ = split(request.partition("\n\n")[2])
    _, signatures = split(f"{checkpoint}\n{text}")
    [signature] = signatures
    return cosigned_at(witness.vkey, checkpoint, signature)


def test_a_log_that_grows_is_cosigned_from_checkpoint_to_checkpoint(witness, log):
    known = 0
    for size in (1, 2, 3, 7, 8, 8, 64, 65, 1000, 4097):
        assert cosign(witness, log.request(known, size, extension="registers x\n")) > 1_700_000_000
        known = size


def test_the_first_checkpoint_may_have_any_size_even_none(witness, log):
    assert cosign(witness, log.request(0, 0)) and cosign(witness, log.request(0, 1000))


@pytest.mark.parametrize("size, fork", [(10, 9), (10, 0), (11, 3), (4097, 9), (5, 2)])
def test_a_fork_is_refused(witness, log, size, fork):
    cosign(witness, log.request(0, 10))
    if size >= 10:
        status, _, text = witness.add(log.request(10, size, fork))
        sentence = "is another one than this witness cosigned" if size == 10 else "begins with the 10 that this witness"
        assert (status, sentence in text) == (422, True)
        proof = f"checkpoint={log.name}|{size}|"
        await_(lambda: proof in witness.output.read_text(), "the proof of the fork is in the witness' log")
    else:
        assert witness.add(log.request(10, size, fork))[0] == 400
    # The true log is cosigned as before.
    assert cosign(witness, log.request(10, 12))


@pytest.mark.parametrize("old", [0, 9, 11])
def test_another_old_size_is_answered_with_the_latest_one(witness, log, old):
    cosign(witness, log.request(0, 10))
    assert witness.add(log.request(old, 12)) == (409, "text/x.tlog.size", "10\n")


def test_proofs_that_do_not_fit_are_refused(witness, log):
    assert witness.add(log.request(0, 5, proof=[b"x" * 32]))[0] == 422
    cosign(witness, log.request(0, 5))
    for proof in ([], [b"x" * 32], [b"x" * 32] * 63):
        assert witness.add(log.request(5, 9, proof=proof))[0] == 422
    assert witness.add(log.request(5, 5, proof=[b"x" * 32]))[0] == 422
    assert witness.add(log.request(0, 0, tree=b"x" * 32))[0] == 409
    assert cosign(witness, log.request(5, 9))


def test_an_empty_log_with_another_root_is_refused(witness, log):
    assert witness.add(log.request(0, 0, tree=b"x" * 32))[0] == 422


def test_only_known_logs_with_their_own_keys_are_cosigned(witness, log):
    stranger = SampleLog("example.com/stranger")
    assert witness.add(stranger.request(0, 5))[0] == 404
    assert witness.add(SampleLog(ORIGIN).request(0, 5))[0] == 403
    # The right name and key ID, and another key's signature.
    assert witness.add(log.request(0, 5, key=Ed25519PrivateKey.generate()))[0] == 403
    # A known key that is not this log's.
    assert witness.add(log.request(0, 5, name="example.com/other"))[0] == 403
    # Unknown signatures are ignored, and repeated ones are not stored.
    note = log.checkpoint(5)
    signature = note.rpartition("\n\n")[2]
    assert cosign(witness, f"old 0\n\n{note}\u2014 example.com/x AAAAAAAA\n" + signature * 98)
    text, signatures = split(witness.latest(ORIGIN)[2])
    assert [name for name, _, _ in signatures] == [ORIGIN, witness.name]


BROKEN = {
    "empty": lambda good: b"",
    "only a newline": lambda good: b"\n",
    "no old size": lambda good: good.split(b"\n", 1)[1],
    "a leading zero": lambda good: b"old 00" + good[5:],
    "a sign": lambda good: b"old +0" + good[5:],
    "a huge number": lambda good: b"old 99999999999999999999" + good[5:],
    "a tab": lambda good: good.replace(b"old ", b"old\t"),
    "carriage returns": lambda good: good.replace(b"\n", b"\r\n"),
    "a short hash": lambda good: good.replace(b"\n\n", b"\nAAAA\n\n", 1),
    "no hash": lambda good: good.replace(b"\n\n", b"\n!\n\n", 1),
    "64 hashes": lambda good: good.replace(b"\n\n", b"\n" + (base64.b64encode(bytes(32)) + b"\n") * 64 + b"\n", 1),
    "no empty line": lambda good: good.replace(b"\n\n", b"\n", 1),
    "no signature": lambda good: good[: good.rindex(b"\n\n") + 1],
    "no last newline": lambda good: good[:-1],
    "other bytes": lambda good: good + b"\xff\n",
    "a negative size": lambda good: good.replace(b"\n5\n", b"\n-5\n"),
    "no root": lambda good: good.replace(b"\n5\n", b"\n5\nAAAA\n"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_malformed_requests_are_refused(witness, log, kind):
    status, _, text = witness.add(BROKEN[kind](log.request(0, 5).encode()))
    assert status == 400 and text
    assert cosign(witness, log.request(0, 5))


def test_other_requests_get_an_answer_that_says_what_to_ask(witness):
    assert witness.add(b"x" * 200_000)[0] == 413
    assert witness.ask("GET", "/add-checkpoint")[0] == 405
    for path in ("/", "/metrics", "/../checkpoint", "/" + "0" * 64 + "/other"):
        status, _, text = witness.ask("GET", path)
        assert status == 404 and "witness" in text


def test_monitors_get_the_latest_checkpoint_with_both_signatures(witness, log):
    assert witness.latest(ORIGIN)[0] == 404
    cosign(witness, log.request(0, 5))
    cosign(witness, log.request(5, 6))
    status, _, note = witness.latest(ORIGIN)
    text, [own, cosignature] = split(note)
    assert status == 200 and text.splitlines()[:2] == [ORIGIN, "6"]
    assert own[0] == ORIGIN and cosigned_at(witness.vkey, text, cosignature)
    assert witness.latest("example.com/other")[0] == 404


def test_of_two_forks_at_the_same_time_one_is_cosigned(place, witness, log):
    """Also by two processes with one database."""
    twin = WitnessProcess(BINARY, witness.directory, [log.vkey])
    twin.output = place / "twin"
    with twin:
        cosign(witness, log.request(0, 10))
        answers = []

        def add(process, fork):
            answers.append(process.add(log.request(10, 20, fork))[0])

        threads = [
            threading.Thread(target=add, args=(process, 10 + number))
            for number in range(10)
            for process in (witness, twin)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    # The two requests for the winning fork may both be answered: the second is late, so it has the wrong old size.
    assert sorted(answers) == [200] + [409] * 19


def test_after_a_kill_the_witness_remembers_each_checkpoint_that_it_cosigned(witness, log):
    known = 0
    for round in range(5):
        # During any part of a request.
        stop, wanted = threading.Timer(0.003 * round, witness.kill), known + 5
        try:
            while True:
                cosign(witness, log.request(known, known + 1))
                known += 1
                if known == wanted:
                    stop.start()
        except (OSError, http.client.HTTPException):
            stop.join()
        witness.start()
        # An old size that the witness does not have, so that it answers with its own.
        status, kind, text = witness.add(log.request(0, known + 1))
        assert (status, kind) == (409, "text/x.tlog.size")
        # The last request may have been stored without an answer.
        assert known <= int(text) <= known + 1
        known = int(text)


def test_a_witness_without_its_memory_does_not_start(witness, log):
    cosign(witness, log.request(0, 10))
    database = witness.directory / "witness.db"
    database.rename(database.with_suffix(".old"))
    # While it runs, it cosigns nothing.
    assert witness.add(log.request(10, 11))[0] == 500
    witness.stop()
    refused = witness.run("serve", "--logs", witness.logs, "--listen", "127.0.0.1:0")
    assert refused.returncode == 1 and "could cosign a fork" in refused.stderr
    database.write_bytes(b"no database at all")
    refused = witness.run("serve", "--logs", witness.logs, "--listen", "127.0.0.1:0")
    assert refused.returncode == 1 and "cannot be used" in refused.stderr
    database.with_suffix(".old").rename(database)
    with witness:
        assert cosign(witness, log.request(10, 11))


def test_a_witness_with_an_older_copy_of_its_memory_cosigns_nothing(witness, log):
    database = witness.directory / "witness.db"
    cosign(witness, log.request(0, 12))
    older = database.read_bytes()
    cosign(witness, log.request(12, 20))
    newer = database.read_bytes()
    database.write_bytes(older)
    assert witness.add(log.request(12, 20, fork=12))[0] == 500
    sentence = "older checkpoint than this process has cosigned"
    await_(lambda: sentence in witness.output.read_text(), "the witness' log says so")
    database.write_bytes(newer)
    assert cosign(witness, log.request(20, 21))


def test_a_witness_does_not_take_the_database_of_another_one(place, witness, log):
    with WitnessProcess(BINARY, place / "other", [log.vkey], name="witness.example.com/w2") as other:
        pass
    witness.stop()
    (witness.directory / "witness.db").write_bytes((other.directory / "witness.db").read_bytes())
    refused = witness.run("serve", "--logs", witness.logs, "--listen", "127.0.0.1:0")
    assert refused.returncode == 1 and "with another key" in refused.stderr


def test_a_slow_client_keeps_no_place_and_does_not_prevent_the_end(place, witness, log):
    head = b"POST /add-checkpoint HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
    with (
        WitnessProcess(BINARY, place / "stopped", [log.vkey]) as stopped,
        concurrent.futures.ThreadPoolExecutor() as pool,
        socket.create_connection(("127.0.0.1", stopped.port)) as other,
        socket.create_connection(("127.0.0.1", witness.port)) as slow,
    ):
        other.sendall(head)
        assert cosign(stopped, log.request(0, 5))
        status = pool.submit(stopped.stop)
        slow.sendall(head)
        slow.settimeout(1)
        begun = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - begun < 60:
                slow.sendall(b"x")
                with contextlib.suppress(TimeoutError):
                    if slow.recv(100) == b"":
                        break
        # The limit is ten seconds.
        assert 8 < time.monotonic() - begun < 30
        # `stop` waits for 30 seconds at most.
        assert status.result() == 0


def secret_seed(witness):
    # PRIVATE+KEY+name+ID+seed; the Base64 of the seed may have a plus sign, too.
    return {"the seed": (witness.directory / "witness.key").read_text().strip().split("+", 4)[4]}


def test_errors_of_the_command_line_name_the_cure(place, witness, log):
    witness.stop()
    secret = (witness.directory / "witness.key").read_text().strip()
    seed = secret_seed(witness)

    def refused(*options, directory=witness.directory):
        command = [BINARY, "witness", "serve", "--directory", directory, *options]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=30)
        found = leaked(seed, ended.stderr)
        assert ended.returncode != 0 and found == []
        return ended.stderr

    logs = ("--logs", witness.logs)
    listen = ("--listen", "127.0.0.1:0")
    assert "Make it" in refused(*logs, *listen, directory=place / "missing")
    (place / "empty").mkdir()
    assert "--name" in refused(*logs, *listen, directory=place / "empty")
    assert "has the name" in refused(*logs, *listen, "--name", "example.com/w2")
    assert "HOST:PORT" in refused(*logs, "--listen", "somewhere")
    assert "both" in refused(*logs, *listen, "--certificate", "x")
    own = witness.directory / "witness.key.pub"
    assert "not of a log" in refused("--logs", own, *listen)
    assert "private key" in refused("--logs", witness.directory / "witness.key", *listen)
    os.chmod(witness.directory / "witness.key", 0o644)
    assert "chmod 600" in refused(*logs, *listen)
    os.chmod(witness.directory / "witness.key", 0o600)
    (witness.directory / "witness.key").write_text(secret[:-4] + "AAA=\n")
    assert "not the key of a witness" in refused(*logs, *listen)


def test_a_witness_serves_over_tls(place, log):
    authority = Authority(place, "authority")
    server = authority.server()
    options = ("--certificate", server.certificate_path, "--private-key", server.key_path)
    witness = WitnessProcess(BINARY, place / "witness", [log.vkey], options=options)
    witness.tls = ssl.create_default_context(cafile=authority.certificate.certificate_path)
    with witness:
        assert cosign(witness, log.request(0, 5))


def test_a_witness_ends_with_0_when_it_is_stopped_and_its_log_has_no_secret(witness, log):
    cosign(witness, log.request(0, 5))
    assert witness.stop() == 0
    text = witness.output.read_text()
    found = leaked(secret_seed(witness), text)
    assert found == [] and witness.vkey in text and "PRIVATE" not in text
    assert re.search(r"cosigns checkpoints of .*example\.com/privyseal/shop", text)
