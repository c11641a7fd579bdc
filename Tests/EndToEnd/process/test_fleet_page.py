"""Runs every command of docs/fleet.md in its order. A directory stands for each machine; all servers are on loopback."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import pytest
import requests
import yaml
from conftest import BINARY, BUNDLE_ID, ISSUER_ID, ROOT
from database_server import PROGRAMS, USER
from ports import free_port
from service import digest, mint, write_key, write_secret

DATABASES = ("db1", "db2")
GATEWAYS = ("shop-1", "shop-2", "shop-3", "shop-4")
OLD, NEW = "2X9R4HXF34", "3Y8S5JYG45"
DATA = "var/lib/postgresql/15/main"

# In place of programs that would reach beyond the test.
FUNCTIONS = r"""
set -euo pipefail
chown() { [ "$1" = privyseal: ] && [ -f "$2" ]; }
sudo() { shift 2; @as_database_user@ "$@"; }
ssh() { local machine=${1%%.*}; shift; "${@//\/etc\/privyseal/$PLACE/$machine/etc/privyseal}"; }
scp() {
    cp "$@"
    # The file names what belongs to the machine: here, its directory and its port.
    [ ! -f "${!#}/gateway.yaml" ] || sed -i "s#/shop-1/#/$MACHINE/#; s#:@port_of_shop_1@#:$PORT#" "${!#}/gateway.yaml"
}
systemctl() {
    case "$1 $2" in
        "start postgresql" | "enable --now")
            sudo -u postgres pg_ctl start --wait --silent --log "$PLACE/$MACHINE.log" --pgdata "$PLACE/$MACHINE/@data@" \
                --options "-c listen_addresses=127.0.0.1 -c port=$PORT -c unix_socket_directories=" ;;
        "stop postgresql" | "disable --now")
            [ ! -f "$PLACE/$MACHINE/@data@/postmaster.pid" ] ||
                sudo -u postgres pg_ctl stop --mode immediate --silent --pgdata "$PLACE/$MACHINE/@data@" ;;
        "start privyseal")
            setsid privyseal serve --config "$PLACE/$MACHINE/etc/privyseal/gateway.yaml" \
                </dev/null >>"$PLACE/$MACHINE.log" 2>&1 &
            echo $! >"$PLACE/$MACHINE.pid"
            timeout 60 bash -c "until curl --fail --silent http://127.0.0.1:$PORT/readyz; do sleep 0.1; done" ;;
        "stop privyseal")
            kill "$(<"$PLACE/$MACHINE.pid")"
            timeout 60 bash -c "while kill -0 $(<"$PLACE/$MACHINE.pid") 2>/dev/null; do sleep 0.1; done"
            rm "$PLACE/$MACHINE.pid" ;;
        *) return 1 ;;
    esac
}
"""


class Fleet:
    def __init__(self, place):
        self.place = place
        self.port = {name: free_port() for name in (*DATABASES, *GATEWAYS)}
        self.token = mint()
        (place / "programs").mkdir()
        (place / "programs/privyseal").symlink_to(pathlib.Path(BINARY).resolve())
        for name in GATEWAYS:
            for folder in ("etc", "var/lib", "run"):
                (place / name / folder / "privyseal").mkdir(parents=True)
        for name in DATABASES:
            (place / name / DATA).parent.mkdir(parents=True)
            (place / f"{name}.log").touch()
            if USER:
                shutil.chown((place / name / DATA).parent, USER["user"], USER["group"])
                shutil.chown(place / f"{name}.log", USER["user"], USER["group"])

    def local(self, text, machine):
        """The text of the page with the directories and ports that stand for its machines."""
        text = re.sub(r"'?(\$?[\w-]+)\.example\.com:(/[\w/.*-]+)'?", rf"{self.place}/\1\2", text)
        text = re.sub(r"(?<![\w/.-])(?=/(etc|run|var/lib)/(privyseal|postgresql))", f"{self.place}/{machine}", text)
        # The servers on loopback have no TLS.
        text = re.sub(r"\?sslmode=verify-full\S*", "", text)
        for name, port in self.port.items():
            text = text.replace(f"https://{name}.example.com:8443", f"http://127.0.0.1:{port}")
            text = text.replace(f"host={name}.example.com", f"host=127.0.0.1 port={port}")
            text = text.replace(f"{name}.example.com", f"127.0.0.1:{port}")
        return text

    def run(self, machine, script):
        """Runs commands on a machine. Each must succeed."""
        functions = FUNCTIONS.replace("@as_database_user@", "runuser -u postgres --" if USER else "")
        functions = functions.replace("@port_of_shop_1@", str(self.port["shop-1"])).replace("@data@", DATA)
        port = str(self.port.get(machine, ""))
        environment = {
            **os.environ, "PATH": f"{self.place}/programs:{PROGRAMS}:{os.environ['PATH']}", "PLACE": str(self.place),
            "MACHINE": machine, "PORT": port, "PGHOST": "127.0.0.1", "PGPORT": port, "PGUSER": "postgres",
        }  # fmt: skip
        commands = script if machine == "admin" else self.local(script, machine)
        # A file and no pipe: a started server would keep the pipe open.
        with tempfile.TemporaryFile() as output:
            status = subprocess.run(
                ["bash", "-c", functions + commands], env=environment, cwd="/", stdout=output, stderr=output, timeout=120
            ).returncode
            output.seek(0)
            printed = output.read().decode()
        assert status == 0, f"{commands}\n{printed}"
        return printed

    # Configurations

    def configure_first(self):
        home = self.place / "shop-1"
        for name in (OLD, NEW):
            write_key(home / f"etc/privyseal/AuthKey_{name}.p8")
        write_secret(home / "etc/privyseal/db.password", b"not asked for on loopback")
        self.edit("shop-1", lambda _: yaml.safe_load(f"""
listeners:
  public: {{address: "127.0.0.1:{self.port['shop-1']}"}}
  admin: {{address: "unix:{home}/run/privyseal/admin.sock"}}
drainDelay: 0
audit: {{database: "{home}/var/lib/privyseal/audit.db", origin: example.com/privyseal/shop-1}}
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: {BUNDLE_ID}, features: [promotional-offer]}}]
    keys: [{{keyId: {OLD}, uri: "file:{home}/etc/privyseal/AuthKey_{OLD}.p8"}}]
    activeKey: {OLD}
clients:
  - name: shop
    tokens: [{{sha256: "{digest(self.token)}"}}]
    allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"]}}]
"""))  # fmt: skip

    def edit(self, machine, change):
        file = self.place / machine / "etc/privyseal/gateway.yaml"
        configuration = yaml.safe_load(file.read_text()) if file.exists() else {}
        file.write_text(yaml.safe_dump(change(configuration), sort_keys=False))

    def add_key(self, machine):
        def change(configuration):
            keys = configuration["accounts"][0]["keys"]
            keys.append({"keyId": NEW, "uri": keys[0]["uri"].replace(OLD, NEW)})
            return configuration

        self.edit(machine, change)

    # Requests

    def sign(self, machine):
        """The key of the signature, or the status."""
        answer = requests.post(
            f"http://127.0.0.1:{self.port[machine]}/v1/apps/{BUNDLE_ID}/promotional-offer",
            headers={"Authorization": f"Bearer {self.token}"},
            json={"productId": "com.example.monthly", "offerIdentifier": "winback"},
            timeout=30,
        )
        return answer.json()["keyId"] if answer.status_code == 200 else answer.status_code

    def end(self):
        # Not by kill(1): Debian's takes the group -1259 for all processes, -1.
        for file in self.place.glob("*.pid"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(file.read_text()), signal.SIGKILL)
        for file in self.place.glob(f"*/{DATA}/postmaster.pid"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(file.read_text().split()[0]), signal.SIGQUIT)


@pytest.fixture
def fleet():
    # The user of the database servers must reach the directory, and the path of a socket is short (unix(7)).
    place = pathlib.Path(tempfile.mkdtemp(prefix="fleet-"))
    place.chmod(0o755)
    fleet = Fleet(place)
    yield fleet
    fleet.end()
    shutil.rmtree(place, ignore_errors=True)


def steps():
    """The blocks of the page: (language, machine, text)."""
    for language, text in re.findall(r"^```(sh|yaml)\n(.*?)^```$", (ROOT / "docs/fleet.md").read_text(), re.DOTALL | re.MULTILINE):
        machine, _, script = text.partition("\n") if language == "sh" else ("# shop-1", "", text)
        yield language, machine.removeprefix("# "), script


def test_the_page_leads_from_one_gateway_to_four_and_through_a_rotation_and_a_failover(fleet):
    fleet.run("db1", f"sudo -u postgres initdb --auth trust --no-sync --pgdata /{DATA}")
    fleet.run("db1", "systemctl start postgresql")
    fleet.configure_first()
    fleet.run("shop-1", "systemctl start privyseal")
    assert fleet.sign("shop-1") == OLD

    met = set()
    for language, machine, script in steps():
        met |= {words for words in ("keys prove", "pg_promote", "keys states", "verify --all-logs") if words in script}
        if language == "yaml":
            section = yaml.safe_load(fleet.local(script, "shop-1"))
            fleet.edit("shop-1", lambda configuration, section=section: {**configuration, **section})
            continue
        if "keys prove" in script:
            assert [fleet.sign(name) for name in GATEWAYS] == [OLD] * 4
            for name in GATEWAYS:
                fleet.add_key(name)
        if "pg_promote" in script:
            assert fleet.sign("shop-1") == 503
        printed = fleet.run(machine, script)
        if "keys states" in script:
            assert [fleet.sign(name) for name in GATEWAYS] == [NEW] * 4
        if "verify --all-logs" in script:
            assert all(f"example.com/privyseal/{name}" in printed for name in GATEWAYS)
    assert len(met) == 4, "the page has other commands than those that the test checks"
    for name in GATEWAYS[:3]:
        fleet.run(name, f"timeout 60 bash -c 'until curl --fail --silent https://{name}.example.com:8443/readyz; do sleep 0.1; done'")
        assert fleet.sign(name) == NEW
    logs = fleet.run(
        "shop-1", "privyseal audit search --all-logs --kind signature --format json --config /etc/privyseal/gateway.yaml"
    )
    assert all(f"example.com/privyseal/{name}" in logs for name in GATEWAYS)


def test_the_compose_file_has_the_machines_of_the_page_each_with_its_own_volume():
    file = yaml.safe_load((ROOT / "packaging/compose/compose.yaml").read_text())
    machines = (*DATABASES, *GATEWAYS)
    assert set(file["services"]) == {*machines, "balancer"}
    assert set(file["volumes"]) == set(machines)
    for name in machines:
        assert [text.split(":")[0] for text in file["services"][name]["volumes"] if text.split(":")[0] in machines] == [name]
    balancer = (ROOT / "packaging/compose/haproxy.cfg").read_text()
    assert re.findall(r"^ *server (\S+) ", balancer, re.MULTILINE) == list(GATEWAYS)
