"""The long runs' driver; scripts/soak builds what it needs and runs it."""

import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Tests" / "EndToEnd" / "harness"))

from auditing import AuditCopy, AuditedService, KeepingLoad, Kills, await_, everything_wrong  # noqa: E402
from authority import Authority  # noqa: E402
from edits import EDITS, EditRun, Victim  # noqa: E402
from outages import OUTAGES, OutageRun, Unavailable  # noqa: E402
from running import (  # noqa: E402
    APP,
    ISSUER_ID,
    KEY_IDS,
    CertificateChanges,
    FileKeys,
    Load,
    Reloads,
    SlowClients,
    SteadyClient,
    TLSClients,
    TokenKeys,
    clients,
    percentile,
    slow_hello,
    slow_scripts,
)
from service import Service, mint, write_key  # noqa: E402
from soak_fleet import fleet  # noqa: E402
from soak_limits import limits as fleet_limits  # noqa: E402
from soak_rotations import rotations as fleet_rotations  # noqa: E402


def say(text):
    print(text, file=sys.stderr, flush=True)


class Table:
    """Figures, each with what it must not exceed where there is such a thing."""

    def __init__(self):
        self.lines = []

    def add(self, name, value, unit="", bar=None):
        self.lines.append((name, value, unit, bar, None if bar is None else value <= bar))

    def title(self, name):
        self.lines.append((name, None, "", None, None))

    def print(self):
        print(f"{'':64} {'measured':>11} {'':12} {'at most':>11}")
        for name, value, unit, bar, passes in self.lines:
            verdict = {None: "", True: "pass", False: "SHORT"}[passes]
            print(f"{name:64} {number(value):>11} {unit:12} {number(bar):>11} {verdict}".rstrip())

    @property
    def passes(self):
        return all(passes is not False for *_, passes in self.lines)


def number(value):
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


@contextlib.contextmanager
def place():
    with tempfile.TemporaryDirectory(prefix="privyseal-soak-") as directory:
        yield pathlib.Path(directory)


# Slow clients

# Seconds. Shorter than the default, so that connections end and are replaced during the measurement.
PATIENCE = 5
# Seconds that a busy machine may add before an end counts as late.
TOLERANCE = 2


def slow_configuration(directory, token, tls=""):
    write_key(directory / "AuthKey.p8")
    return f"""
listeners:
  public: {{address: "127.0.0.1:0"{tls}}}
  metrics: {{address: "127.0.0.1:0"}}
drainDelay: 0
limits: {{requestTimeout: {PATIENCE}, handshakeTimeout: {PATIENCE}}}
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: {APP}, features: [promotional-offer]}}]
    keys: [{{keyId: {KEY_IDS[0]}, uri: "file:{directory}/AuthKey.p8"}}]
    activeKey: {KEY_IDS[0]}
{clients(token)}
"""


def slow(binary, is_quick, table):
    slow_requests(binary, is_quick, table)
    slow_handshakes(binary, is_quick, table)


def slow_requests(binary, is_quick, table):
    with place() as directory:
        token = mint()
        with Service(binary, directory, slow_configuration(directory, token)) as service:
            address = split(service.addresses["public"])
            compare(
                "header or body", SteadyClient(address, token), address, slow_scripts(token), "408", is_quick, table
            )


def slow_handshakes(binary, is_quick, table):
    with place() as directory:
        token, authority = mint(), Authority(directory, "authority")
        server = authority.server()
        tls = f", tls: {{certificate: {server.certificate_path}, key: {server.key_path}}}"
        with Service(binary, directory, slow_configuration(directory, token, tls)) as service:
            address = split(service.addresses["public"])
            steady = SteadyClient(address, token, trusted=[authority])
            compare("TLS handshake", steady, address, slow_hello(), "closed", is_quick, table)


def compare(name, steady, address, scripts, expected, is_quick, table):
    """A normal client's latency without and with slow ones, in turns."""
    count, rounds, seconds = (200, 2, 3) if is_quick else (1000, 5, 8)
    steady.measure(2)
    alone, beside, ends = [], [], []
    for turn in range(rounds):
        say(f"Slow clients, {name}: round {turn + 1} of {rounds} …")
        alone.append(steady.measure(seconds))
        with SlowClients(address, count, scripts) as slow_clients:
            beside.append(steady.measure(seconds))
            ends += slow_clients.stop()
        # The gateway closes the remaining slow connections now; this second belongs to neither measurement.
        steady.measure(1)
    steady.close()
    table.title(f"{count:,} connections with a byte a second, {name}")
    for share, label in ((0.5, "p50"), (0.99, "p99")):
        usual = statistics.median(percentile(times, share) for times in alone)
        measured = statistics.median(percentile(times, share) for times in beside)
        table.add(f"  a normal client's {label} without them", usual, "ms")
        table.add("  with them", measured, "ms", 2 * usual if share == 0.99 else None)
    late = [age for _, age, status in ends if age > PATIENCE + TOLERANCE]
    over = [age for _, age, status in ends if status != "open"]
    table.add(f"  connections that were ended, with {expected}", len(over), "connections")
    if over:
        table.add("  the last of them after", max(over), "s", float(PATIENCE + TOLERANCE))
    table.add(f"  that lasted longer than {PATIENCE} s and a margin", len(late), "connections", 0)
    wrong = [status for _, _, status in ends if status not in ("open", expected)]
    table.add("  ended in another way", len(wrong), "connections", 0)


def split(address):
    host, _, port = address.rpartition(":")
    return host, int(port)


# Reloads


def reload(binary, is_quick, table):
    for name, kind in (("keys in files", FileKeys), ("keys in a token", TokenKeys)):
        with place() as directory:
            reload_with(binary, name, kind(directory), directory, is_quick, table)


def reload_with(binary, name, keys, directory, is_quick, table):
    count, mark = (200, 50) if is_quick else (1000, 100)
    reloads = Reloads(binary, directory, keys)
    with reloads.service as service:
        load = Load(directory, reloads.url, reloads.token)
        try:
            begin = time.monotonic()
            for index in range(count):
                if index % 100 == 0:
                    say(f"Reloads, {name}: {index} of {count} …")
                if index == mark:
                    before = reloads.settle()
                reloads.one(index)
            after, seconds = reloads.settle(), time.monotonic() - begin
        finally:
            requests, failed = load.stop()
        refused = round(service.metric("privyseal_reloads_total", outcome="refused"))
    table.title(f"{count:,} reloads, {name}")
    for surprise in reloads.surprises[:10]:
        say(surprise)
    table.add("  reloads that were refused, because the file was broken", refused, "reloads")
    table.add("  broken files taken up, or good ones refused", len(reloads.surprises), "reloads", 0)
    table.add("  a reload took", seconds / count * 1000, "ms")
    table.add("  requests meanwhile", requests, "requests")
    table.add("  that failed", failed, "requests", 0)
    table.add(f"  memory after {mark}", before["memory"] / 1024, "MiB")
    table.add(f"  after {count:,}", after["memory"] / 1024, "MiB", before["memory"] / 1024 * 1.05 + 2)
    for what, tolerance in (("threads", 1), ("descriptors", 3)):
        table.add(f"  {what} after {mark}", before[what], what)
        table.add(f"  after {count:,}", after[what], what, before[what] + tolerance)
    table.add("  status at the end", service.process.returncode, "", 0)


# Certificates


def certificates(binary, is_quick, table):
    count = 6 if is_quick else 50
    ways = ("together", "one by one", "reload")
    delays = []
    with place() as directory:
        changes = CertificateChanges(binary, directory)
        with changes.service:
            callers = TLSClients(changes)
            for index in range(count):
                say(f"Certificates: change {index + 1} of {count} …")
                changed = changes.change(ways[index % len(ways)])
                delays.append(callers.await_certificate(changes.expected, 20) - changed)
                # One change in three follows at once; the others follow after the certificate was used for a moment.
                time.sleep(index % 3 * 0.3)
            failures = callers.stop()
    for failure in failures[:20]:
        say(failure)
    failed = [failure for failure in failures if failure.startswith("a handshake")]
    first = [failure for failure in failures if failure.startswith("a new connection")]
    table.title(f"{count} changes of certificate and trust roots")
    table.add("  handshakes meanwhile", callers.handshakes, "handshakes")
    table.add("  that failed", len(failed), "handshakes", 0)
    table.add("  first requests of a connection that failed", len(first), "requests", 0)
    table.add("  requests on kept connections", callers.requests, "requests")
    table.add("  that failed", len(failures) - len(failed) - len(first), "requests", 0)
    table.add("  kept connections that were closed between two requests", callers.reconnects, "connections")
    table.add("  the new certificate was seen after, in the median", statistics.median(delays), "s")
    table.add("  at the latest", max(delays), "s", 3.0)


# The audit log


def audit(binary, is_quick, table):
    # The figures include the seed: the same seed gives the same kill times and edits.
    seed = random.SystemRandom().randrange(1_000_000)
    for name, kind, count in (("a key in a file", FileKeys, 50), ("a key in a token", TokenKeys, 10)):
        with place() as directory:
            audit_kills(binary, name, kind(directory), directory, count // 10 if is_quick else count, seed, table)
    for name in OUTAGES:
        audit_outage(binary, name, table)
    with place() as directory:
        audit_edits(binary, directory, 100 if is_quick else 500, seed, table)


def audit_kills(binary, name, keys, directory, count, seed, table):
    kills = Kills(AuditedService(binary, directory, keys), random.Random(seed))
    faults = []
    for index in range(count):
        say(f"Kills, {name}: {index + 1} of {count} …")
        kills.one()
        if index % 10 == 9:
            faults += kills.faults()
    with kills.service:
        pass
    faults += kills.faults()
    for fault in faults[:20]:
        say(fault)
    table.title(f"{count} × kill -9 under load, {name} (seed {seed})")
    table.add("  signatures that callers have", len(kills.signed), "signatures")
    table.add("  requests whose answer never came", len(kills.unanswered), "requests")
    table.add("  entries at the end", len(AuditCopy(kills.service.database).entries), "entries")
    table.add("  without an entry, twice there, or not as the log is signed", len(faults), "faults", 0)
    table.add("  ready after a kill, in the median", statistics.median(kills.starts), "s")
    table.add("  at the latest", max(kills.starts), "s", 5.0)


def audit_outage(binary, name, table):
    say(f"The audit log: {name} …")
    with place() as directory:
        try:
            outage = OUTAGES[name](directory)
            with outage:
                audit_outage_of(binary, name, outage, directory, table)
        except Unavailable as reason:
            table.title(f"The audit log when {name}: left out, {reason}")


def audit_outage_of(binary, name, outage, directory, table):
    audit = f"writeTimeout: {outage.write_timeout}"
    service = AuditedService(binary, directory, FileKeys(directory), audit, environment=outage.environment)
    with service:
        load = KeepingLoad(service, pause=0.002)
        run = OutageRun(service, outage, load)
        faults = []
        try:
            run.run()
        except AssertionError as error:
            faults.append(str(error))
        load.stop()
    faults += load.surprises + run.surprises
    faults += everything_wrong(service, load.signed, () if outage.is_exact else load.refused)
    for fault in faults[:5]:
        say(fault)
    table.title(f"The audit log when {name}")
    if run.until_back is not None:
        table.add("  the first 503 after", run.until_refused, "s", outage.write_timeout + 1.0)
        table.add("  the first 200 after its end", run.until_back, "s", 3.0)
    table.add("  answers with 200", load.count_by_status()[200], "answers")
    table.add("  with 503, without a signature", load.count_by_status()[503], "answers")
    count = len(AuditCopy(service.database).of_kind("signature"))
    table.add("  entries of signatures that nobody got", count - len(load.signed), "entries")
    table.add("  signatures without record, and other surprises", len(faults), "faults", 0)


def audit_edits(binary, directory, count, seed, table):
    say("Edits: a log to edit …")
    run = EditRun(Victim(binary, directory, FileKeys(directory)), random.Random(seed))
    for part in range(0, count, len(EDITS)):
        say(f"Edits: {part} of {count} …")
        run.run(min(len(EDITS), count - part))
    for surprise in run.surprises[:10]:
        say(surprise)
    table.title(f"{count} edits of a log of {run.victim.size:,} entries (seed {seed})")
    for kind, (made, found, void) in run.table.items():
        table.add(f"  {kind}: {found} of {made - void} found; missed", made - void - found, "edits", 0)
    table.add("  that changed nothing that is read", sum(void for _, _, void in run.table.values()), "edits")
    table.add("  verifying took, in the median", statistics.median(run.seconds), "s")
    table.add("  other surprises", len(run.surprises), "", 0)


def signers(binary, is_quick, table):
    """Kills of signer processes under load: no signature is lost or unrecorded. With two processes, no request fails."""
    seed = random.SystemRandom().randrange(1_000_000)
    for processes in (1, 2):
        for name, kind, signer in (("a key in a file", FileKeys, "files"), ("a key in a token", TokenKeys, "softhsm2")):
            with place() as directory:
                count = 10 if is_quick else 100
                signer_kills(binary, name, kind(directory), directory, signer, processes, count, seed, table)


def signer_kills(binary, name, keys, directory, signer, processes, count, seed, table):
    say(f"Kills of signers, {name}, {processes} processes …")
    chance = random.Random(seed)
    more = f"signers: [{{name: {signer}, processes: {processes}}}]\n"
    with AuditedService(binary, directory, keys, more=more) as service:
        load = KeepingLoad(service)
        load.wait_for(1)
        kills = 0
        while kills < count:
            children = await_(lambda: signer_processes(service, processes), "all signer processes sign", 10)
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(children), signal.SIGKILL)
                kills += 1
            # A random time, because the kill must not depend on an event.
            time.sleep(chance.uniform(0, 0.2))
        await_(lambda: signer_processes(service, processes), "all signer processes run", 10)
        signed = len(load.signed)
        await_(lambda: len(load.signed) > signed, "the key signs again", 10)
        load.stop()
        left = signer_processes(service, processes)
        failed = sum(status != 200 for _, status, _ in load.answers)
    # Without a second process, a request may find none.
    surprises = [one for one in load.surprises if processes > 1 or "key-unavailable" not in one]
    faults = surprises + everything_wrong(service, load.signed, load.unanswered | load.refused)
    for fault in faults[:20]:
        say(fault)
    table.title(f"{count} × kill -9 of a signer, {name}, {processes} processes (seed {seed})")
    table.add("  signatures that callers have", len(load.signed), "signatures")
    table.add("  failed requests", failed, "requests", 0 if processes > 1 else None)
    table.add("  without an entry, twice there, or not as the log is signed", len(faults), "faults", 0)
    table.add("  signers that outlived their gateway", sum(is_alive(pid) for pid in left), "processes", 0)


def postgresql(binary, is_quick, table):
    """Gateways on one PostgreSQL: no signature is lost or unrecorded."""
    say("Gateways on one PostgreSQL …")
    with place() as directory:
        for fault in fleet(binary, is_quick, table, directory, random.SystemRandom().randrange(1_000_000))[:20]:
            say(fault)


def rotations(binary, is_quick, table):
    """A fleet changes its active key: no signature has the wrong key."""
    say("Rotations over a fleet …")
    with place() as directory:
        for fault in fleet_rotations(binary, is_quick, table, directory, random.SystemRandom().randrange(1_000_000))[:20]:
            say(fault)


def limits(binary, is_quick, table):
    """The rate of a client holds for the sum of all gateways."""
    say("A client of limited rate on a fleet …")
    with place() as directory:
        fleet_limits(binary, is_quick, table, directory)


def signer_processes(service, processes):
    """The signers of the gateway that can sign; None unless all can."""
    _, _, body = service.ask("GET", "/v1/signers", listener="admin")
    found = [process["pid"] for signer in json.loads(body)["signers"] for process in signer["processes"]]
    return found if len(found) == processes else None


def is_alive(pid):
    return pathlib.Path(f"/proc/{pid}").exists()


RUNS = {
    "slow": slow,
    "reload": reload,
    "certificates": certificates,
    "audit": audit,
    "signers": signers,
    "postgresql": postgresql,
    "rotations": rotations,
    "limits": limits,
}


def main():
    parser = argparse.ArgumentParser(prog="scripts/soak")
    parser.add_argument("binary", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("runs", nargs="+", choices=[*RUNS, "all"])
    parser.add_argument("--quick", action="store_true", help="less of it; for a look, not for a verdict")
    options = parser.parse_args()
    table = Table()
    for name, run in RUNS.items():
        if name in options.runs or "all" in options.runs:
            run(options.binary, options.quick, table)
    table.print()
    sys.exit(0 if table.passes else 1)


main()
