"""Ports for servers that must know theirs before they listen; without other packages, because scripts/bench uses it too."""

import contextlib
import itertools
import os
import random
import socket

# Below the ports that the kernel chooses for listeners and connections (net.ipv4.ip_local_port_range), and others in each
# worker of pytest: no other process takes the port before its server listens.
FIRST = 20_000 + 500 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
PORTS = itertools.cycle(random.sample(range(FIRST, FIRST + 500), 500))


def free_port():
    for port in PORTS:
        with socket.socket() as channel, contextlib.suppress(OSError):
            channel.bind(("127.0.0.1", port))
            return port
