"""PostgreSQL servers on loopback, with synchronous standbys, and networks that can be stopped; without pytest and other
packages, because scripts/bench uses it too."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile

from polling import await_
from ports import free_port

# The newest version in Debian's folder.
PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
# The server refuses to run as root.
USER = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}


class Server:
    """A server with its own directory. It accepts connections to 127.0.0.1 without a password."""

    def __init__(self, directory, name="primary", settings=()):
        self.directory = pathlib.Path(directory)
        self.name, self.settings = name, list(settings)
        self.data = self.directory / name
        self.log = self.directory / f"{name}.log"
        self.port = free_port()
        self.process = None

    # Life

    def initialize(self):
        self.run("initdb", "--pgdata", self.data, "--username", "postgres", "--auth", "trust", "--no-sync")
        return self

    def start(self, waits=True):
        options = ["listen_addresses=127.0.0.1", f"port={self.port}", "unix_socket_directories=", *self.settings]
        command = [PROGRAMS / "postgres", "-D", self.data, *(part for option in options for part in ("-c", option))]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", **USER)
        if waits:
            await_(self._accepts_connections, self.log.read_text, 60, 0.05)
        return self

    def _accepts_connections(self):
        assert self.process.poll() is None, self.log.read_text()
        command = [PROGRAMS / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(command, check=False).returncode == 0

    def stop(self, how=signal.SIGINT):
        """SIGINT ends all connections in order, SIGQUIT at once."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(how)
        self.process.wait(timeout=60)
        self.process = None

    def restart(self, how=signal.SIGINT):
        self.stop(how)
        self.start()

    # Standbys

    def standby(self, name="standby"):
        """A started standby. `require` makes the commits of this server wait for it."""
        other = Server(self.directory, name)
        self.make_standby(other)
        return other

    def make_standby(self, other, application=None):
        """`application`: the name that `synchronous_standby_names` of this server has for it."""
        self.run(
            "pg_basebackup", "--pgdata", other.data, "--write-recovery-conf", "--no-sync", "--checkpoint", "fast",
            "--dbname", f"host=127.0.0.1 port={self.port} user=postgres application_name={application or other.name}",
        )  # fmt: skip
        other.start()
        self.await_("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'", "1")

    def require(self, name):
        """Commits wait for the disk of the standby `name`; none for ''."""
        self.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
        self.sql("SELECT pg_reload_conf()")
        self.await_("SELECT current_setting('synchronous_standby_names')", name)
        if name:
            self.await_(f"SELECT sync_state FROM pg_stat_replication WHERE application_name = '{name}'", "sync")

    def promote(self):
        self.run("pg_ctl", "promote", "--pgdata", self.data, "--silent")

    # Queries

    def sql(self, statement, database="postgres"):
        """The rows, as psql prints them without decoration."""
        command = [
            PROGRAMS / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port),
            "-U", "postgres", "-d", database, "-c", statement,
        ]  # fmt: skip
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()

    def await_(self, query, value, seconds=60):
        await_(lambda: self.sql(query) == value, lambda: f"{query} is {self.sql(query)!r}, not {value!r}", seconds, 0.05)

    def run(self, program, *arguments):
        ended = subprocess.run(
            [PROGRAMS / program, *map(str, arguments)], capture_output=True, text=True, cwd="/", timeout=120, **USER
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr


@contextlib.contextmanager
def cluster(settings=()):
    """A server that is started, with an empty database `privyseal`. Ends all servers in its directory."""
    # A test's own directory is closed to the server's user.
    directory = tempfile.mkdtemp(prefix="privyseal-pg-")
    if USER:
        shutil.chown(directory, USER["user"], USER["group"])
    try:
        primary = Server(directory, settings=settings).initialize().start()
        primary.sql("CREATE DATABASE privyseal")
        yield primary
    finally:
        for file in pathlib.Path(directory).glob("*/postmaster.pid"):
            with contextlib.suppress(OSError, ValueError):
                server = int(file.read_text().split()[0])
                os.kill(server, signal.SIGCONT)
                os.kill(server, signal.SIGQUIT)
                os.waitpid(server, 0)
        shutil.rmtree(directory, ignore_errors=True)


def url(*servers, **parameters):
    """Of the database `privyseal` on the first of these servers that accepts writes."""
    hosts = ",".join(f"127.0.0.1:{server if isinstance(server, int) else server.port}" for server in servers)
    query = "&".join(f"{name}={value}" for name, value in parameters.items())
    return f"postgresql://postgres@{hosts}/privyseal" + (f"?{query}" if query else "")


# Networks


class Proxy:
    """Forwards connections to a server. `pause` keeps them and forwards nothing, as a broken network does."""

    def __init__(self, port):
        self.target, self.port = port, free_port()
        self.start()

    def start(self):
        # socat forwards, and stops with SIGSTOP.
        self.process = subprocess.Popen(
            ["socat", f"TCP-LISTEN:{self.port},bind=127.0.0.1,reuseaddr,fork", f"TCP:127.0.0.1:{self.target}"],
            # It reports every connection that a stopped server refuses.
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        await_(self._listens, "socat listens", 10)

    def _listens(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True

    def pause(self):
        os.killpg(self.process.pid, signal.SIGSTOP)

    def go_on(self):
        os.killpg(self.process.pid, signal.SIGCONT)

    def end(self):
        """Later connections are refused, until `start`."""
        self.go_on()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
