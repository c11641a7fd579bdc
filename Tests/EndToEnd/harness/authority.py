"""Certificate authorities for one test, and the certificates that they issue."""

import datetime
import hashlib
import ipaddress
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = datetime.timedelta(days=1)
CLIENT, SERVER = ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH


class Identity:
    """A certificate and its key, in two files."""

    def __init__(self, directory, name, certificate, key):
        self.certificate_path = directory / f"{name}.pem"
        self.key_path = directory / f"{name}.key"
        self.certificate, self.key = certificate, key
        self.certificate_pem = certificate.public_bytes(serialization.Encoding.PEM)
        self.key_pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        self.certificate_path.write_bytes(self.certificate_pem)
        self.key_path.touch(mode=0o600)
        self.key_path.write_bytes(self.key_pem)

    @property
    def fingerprint(self):
        """The SHA-256 of the SubjectPublicKeyInfo, as in the configuration."""
        public = self.key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return "sha256:" + hashlib.sha256(public).hexdigest()

    @property
    def der(self):
        return self.certificate.public_bytes(serialization.Encoding.DER)


class Authority:
    def __init__(self, directory, name, seconds=None):
        """`seconds`: the validity period."""
        self.directory = directory
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.subject = named(name)
        builder = building(self.subject, self.subject, self.key.public_key(), seconds=seconds)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(
            x509.KeyUsage(False, False, False, False, False, True, True, False, False), critical=True
        )
        self.certificate = Identity(directory, name, builder.sign(self.key, hashes.SHA256()), self.key)

    def issue(self, name, usage=CLIENT, expired=False, seconds=None, **names):
        key = ec.generate_private_key(ec.SECP256R1())
        return leaf(self.directory, name, key, self.subject, self.key, usage, expired, seconds, **names)

    def server(self, name="server"):
        return self.issue(name, SERVER, dns=["localhost"], addresses=["127.0.0.1"])


def self_signed(directory, name, **names):
    key = ec.generate_private_key(ec.SECP256R1())
    return leaf(directory, name, key, named(name), key, CLIENT, False, **names)


def leaf(directory, name, key, issuer, issuer_key, usage, expired, seconds=None, dns=(), uris=(), addresses=()):
    builder = building(named(name), issuer, key.public_key(), expired, seconds)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    alternatives = [
        *map(x509.DNSName, dns),
        *map(x509.UniformResourceIdentifier, uris),
        *(x509.IPAddress(ipaddress.ip_address(address)) for address in addresses),
    ]
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    return Identity(directory, name, builder.sign(issuer_key, hashes.SHA256()), key)


def named(name):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def building(subject, issuer, public_key, expired=False, seconds=None):
    valid = 30 * DAY if seconds is None else datetime.timedelta(seconds=seconds)
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 3 * DAY)
        .not_valid_after(now - DAY if expired else now + valid)
    )


def client_context(trusted, identity=None, version=None):
    """Trusts these authorities, and sends this identity if the server requests one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for authority in trusted:
        context.load_verify_locations(authority.certificate.certificate_path)
    if identity:
        context.load_cert_chain(identity.certificate_path, identity.key_path)
    if version:
        context.minimum_version = context.maximum_version = version
    return context
