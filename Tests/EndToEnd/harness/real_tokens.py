"""Tokens of other projects: SoftHSM, a software TPM 2 with its resource manager, p11-kit's server, and NSS. Each is a
context manager with its own directory."""

import atexit
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from polling import await_

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIBRARIES = pathlib.Path("/usr/lib") / f"{os.uname().machine}-linux-gnu"
SOFTHSM = "/usr/lib/softhsm/libsofthsm2.so"
MAKE_TOKEN = ROOT / "softhsm-config" / "make-token"
originals = {}


def make_token(directory, token, label, *options):
    """Makes a token of SoftHSM with a key, or a further key in a token."""
    command = [MAKE_TOKEN, "--directory", directory, "--token", token, "--key-label", label, *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def copy_tokens(make, directory):
    """Does what `make(directory)` does, but in less time: SoftHSM's tokens are files, which are made once and copied."""
    if make not in originals:
        original = pathlib.Path(tempfile.mkdtemp(prefix="privyseal-tokens-"))
        atexit.register(shutil.rmtree, original, ignore_errors=True)
        make(original)
        originals[make] = original
    shutil.copytree(originals[make], directory, dirs_exist_ok=True)
    for file in pathlib.Path(directory).glob("**/softhsm2.conf"):
        file.write_text(file.read_text().replace(str(originals[make]), str(directory)))


class RealToken:
    """A token with keys. `environment`: the variables that its module reads."""

    module, label, pin = "", "shop", "pin-1234"

    def __init__(self):
        # Not in pytest's directory: the path of a Unix socket has at most 107 bytes.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="privyseal-token-"))
        self.environment = {}
        self.write_pin()

    def write_pin(self):
        self.pin_file = self.directory / "pin"
        self.pin_file.touch(mode=0o600)
        self.pin_file.write_text(self.pin)

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def start(self):
        pass

    def end(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def uri(self, label, module=None):
        """`module`: replaces module-path."""
        where = module or f"module-path={self.module}"
        return f"pkcs11:token={self.label.replace(' ', '%20')};object={label}?{where}&pin-source=file:{self.pin_file}"

    def tool(self, *command):
        environment = {**os.environ, **self.environment}
        ended = subprocess.run(list(map(str, command)), capture_output=True, env=environment, timeout=120)
        assert ended.returncode == 0, f"{command}: {ended.stdout + ended.stderr}"
        return ended.stdout

    def public_key(self, label):
        """The public key as another program reads it."""
        command = ["pkcs11-tool", "--module", self.module, "--token-label", self.label, "--type", "pubkey"]
        return serialization.load_der_public_key(self.tool(*command, "--read-object", "--label", label))


class SoftHSMToken(RealToken):
    """A token with one key, KEY, which the token generated."""

    module = SOFTHSM

    def start(self):
        copy_tokens(self.make, self.directory)
        self.environment = {"SOFTHSM2_CONF": str(self.directory / "softhsm2.conf")}
        self.pin = self.pin_file.read_text().strip()

    @staticmethod
    def make(directory):
        make_token(directory, SoftHSMToken.label, "KEY")


class P11KitServer(RealToken):
    """SoftHSM's token in another process. p11-kit's client module reaches it over a socket."""

    module = str(LIBRARIES / "pkcs11" / "p11-kit-client.so")

    def __init__(self):
        super().__init__()
        self.behind = SoftHSMToken()
        self.socket = self.directory / "server"
        self.environment = {"P11_KIT_SERVER_ADDRESS": f"unix:path={self.socket}"}

    def start(self):
        self.behind.start()
        self.pin_file = self.behind.pin_file
        self.serve()

    def serve(self):
        command = ["p11-kit", "server", "--foreground", "--name", self.socket, "--provider", SOFTHSM, "pkcs11:"]
        environment = {**os.environ, **self.behind.environment}
        # A separate process group, because the server starts a process for each connection.
        self.server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, start_new_session=True
        )
        # The server prints its address when it listens.
        assert b"P11_KIT_SERVER_ADDRESS" in self.server.stdout.readline()

    def stop_serving(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.server.pid, signal.SIGKILL)
        self.server.wait(timeout=10)
        self.server.stdout.close()
        self.socket.unlink(missing_ok=True)

    def end(self):
        if hasattr(self, "server"):
            self.stop_serving()
        self.behind.end()
        super().end()


class TPM(RealToken):
    """swtpm with tpm2-abrmd on a separate D-Bus. It has two keys: MADE, and IMPORTED from a file.

    Without the resource manager, swtpm has no room after three objects."""

    module = str(LIBRARIES / "pkcs11" / "libtpm2_pkcs11.so")

    def start(self):
        (self.directory / "state").mkdir()
        (self.directory / "store").mkdir()
        socket = self.directory / "tpm"
        self.processes = contextlib.ExitStack()
        self.run(
            "swtpm", "socket", "--tpm2", "--tpmstate", f"dir={self.directory}/state", "--server",
            f"type=unixio,path={socket}", "--ctrl", f"type=unixio,path={socket}.ctrl", "--flags",
            "not-need-init,startup-clear",
        )
        await_(socket.exists, "swtpm listens")
        bus = self.run(
            "dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1", f"--address=unix:path={self.directory}/bus",
            stdout=subprocess.PIPE,
        )
        address = bus.stdout.readline().decode().strip()
        bus.stdout.close()
        tcti = "tabrmd:bus_type=session"
        self.environment = {
            "DBUS_SESSION_BUS_ADDRESS": address, "TPM2_PKCS11_STORE": str(self.directory / "store"),
            "TPM2_PKCS11_TCTI": tcti, "TPM2TOOLS_TCTI": tcti,
        }
        self.serve()
        user = ["--label", self.label, "--userpin", self.pin]
        self.tool("tpm2_ptool", "init")
        self.tool("tpm2_ptool", "addtoken", "--pid=1", *user, "--sopin", "officer-1234")
        self.tool("tpm2_ptool", "addkey", "--algorithm=ecc256", *user, "--key-label=MADE")
        key = self.directory / "key.pem"
        self.tool("openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
        self.imported = serialization.load_pem_private_key(key.read_bytes(), None).public_key()
        self.tool("tpm2_ptool", "import", "--privkey", key, "--algorithm=ecc", *user, "--key-label=IMPORTED")

    def run(self, *command, stdout=subprocess.DEVNULL):
        environment = {**os.environ, **self.environment}
        process = subprocess.Popen(list(map(str, command)), stdout=stdout, stderr=subprocess.DEVNULL, env=environment)
        self.processes.callback(stop, process)
        return process

    def serve(self):
        self.manager = self.run("tpm2-abrmd", "--session", "--allow-root", "--tcti", f"swtpm:path={self.directory}/tpm")
        answers = lambda: self.manager.poll() is None and self.asks()
        await_(answers, "the resource manager answers")

    def asks(self):
        environment = {**os.environ, **self.environment}
        command = ["tpm2_getrandom", "--hex", "8"]
        return subprocess.run(command, capture_output=True, env=environment, timeout=30).returncode == 0

    def stop_serving(self):
        stop(self.manager)

    def make_unextractable(self):
        """tpm2_ptool marks imported keys as extractable; this clears the attribute."""
        for line in self.tool("tpm2_ptool", "listobjects", "--label", self.label).decode().split("- CKA_CLASS: "):
            if "CKO_PRIVATE_KEY" in line and "IMPORTED" in line:
                number = line.split("id: ")[-1].split()[0]
                # CKA_EXTRACTABLE is 0x162.
                self.tool("tpm2_ptool", "objmod", "--id", number, "--key", "354", "--value", "False", "--type", "bool")

    def end(self):
        if hasattr(self, "processes"):
            self.processes.close()
        super().end()


class NSS(RealToken):
    """The database of Firefox and others. It requires arguments in C_Initialize. It has one key, without a label."""

    label = "NSS Certificate DB"

    def start(self):
        candidates = [LIBRARIES / "libsoftokn3.so", LIBRARIES / "nss" / "libsoftokn3.so"]
        self.module = str(next(path for path in candidates if path.exists()))
        self.database = self.directory / "db"
        self.database.mkdir()
        noise = self.directory / "noise"
        noise.write_bytes(os.urandom(64))
        self.certutil("-N")
        name = ["-n", "MADE", "-s", "CN=made", "-x", "-t", ",,"]
        self.certutil("-S", *name, "-k", "ec", "-q", "nistp256", "-z", noise)
        self.key_id = re.search(r"> ec +([0-9a-f]{40})", self.certutil("-K").decode())[1]
        certificate = x509.load_pem_x509_certificate(self.certutil("-L", "-n", "MADE", "-a"))
        self.made = certificate.public_key()

    def certutil(self, *arguments):
        return self.tool("certutil", *arguments, "-d", f"sql:{self.database}", "-f", self.pin_file)

    def uri(self, label=None, arguments=True):
        stated = f"&init-args=configdir%3D%27sql:{self.database}%27" if arguments else ""
        key = f"object={label}" if label else "id=" + "".join(f"%{pair}" for pair in re.findall("..", self.key_id))
        where = f"module-path={self.module}{stated}&pin-source=file:{self.pin_file}"
        return f"pkcs11:token={self.label.replace(' ', '%20')};{key}?{where}"


def stop(process):
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=10)

