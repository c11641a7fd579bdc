"""A gateway with slow clients, with reloads and changes of certificates under load, and starts."""

import socket
import subprocess

import pytest
from authority import Authority
from conftest import BINARY
from running import (
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
    slow_hello,
    slow_scripts,
)
from service import Service, mint, write_key


def configuration(place, token, tls=""):
    write_key(place / "AuthKey.p8")
    return f"""
listeners:
  public: {{address: "127.0.0.1:0"{tls}}}
  metrics: {{address: "127.0.0.1:0"}}
drainDelay: 0
limits: {{requestTimeout: 2, handshakeTimeout: 2}}
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: {APP}, features: [promotional-offer]}}]
    keys: [{{keyId: {KEY_IDS[0]}, uri: "file:{place}/AuthKey.p8"}}]
    activeKey: {KEY_IDS[0]}
{clients(token)}
"""


def address(service):
    host, _, port = service.addresses["public"].rpartition(":")
    return host, int(port)


def test_the_gateway_disconnects_slow_clients_and_serves_others(place):
    token = mint()
    with Service(BINARY, place, configuration(place, token)) as service:
        with SlowClients(address(service), 100, slow_scripts(token)) as slow:
            steady = SteadyClient(address(service), token)
            # `measure` asserts that each answer is a signature.
            steady.measure(1)
            slow.wait_for_ends(15)
            ends = [end for end in slow.stop() if end[2] != "open"]
        steady.ask()
        steady.close()
        assert {(script, status) for script, _, status in ends} == {(0, "408"), (1, "408")}
        assert all(1.5 < seconds < 6 for _, seconds, _ in ends), sorted(ends)
        assert service.metric("privyseal_connections_refused_total", reason="timeout") >= 100


def test_the_gateway_ends_unfinished_handshakes(place):
    token, authority = mint(), Authority(place, "authority")
    server = authority.server()
    tls = f", tls: {{certificate: {server.certificate_path}, key: {server.key_path}}}"
    with Service(BINARY, place, configuration(place, token, tls)) as service:
        with SlowClients(address(service), 100, slow_hello()) as slow:
            slow.wait_for_ends(15)
            ends = [end for end in slow.stop() if end[2] != "open"]
        assert {status for _, _, status in ends} == {"closed"}
        assert all(1.5 < seconds < 6 for _, seconds, _ in ends), sorted(ends)
        assert service.metric("privyseal_connections_refused_total", reason="handshake") >= 100


@pytest.mark.parametrize("connections, warns", [(45, True), (44, False)])
def test_the_gateway_warns_if_connections_exceed_the_open_files(place, connections, warns):
    few = place / "few"
    few.write_text(f"""#!/bin/sh
ulimit -n 300
exec {BINARY} "$@"
""")
    few.chmod(0o755)
    text = configuration(place, mint()).replace("requestTimeout", f"connections: {connections}, requestTimeout")
    with Service(few, place, text) as service:
        assert ("set limits.connections to 44 at most" in service.log.read_text()) == warns


@pytest.mark.parametrize("kind", [FileKeys, TokenKeys], ids=["files", "a token"])
def test_reloads_under_load_fail_no_request(place, kind):
    reloads = Reloads(BINARY, place, kind(place))
    with reloads.service as service:
        with Load(place, reloads.url, reloads.token) as load:
            for number in range(30):
                reloads.one(number)
            requests, failed = load.stop()
        assert requests > 0 and failed == 0
        assert reloads.surprises == []
        assert service.metric("privyseal_reloads_total", outcome="refused") == 3
    assert service.process.returncode == 0


@pytest.mark.parametrize("kind", [FileKeys, TokenKeys], ids=["files", "a token"])
def test_a_reload_refuses_every_broken_file_and_changes_nothing(place, kind):
    reloads = Reloads(BINARY, place, kind(place))
    with reloads.service:
        for number in range(len(reloads.faults)):
            reloads.one(10 * number + 9)
    assert reloads.surprises == []


def test_certificates_change_without_a_failed_handshake(place):
    changes = CertificateChanges(BINARY, place)
    with changes.service, TLSClients(changes) as callers:
        for way in ("together", "one by one", "reload"):
            changed = changes.change(way)
            assert callers.await_certificate(changes.expected, 10) - changed < 3
        assert callers.stop() == []
        assert callers.handshakes > 10 and callers.requests > 10


def test_a_start_at_an_occupied_address_prints_one_reason_and_records_nothing(place, monkeypatch):
    monkeypatch.delenv("PRIVYSEAL_BINARY")
    path = place / "gateway.yaml"
    with socket.create_server(("127.0.0.1", 0)) as other:
        occupied = f"127.0.0.1:{other.getsockname()[1]}"
        text = configuration(place, mint()).replace('metrics: {address: "127.0.0.1:0"}', f'metrics: {{address: "{occupied}"}}')
        path.write_text(text + f"audit: {{database: {place}/audit.db}}\n")
        start = subprocess.run([BINARY, "serve", "--config", path], capture_output=True, text=True, timeout=60)
    assert (start.returncode, start.stderr) == (
        1,
        f"privyseal: The gateway cannot listen: another process listens on {occupied}. Free the address, or choose another one.\n",
    )
    assert not (place / "audit.db").exists()
