"""Gateways whose audit logs are in PostgreSQL: commands, faults of servers and networks, and two gateways with one log."""

import contextlib
import csv
import io
import json
import random
import signal
import subprocess
import time

import pytest
from auditing import AuditCopy, AuditedService, KeepingLoad, Kills, await_, public_key
from conftest import BINARY
from database_server import PROGRAMS, Proxy, cluster, url
from edits import edited
from postgresql import GatewayOnPostgreSQL, LogInPostgreSQL, everything_wrong, origin
from running import KEY_IDS, FileKeys
from service import REFUSED_CONFIGURATION, write_secret


@pytest.fixture(scope="module")
def server():
    with cluster() as server:
        yield server


@pytest.fixture
def service(place, server):
    """A gateway that is not started, with a log of its own."""
    return GatewayOnPostgreSQL(BINARY, place, FileKeys(place), url(server))


def gateway(place, database, name="gateway", audit="durability: oneServer", origin=None):
    directory = place / name
    directory.mkdir(exist_ok=True)
    return GatewayOnPostgreSQL(BINARY, directory, FileKeys(directory), database, audit, origin)


def audit(*arguments):
    """The command without a configuration: (status, standard error)."""
    ended = subprocess.run([BINARY, "audit", *map(str, arguments)], capture_output=True, timeout=60)
    return ended.returncode, ended.stderr


# Ordinary use


def test_signatures_are_recorded_and_every_command_reads_them(service, server):
    with service:
        load = KeepingLoad(service)
        load.wait_for(200)
        load.stop()
        status, _, body = service.ask("GET", "/v1/audit/entries?kind=signature&limit=5", listener="admin")
        assert status == 200 and len(json.loads(body)["entries"]) == 5
    assert not load.surprises
    assert everything_wrong(server, service, load.signed) == []
    index = LogInPostgreSQL(server, origin(service)).of_kind("signature")[7]["requestId"]
    for command in (
        ("search", "--kind", "signature"),
        ("stats",),
        ("export",),
        ("search", "--request-id", index),
    ):
        status, output, errors = service.run("audit", *command)
        assert status == 0, (command, errors)
        assert output.strip(), command
    status, output, _ = service.run("audit", "stats", "--format", "json")
    counted = sum(row["count"] for row in json.loads(output)["counts"] if row["outcome"] == "signed")
    assert counted == len(load.signed)


def test_commands_write_beside_a_running_gateway(service, server):
    with service:
        assert service.sign(request_id="one")[0] == 200
        status, _, errors = service.run(
            "sign", "promotional-offer", "--app", "com.example.app", "productId=a", "offerIdentifier=b"
        )
        assert status == 0, errors
        assert service.sign(request_id="two")[0] == 200
    log = LogInPostgreSQL(server, origin(service))
    signers = [entry["client"] for entry in log.of_kind("signature")]
    assert signers == ["load", "operator", "load"]
    assert log.faults(service.public_key) == []
    assert service.run("audit", "verify", "--quiet")[0] == 0


def test_key_states_survive_a_restart(service):
    with service:
        status, output, errors = service.run("keys", "suspend", KEY_IDS[0], "--reason", "a test")
        assert status == 0, errors
        assert service.sign()[0] == 503
    with service:
        assert service.sign()[0] == 503
        assert service.run("keys", "resume", KEY_IDS[0], "--reason", "the test is over")[0] == 0
        assert service.sign()[0] == 200


def test_two_gateways_have_two_logs_in_one_database(place, server):
    first, second = gateway(place, url(server), "first"), gateway(place, url(server), "second")
    with first, second:
        loads = [KeepingLoad(first, 3), KeepingLoad(second, 3)]
        for load in loads:
            load.wait_for(100)
            load.stop()
    for service, load in zip((first, second), loads, strict=True):
        assert everything_wrong(server, service, load.signed) == []
    # A command without a configuration must say which log it means.
    status, errors = audit("verify", "--database", url(server), "--key", first.public_key)
    assert status == 1 and b"several audit logs" in errors, errors
    status, errors = audit("verify", "--database", url(server), "--origin", origin(second), "--key", second.public_key)
    assert status == 0, errors


def test_commands_read_all_logs_of_a_database(place):
    with cluster() as server:
        services = [gateway(place, url(server), name) for name in ("first", "second")]
        loads = []
        with services[0], services[1]:
            for _ in range(3):
                for number, service in enumerate(services):
                    assert service.sign(request_id=f"{number}-{len(loads)}")[0] == 200
                    loads.append(number)
        names = [origin(service) for service in services]

        status, output, errors = services[0].run("audit", "search", "--all-logs", "--kind", "signature", "--format", "json")
        assert status == 0, errors
        found = [json.loads(line) for line in output.splitlines()]
        assert [line["entry"]["requestId"] for line in found] == [f"{n}-{i}" for i, n in reversed(list(enumerate(loads)))]
        assert [line["log"] for line in found] == [names[number] for number in reversed(loads)]
        status, output, _ = services[0].run("audit", "search", "--all-logs", "--kind", "signature", "--limit", 1)
        assert output.decode().startswith(f"{names[1]}  "), output
        assert services[0].run("audit", "search", "--all-logs", "--kind", "signature", "--count")[1] == b"6\n"
        assert services[0].run("audit", "search", "--kind", "signature", "--count")[1] == b"3\n"

        counts = json.loads(services[1].run("audit", "stats", "--all-logs", "--format", "json")[1])["counts"]
        assert sum(row["count"] for row in counts if row["outcome"] == "signed") == 6

        status, output, errors = services[0].run("audit", "export", "--all-logs", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(output.decode(), newline="")))
        assert status == 0 and {row["log"] for row in rows} == set(names), errors
        assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
        assert len(rows) == sum(len(LogInPostgreSQL(server, name).rows) for name in names)
        assert services[0].run("audit", "export", "--all-logs")[0] == 64

        keys = [part for service in services for part in ("--key", service.public_key)]
        every = ["verify", "--all-logs", "--database", url(server)]
        assert audit(*every, *keys)[0] == 0
        status, errors = audit(*every, *keys[:2])
        assert status == 64 and f"The log {names[1]} cannot be verified".encode() in errors, errors
        together = place / "checkpoints"
        together.write_bytes(b"".join(service.checkpoints.read_bytes() for service in services))
        assert audit(*every, *keys, "--checkpoints", together)[0] == 0
        server.sql(
            f"""
            SET session_replication_role = replica;
            UPDATE privyseal.entry SET body = 'x' WHERE idx = 1
            AND log = (SELECT id FROM privyseal.log WHERE origin = '{names[1]}')
            """,
            "privyseal",
        )
        assert audit(*every, *keys)[0] == 1
        assert audit("verify", "--database", url(server), "--origin", names[0], *keys[:2])[0] == 0
        # A log that was removed as a whole is missing, because its key or a checkpoint was given.
        server.sql(
            f"SET session_replication_role = replica; DELETE FROM privyseal.log WHERE origin = '{names[1]}'", "privyseal"
        )
        assert audit(*every, *keys[:2])[0] == 0
        assert audit(*every, *keys)[0] == 1
        assert audit(*every, *keys[:2], "--checkpoints", together)[0] == 1


# Refusals at the start


@pytest.mark.parametrize(
    "database, audit, reason",
    [
        ("{url}", "", "no synchronous standby"),
        ("{url}", "durability: oneServer\nreserve: 5", "reserve: has no effect"),
        ("postgresql://db.example.com/x?sslmode=require", "durability: oneServer", "sslmode=verify-full"),
        ("postgresql://u:secret-word@127.0.0.1/x", "durability: oneServer", "passwordSource"),
        ("postgresql://127.0.0.1/x?password=secret-word", "durability: oneServer", "passwordSource"),
        ("postgres://127.0.0.1/x", "durability: oneServer", "must be the URL of a database"),
        ("{url}&nonsense=1", "durability: oneServer", "not the URL of a database"),
        ("{url}", "durability: oneServer\npasswordSource: secret-word", "not the password itself"),
        ("{url}", "durability: oneServer\npasswordSource: file:/none", "/none cannot be read"),
        ("{none}", "durability: oneServer", 'database "nothing" does not exist'),
    ],
)
def test_a_wrong_location_is_refused_with_its_cure(place, server, database, audit, reason):
    address = url(server, connect_timeout=3)
    database = database.format(url=address, none=address.replace("/privyseal", "/nothing"))
    status, log = gateway(place, database, audit=audit).refuses_to_start()
    assert status == REFUSED_CONFIGURATION, log
    assert reason in log, log
    assert "secret-word" not in log


def test_an_asynchronous_standby_is_refused_and_a_synchronous_one_is_accepted(place):
    with cluster() as primary:
        primary.standby()
        service = gateway(place, url(primary), audit="")
        status, log = service.refuses_to_start()
        assert status == REFUSED_CONFIGURATION and "no synchronous standby" in log
        primary.require("standby")
        with service:
            assert service.sign()[0] == 200


def test_a_password_from_a_file_opens_the_database(place):
    with cluster() as server:
        server.sql("CREATE ROLE gateway LOGIN PASSWORD 'right'; GRANT CREATE ON DATABASE privyseal TO gateway")
        rules = server.data / "pg_hba.conf"
        rules.write_text("host all gateway 127.0.0.1/32 scram-sha-256\n" + rules.read_text())
        server.sql("SELECT pg_reload_conf()")
        database = url(server).replace("postgres@", "gateway@")
        service = gateway(place, database, audit=f"durability: oneServer\npasswordSource: file:{place}/password")
        write_secret(place / "password", b"sesame4711\n")
        status, log = service.refuses_to_start()
        assert status == REFUSED_CONFIGURATION and "password authentication failed" in log, log
        assert "sesame" not in log
        write_secret(place / "password", b"right\n")
        with service:
            assert service.sign()[0] == 200


def test_a_log_without_its_key_and_an_older_log_are_refused(service, server):
    with service:
        load = KeepingLoad(service)
        load.wait_for(50)
        load.stop()
    name = origin(service)
    key = service.place / "audit.key"
    hidden = key.rename(service.place / "away")
    status, log = service.refuses_to_start()
    assert status == REFUSED_CONFIGURATION and "but not its key" in log, log
    hidden.rename(key)
    # As after a failover to a standby that lacks the last entries.
    keep = f"SELECT size - 5 FROM privyseal.log WHERE origin = '{name}'"
    older = server.sql(keep, "privyseal")
    server.sql(
        f"""
        SET session_replication_role = replica;
        DELETE FROM privyseal.entry WHERE log = (SELECT id FROM privyseal.log WHERE origin = '{name}') AND idx >= {older};
        """,
        "privyseal",
    )
    status, log = service.refuses_to_start()
    assert status == REFUSED_CONFIGURATION and "is missing" in log, log


# Faults while the gateway serves


def test_no_signature_is_lost_when_gateways_are_killed(service, server):
    kills = Kills(service, random.Random(21))
    for _ in range(8):
        kills.one()
    service.start()
    service.stop()
    assert kills.surprises == []
    assert everything_wrong(server, service, kills.signed, kills.unanswered) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_no_signature_is_lost_when_the_server_restarts(place, how):
    with cluster() as server:
        service = gateway(place, url(server))
        with service:
            load = KeepingLoad(service, 6)
            for _ in range(3):
                load.wait_for(50, after=time.monotonic())
                server.restart(how)
            load.wait_for(50, after=time.monotonic())
            load.stop()
        assert load.surprises == []
        assert everything_wrong(server, service, load.signed, load.refused | load.unanswered) == []


def test_no_signature_is_lost_in_a_failover(place):
    with cluster() as primary:
        standby = primary.standby()
        primary.require("standby")
        service = gateway(place, url(primary, standby), audit="")
        with service:
            load = KeepingLoad(service, 6)
            load.wait_for(100)
            primary.stop(signal.SIGQUIT)
            refused = load.wait_for(1, status=503, after=time.monotonic())
            standby.promote()
            standby.require("")
            reason = lambda: service.status()["audit"]["reason"] or ""
            await_(lambda: "no synchronous standby" in reason(), reason)
            load.wait_for(20, status=503, after=time.monotonic())
            assert [status for _, status, asked in load.answers if asked > refused and status == 200] == []
            second = standby.standby("second")
            standby.require("second")
            load.wait_for(100, after=time.monotonic())
            load.stop()
        assert load.surprises == []
        assert everything_wrong(standby, service, load.signed, load.refused | load.unanswered) == []
        assert second.sql("SELECT pg_is_in_recovery()") == "t"


def test_a_lost_standby_stops_signing_until_it_is_back(place):
    with cluster() as primary:
        standby = primary.standby()
        primary.require("standby")
        service = gateway(place, url(primary), audit="writeTimeout: 1")
        with service:
            load = KeepingLoad(service, 4)
            load.wait_for(50)
            standby.stop(signal.SIGQUIT)
            load.wait_for(4, status=503, after=time.monotonic())
            standby.start()
            load.wait_for(50, after=time.monotonic(), seconds=60)
            load.stop()
        assert load.surprises == []
        assert everything_wrong(primary, service, load.signed, load.refused | load.unanswered) == []


def test_a_silent_network_refuses_requests_in_time_and_loses_nothing(place, server):
    with Proxy(server.port) as proxy:
        service = gateway(place, url(proxy.port), audit="durability: oneServer\nwriteTimeout: 1")
        with service:
            load = KeepingLoad(service, 4)
            load.wait_for(50)
            for _ in range(2):
                proxy.pause()
                begun = time.monotonic()
                load.wait_for(8, status=503, after=begun)
                proxy.go_on()
                load.wait_for(50, after=time.monotonic(), seconds=60)
            load.stop()
        late = [asked for now, status, asked in load.answers if now - asked > 5]
        assert not late, "a request waited longer than its time limit"
        assert load.surprises == []
        assert everything_wrong(server, service, load.signed, load.refused | load.unanswered) == []


# Two gateways with one log


def test_a_gateway_that_was_stopped_and_replaced_never_writes_again(place, server):
    first = gateway(place, url(server))
    second = gateway(place, url(server), "second", origin=first.origin)
    with first:
        load = KeepingLoad(first, 4)
        load.wait_for(50)
        load.stop()
        # The same log with the same key on another machine.
        for name in ("audit.key", "audit.key.pub"):
            write_secret(second.place / name, (first.place / name).read_bytes())
        first.process.send_signal(signal.SIGSTOP)
        try:
            second.start()
        finally:
            first.process.send_signal(signal.SIGCONT)
        try:
            before = len(LogInPostgreSQL(server, origin(first)).rows)
            for number in range(20):
                status, _, body = first.sign(request_id=f"fenced-{number}")
                assert status == 503, body
            assert first.ask("GET", "/readyz", listener="metrics")[0] == 503
            assert "Another gateway has taken over the audit log" in first.log.read_text()
            assert second.sign(request_id="second")[0] == 200
            # It stays fenced: there is no race for the log.
            assert first.sign(request_id="fenced-last")[0] == 503
        finally:
            second.stop()
    log = LogInPostgreSQL(server, origin(first))
    assert not [entry for entry in log.entries if str(entry.get("requestId")).startswith("fenced")]
    assert "second" in [entry.get("requestId") for entry in log.entries[before:]]
    assert everything_wrong(server, second, load.signed, {("second", None)}) == []


def test_a_gateway_starts_without_its_database_and_signs_when_it_is_there(place):
    with cluster() as server:
        service = gateway(place, url(server))
        with service:
            assert service.sign()[0] == 200
        server.stop()
        with service:
            assert service.sign()[0] == 503
            assert service.ask("GET", "/readyz", listener="metrics")[0] == 503
            server.start()
            load = KeepingLoad(service, 2)
            load.wait_for(10)
            load.stop()


# Moving a log


def migrated(place, server, name, entries=0):
    """A gateway with a log in SQLite that has served, and the same with the configuration for PostgreSQL."""
    directory = place / name
    directory.mkdir()
    old = AuditedService(BINARY, directory, FileKeys(directory))
    with old:
        load = KeepingLoad(old, 4)
        load.wait_for(max(100, entries))
        load.stop()
        assert old.run("keys", "suspend", KEY_IDS[0], "--reason", "a test")[0] == 0
    before = old.configuration.read_text()
    configuration = before.replace(
        f"  database: {old.database}\n",
        f"  database: {url(server)}\n  durability: oneServer\n  key: {old.database}.key\n"
        f"  origin: {public_key(old.database).read_text().split('+')[0]}\n",
    )
    assert configuration != before
    return old, configuration, load


class Moved(GatewayOnPostgreSQL):
    """A service whose configuration names PostgreSQL now, with the key of its log in SQLite."""

    @classmethod
    def of(cls, old):
        old.__class__ = cls
        return old

    @property
    def public_key(self):
        return self.place / "audit.db.key.pub"


def test_a_log_moves_to_postgresql_with_its_keys_and_proofs(place, server):
    old, configuration, load = migrated(place, server, "move", entries=5000)
    size = len(AuditCopy(old.database).rows)
    before = old.configuration.read_text()
    status, proof, errors = old.run("audit", "prove", 7)
    assert status == 0, errors
    old.configuration.write_text(configuration)
    status, output, errors = old.run("audit", "migrate", "--from", old.database)
    assert status == 0, errors
    assert f"{size + 1} entries" in output.decode()
    # The old database refuses another entry.
    old.configuration.write_text(before)
    status, log = old.refuses_to_start()
    assert status == REFUSED_CONFIGURATION and "The log was moved to postgresql://" in log, log
    assert AuditCopy(old.database).entries[-1]["kind"] == "moved"
    # The new one continues, with the states of keys and the old proofs.
    old.configuration.write_text(configuration)
    service = Moved.of(old)
    with service:
        assert service.sign()[0] == 503
        assert service.run("keys", "resume", KEY_IDS[0], "--reason", "a test")[0] == 0
        assert service.sign(request_id="new")[0] == 200
    kinds = [entry["kind"] for entry in LogInPostgreSQL(server, origin(service)).entries]
    assert kinds[size : size + 2] == ["moved", "continued"]
    assert everything_wrong(server, service, load.signed, {("new", None)}) == []
    (place / "proof").write_bytes(proof)
    status, errors = audit("check-proof", place / "proof", "--key", service.public_key)
    assert status == 0, errors
    # Again: nothing is overwritten.
    status, _, errors = service.run("audit", "migrate", "--from", service.place / "audit.db")
    assert status == 1 and b"already holds" in errors, errors


@contextlib.contextmanager
def without_new_entries(server):
    """Each INSERT of an entry waits."""
    command = [PROGRAMS / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url(server)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
        session.stdin.write("SET lock_timeout = '20s'; BEGIN; LOCK privyseal.entry IN SHARE MODE; SELECT 'locked';\n")
        session.stdin.flush()
        assert session.stdout.readline() == "locked\n"
        yield
        # The end of the input ends the session.
        session.stdin.close()


@contextlib.contextmanager
def killed_migration(old):
    command = [old.binary, "audit", "migrate", "--config", old.configuration, "--from", old.database]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=old.environment) as process:
        try:
            yield
        finally:
            process.kill()


@pytest.mark.parametrize("kills", ["before the copy", "at any time"])
def test_a_migration_that_was_interrupted_is_completed(place, server, kills):
    old, configuration, load = migrated(place, server, "interrupted")
    old.configuration.write_text(configuration)
    if kills == "before the copy":
        with gateway(place, url(server), "other"):
            # It makes the tables.
            pass
        waiting = "SELECT count(*) FROM pg_locks WHERE relation = 'privyseal.entry'::regclass AND NOT granted"
        with without_new_entries(server), killed_migration(old):
            await_(lambda: server.sql(waiting, "privyseal") == "1", "the command copies entries")
        assert AuditCopy(old.database).entries[-1]["kind"] == "moved"
        assert LogInPostgreSQL(server, public_key(old.database).read_text().split("+")[0]).rows == []
    else:
        for delay in (0.02, 0.05, 0.1, 0.2):
            with killed_migration(old):
                time.sleep(delay)
    status, _, errors = old.run("audit", "migrate", "--from", old.database)
    # One of the killed commands may have been at its end.
    assert status == 0 or (kills == "at any time" and b"already holds" in errors), errors
    kinds = [entry["kind"] for entry in AuditCopy(old.database).entries]
    assert kinds.count("moved") == 1 and kinds[-1] == "moved"
    service = Moved.of(old)
    with service:
        pass
    assert everything_wrong(server, service, load.signed, load.unanswered) == []


def test_a_migration_to_a_database_that_is_refused_changes_nothing(place, server):
    old, configuration, _ = migrated(place, server, "refused")
    for text, other, says in (
        ("durability: oneServer", "durability: replicated", b"no synchronous standby"),
        (url(server), url(server).replace("/privyseal", "/nothing"), b'database "nothing" does not exist'),
    ):
        old.configuration.write_text(configuration.replace(text, other))
        status, _, errors = old.run("audit", "migrate", "--from", old.database)
        assert status == 1 and says in errors, errors
    assert AuditCopy(old.database).entries[-1]["kind"] != "moved"
    # A log moves once.
    old.configuration.write_text(configuration)
    assert old.run("audit", "migrate", "--from", old.database)[0] == 0
    arguments = ["migrate", "--from", old.database, "--key", f"{old.database}.key", "--one-server"]
    with cluster() as other:
        status, errors = audit(*arguments, "--to", url(other))
    assert status == 1 and b"was moved to" in errors, errors


def test_a_migration_refuses_a_damaged_log_and_a_running_gateway(place, server):
    old, configuration, _ = migrated(place, server, "damaged")
    with old:
        before = old.configuration.read_text()
        old.configuration.write_text(configuration)
        status, _, errors = old.run("audit", "migrate", "--from", old.database)
        assert status == 1 and b"Another process uses the audit log" in errors, errors
        old.configuration.write_text(before)
    old.configuration.write_text(configuration)
    with edited(old.database) as database:
        database.execute("UPDATE entry SET body = X'7B7D' WHERE idx = 3")
    status, _, errors = old.run("audit", "migrate", "--from", old.database)
    assert status == 1 and b"is not intact" in errors, errors
    assert AuditCopy(old.database).entries[-1]["kind"] != "moved"


def test_a_log_is_not_migrated_to_its_own_database(place):
    old = AuditedService(BINARY, place, FileKeys(place))
    with old:
        assert old.sign()[0] == 200
    (place / "link.db").symlink_to(old.database)
    for target in (old.database, place / "link.db"):
        status, errors = audit("migrate", "--from", old.database, "--to", target)
        assert status == 1 and b"it is the database of the log, or a copy of it" in errors, errors
    assert AuditCopy(old.database).of_kind("moved") == []
    with old:
        assert old.sign()[0] == 200
