"""Gateways of one fleet: they share a PostgreSQL database, and in it the register of keys."""

import json
import threading
import time

from auditing import await_
from key_lifecycle import KeysInFiles, KeyService
from postgresql import LogInPostgreSQL
from running import APP, KEY_IDS


class FleetGateway(KeyService):
    """`number`: the gateway's place in the fleet, from 1. All share the keys and the directory of the fleet."""

    def __init__(self, binary, place, number, keys, database):
        self.number = number
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
        super().configure(section, fleet + more, extra_clients, uri, keys=keys, **others)

    def fleet(self):
        """The gateways of the fleet by name: {origin: state}."""
        status, answer = self.admin("GET", "/v1/fleet")
        assert status == 200, answer
        return {gateway["origin"].rsplit("/", 1)[1]: gateway["state"] for gateway in answer["gateways"]}

    def is_ready(self):
        try:
            return self.ask("GET", "/readyz")[0] == 200
        except OSError:
            return False


class Fleet:
    """Some gateways with the same three keys."""

    def __init__(self, binary, place, database, count=4):
        self.place = place
        self.keys = KeysInFiles(place)
        self.gateways = [FleetGateway(binary, place, number + 1, self.keys, database) for number in range(count)]

    def __enter__(self):
        for gateway in self.gateways:
            gateway.start()
            await_(gateway.is_ready, f"{gateway.origin} is ready")
        return self

    def __exit__(self, *_):
        for gateway in self.gateways:
            gateway.stop()

    def log(self, server):
        return LogInPostgreSQL(server, self.gateways[0].fleet_origin)


class SigningLoad:
    """Asks gateways for signatures without a key ID, one after the other, and keeps each answer with its times."""

    def __init__(self, gateways):
        self.answers, self.refusals, self.isDone = [], [], threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(gateway,)) for gateway in gateways]
        for thread in self.threads:
            thread.start()

    def run(self, gateway):
        number = 0
        while not self.isDone.is_set():
            number += 1
            request_id = f"{gateway.number}-{number}"
            begun = time.time()
            try:
                status, _, body = gateway.sign(f"/v1/apps/{APP}/promotional-offer", request_id=request_id)
            except OSError as error:
                self.refusals.append((begun, gateway.number, str(error)))
                time.sleep(0.05)
                continue
            if status == 200:
                self.answers.append((begun, time.time(), gateway.number, json.loads(body)["keyId"]))
            else:
                self.refusals.append((begun, gateway.number, f"{status} {body[:200]}"))
                time.sleep(0.01)

    def stop(self):
        self.isDone.set()
        for thread in self.threads:
            thread.join()
        return self
