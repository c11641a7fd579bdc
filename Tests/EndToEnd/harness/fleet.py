"""Gateways of one fleet: they share a PostgreSQL database, and in it the register of keys."""

import concurrent.futures
import http.client
import itertools
import json
import os
import signal
import threading
import time
from urllib.parse import quote

from key_lifecycle import KeysInFiles, KeyService, moment
from polling import await_
from postgresql import LogInPostgreSQL
from running import APP, KEY_IDS, TokenKeys, write_secret
from service import digest, mint

# Seconds by which a gateway may know the database's clock wrongly.
TOLERANCE = 0.05
# Seconds that a request may take which had selected its key before the change.
DRAIN = 1.0


class FleetGateway(KeyService):
    """`number`: the gateway's place in the fleet, from 1. All share the keys and the directory of the fleet."""

    def __init__(self, binary, place, number, keys, database):
        self.number, self.is_alone = number, False
        # Further clients and sections of the configuration, in YAML.
        self.more_clients, self.more_sections = "", ""
        self.fleet_key = place / "fleet.key"
        self.url = database
        directory = place / f"shop-{number}"
        directory.mkdir(exist_ok=True)
        self.origin = f"test/{place.name}/shop-{number}"
        self.fleet_origin = f"test/{place.name}/fleet"
        super().__init__(binary, directory, keys)

    def configure(self, audit="", more="", extra_clients=(), uri=None, keys=KEY_IDS, **others):
        section = (
            f'{{database: "{self.url}", durability: oneServer, key: {self.place}/audit.key, origin: {self.origin}, '
            f"checkpoints: {{interval: 1, file: {self.checkpoints}}}}}"
        )
        fleet = f"fleet: {{origin: {self.fleet_origin}, key: {self.fleet_key}, staleness: 3}}\n"
        if self.is_alone:
            fleet = ""
        super().configure(section, fleet + self.more_sections + more, extra_clients, uri, keys=keys, **others)
        text = self.configuration.read_text()
        self.configuration.write_text(text.replace("audit: {", f"{self.more_clients}audit: {{", 1))

    def fleet(self):
        """The gateways of the fleet by name: {origin: state}."""
        status, answer = self.admin("GET", "/v1/fleet")
        assert status == 200, answer
        return {gateway["origin"].rsplit("/", 1)[1]: gateway["state"] for gateway in answer["gateways"]}

    @property
    def public_key(self):
        return self.place / "audit.key.pub"

    def live(self):
        return [name for name, state in self.fleet().items() if state == "live"]

    def is_ready(self):
        try:
            return self.ask("GET", "/readyz")[0] == 200
        except OSError:
            return False


class KeysInOneToken(TokenKeys):
    """The keys of a SoftHSM token for a gateway with a PIN file of its own."""

    def __init__(self, token, pin_file):
        self.token, self.pin_file = token, pin_file
        self.environment, self.sessions = token.environment, token.sessions
        self.set_pin(self.right_pin)

    @property
    def right_pin(self):
        return (self.token.directory / "pin").read_text().strip()

    def set_pin(self, pin):
        write_secret(self.pin_file, f"{pin}\n".encode())

    def uri(self, number):
        return self.token.uri(number).replace(f"{self.token.directory}/pin", str(self.pin_file))


class Fleet:
    """Some gateways with the same three keys: in files, or in a token."""

    def __init__(self, binary, place, database, count=4, token=None):
        self.place, self.gateways = place, []
        self.keys = token or KeysInFiles(place)
        for number in range(1, count + 1):
            keys = KeysInOneToken(token, place / f"pin-{number}") if token else self.keys
            self.gateways.append(FleetGateway(binary, place, number, keys, database))

    def __enter__(self):
        try:
            # The first one makes the log of the fleet.
            self.start(self.gateways[:1])
            self.start(self.gateways[1:])
            for gateway in self.gateways:
                known = lambda gateway=gateway: len(gateway.live()) == len(self.gateways)
                await_(known, f"{gateway.origin} knows all gateways")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    @staticmethod
    def start(gateways):
        def start(gateway):
            gateway.start()
            await_(gateway.is_ready, f"{gateway.origin} is ready")

        at_once(start, gateways)

    def stop(self):
        at_once(lambda gateway: gateway.end(), self.gateways)

    def log(self, server):
        return LogInPostgreSQL(server, self.gateways[0].fleet_origin)


def at_once(function, values):
    """Calls the function for each value in a thread of its own. Raises the first error after all have ended."""
    with concurrent.futures.ThreadPoolExecutor(max(1, len(values))) as pool:
        for call in [pool.submit(function, value) for value in values]:
            call.result()


class SigningLoad:
    """Asks gateways for signatures without a key ID, one after the other, and keeps each answer with its times."""

    def __init__(self, gateways):
        self.answers, self.refusals, self.is_done, self.error = [], [], threading.Event(), None
        self.threads = [threading.Thread(target=self.run, args=(gateway,), daemon=True) for gateway in gateways]
        for thread in self.threads:
            thread.start()

    def run(self, gateway):
        try:
            self.ask_until_stopped(gateway)
        except Exception as error:
            self.error = error

    def ask_until_stopped(self, gateway):
        for number in itertools.count():
            if self.is_done.is_set():
                return
            request_id = f"{gateway.number}-{number}"
            begun = time.time()
            try:
                status, _, body = gateway.sign(f"/v1/apps/{APP}/promotional-offer", request_id=request_id)
            # KeyError: the gateway is starting, and has no address yet.
            except (OSError, http.client.HTTPException, KeyError) as error:
                self.refusals.append((begun, gateway.number, str(error)))
                time.sleep(0.05)
                continue
            if status == 200:
                self.answers.append((begun, time.time(), gateway.number, json.loads(body)["keyId"], request_id))
            else:
                self.refusals.append((begun, gateway.number, f"{status} {body[:200]}"))
                time.sleep(0.01)

    def stop(self):
        """Raises the error of a thread that ended with one."""
        self.is_done.set()
        for thread in self.threads:
            thread.join(30)
            assert not thread.is_alive(), "a request was never answered"
        if self.error:
            raise self.error
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class LimitedLoad:
    """A client whose rate is limited asks for as many signatures as it can get from all gateways of a fleet."""

    PER_SECOND, BURST = 100, 10

    def __init__(self, fleet):
        """Before the gateways are started: adds the client to their configurations."""
        self.fleet, self.token, self.statuses = fleet, mint(), []
        for gateway in fleet.gateways:
            gateway.more_clients = f"""  - name: limited
    tokens: [{{sha256: "{digest(self.token)}"}}]
    allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"]}}]
    rate: {{perSecond: {self.PER_SECOND}, burst: {self.BURST}}}
"""
            gateway.configure()

    def run(self, seconds, connections):
        """`connections`: the numbers of the gateways, one for each connection."""
        end = time.monotonic() + seconds

        def ask(gateway):
            while time.monotonic() < end:
                self.statuses.append(gateway.sign(f"/v1/apps/{APP}/promotional-offer", token=self.token)[0])

        at_once(ask, [self.fleet.gateways[number] for number in connections])
        return self


class Rotations:
    """Rotations over a fleet under load, while gateways stop, die, hang and return."""

    KINDS = ("calm", "hang", "kill", "leave", "fence")

    def __init__(self, fleet, server, random):
        self.fleet, self.server, self.random = fleet, server, random
        # (time of effect, new key, old key)
        self.effects, self.seconds, self.faults = [], [], []
        self.active = KEY_IDS[0]
        self.load = SigningLoad(fleet.gateways)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.load.stop()

    def one(self, kind):
        """An order to a random gateway. Another gateway is disturbed at a random time around it."""
        orderer, victim = self.random.sample(self.fleet.gateways, 2)
        new = self.random.choice([key for key in KEY_IDS if key != self.active])
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            disturbance = pool.submit(self.disturb, kind, victim, orderer)
            # Random times, because no event must decide what the disturbance meets.
            time.sleep(self.random.uniform(0, 1))
            begun = time.monotonic()
            status, answer = orderer.change("activate", new, retiring=self.active, overlap=36_000, watch=0)
            if status not in (200, 202):
                self.faults.append(f"{kind}: the order was answered with {status} {answer}")
            if kind == "calm":
                self.seconds.append(time.monotonic() - begun)
            disturbance.result()
        for gateway in self.fleet.gateways:
            await_(gateway.is_ready, f"{gateway.origin} is ready after {kind}", 60)
            await_(lambda gateway=gateway: gateway.states().get(new) == "active", f"{new} is active on {gateway.origin}", 60)
        effect = next(key["effectiveAt"] for key in self.keys(orderer) if key["keyId"] == new)
        self.effects.append((moment(effect).timestamp(), new, self.active))
        self.active = new

    @staticmethod
    def keys(gateway):
        return [key for account in gateway.admin("GET", "/v1/keys")[1]["accounts"] for key in account["keys"]]

    def disturb(self, kind, victim, orderer):
        if kind == "calm":
            return
        time.sleep(self.random.uniform(0, 2.5))
        if kind == "leave":
            victim.stop()
            time.sleep(self.random.uniform(0, 2))
        elif kind == "kill":
            victim.kill()
            time.sleep(self.random.uniform(0, 2))
        else:
            os.kill(victim.process.pid, signal.SIGSTOP)
            time.sleep(self.random.uniform(0.3, 8))
            if kind == "hang":
                os.kill(victim.process.pid, signal.SIGCONT)
                return
            await_(lambda: orderer.admin("POST", f"/v1/fleet/{quote(victim.origin, safe='')}/fence",
                                         {"reason": "It hangs"})[0] == 200, "the fence", 30)  # fmt: skip
            await_(lambda: orderer.fleet()[f"shop-{victim.number}"] == "fenced", "the end of the lease")
            fenced = time.time()
            os.kill(victim.process.pid, signal.SIGCONT)
            time.sleep(1)
            victim.kill()
            # An answer that was on its way when the process was stopped is older.
            late = [answer for answer in self.load.answers
                    if answer[2] == victim.number and answer[0] > fenced - 0.2]  # fmt: skip
            if late:
                self.faults.append(f"{victim.origin} answered {len(late)} requests after it was fenced")
        victim.start()

    def check(self):
        """Every signature has the key that was active when it was asked for, or became active until it was recorded."""
        self.load.stop()
        # When each entry was committed, by the database.
        commits = {}
        for gateway in self.fleet.gateways:
            text = self.server.sql(
                "SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin)), convert_from(body, 'UTF8') FROM privyseal.entry "
                f"WHERE log = (SELECT id FROM privyseal.log WHERE origin = '{gateway.origin}')", "privyseal")
            for line in text.splitlines():
                time_, body = line.split("|", 1)
                entry = json.loads(body)
                if entry["kind"] == "signature":
                    commits[entry["requestId"]] = float(time_)
        for begun, ended, number, key, request_id in self.load.answers:
            if request_id not in commits:
                self.faults.append(f"{request_id} of shop-{number} has no entry")
                continue
            allowed = {self.active_at(begun - TOLERANCE), self.active_at(commits[request_id] + TOLERANCE)}
            allowed |= {new for effect, new, _ in self.effects if begun - TOLERANCE <= effect <= commits[request_id] + TOLERANCE}
            late = [effect for effect, _, old in self.effects if old == key and effect + DRAIN < commits[request_id] and begun < effect]
            if key not in allowed or late:
                self.faults.append(
                    f"shop-{number} signed {request_id} with {key}: asked at {begun:.3f}, recorded at "
                    f"{commits[request_id]:.3f}, answered at {ended:.3f}; {[e for e in self.effects if abs(e[0] - begun) < 20]}")
        return self.faults

    def active_at(self, instant):
        before = [new for effect, new, _ in self.effects if effect <= instant]
        return before[-1] if before else KEY_IDS[0]
