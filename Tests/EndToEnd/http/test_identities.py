"""Workload identities: JWTs of issuers, the key sets of issuers, and SPIFFE certificates."""

import concurrent.futures
import contextlib
import dataclasses
import json
import os
import socket
import ssl
import time
import typing

import pytest
from auditing import await_
from authority import SERVER, Authority, client_context
from conftest import BINARY
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from identities import (
    IdentityGateway,
    IssuerKey,
    KeySetServer,
    Published,
    claims,
    compact,
    encode,
    encode_json,
    hmac_signer,
    key_set,
    raw,
)
from key_lifecycle import KeysInFiles
from service import REFUSED_CONFIGURATION, digest, exchange, mint, write_secret
from service_tokens import TEAM, TokenGateway, own_key

ISSUER, SINGLE_ISSUER = "https://issuer.example.com", "https://single.example.com"
AUDIENCE, MESH_AUDIENCE = "https://privyseal.example.com", "spiffe://example.org/privyseal"
WEB, SPIFFE_ID = "system:serviceaccount:shop:web", "spiffe://example.org/ns/shop/sa/web"
COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
LONGEST = 16 << 10
# The order of the group of P-256 (SEC 2 §2.4.2).
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551

# The causes of IdentityError.swift.
UNKNOWN_ISSUER = "The token is of no issuer of the configuration."
# Also of a text that does not begin like a JWT.
NOT_OURS = "The token is malformed: the header Authorization is not Bearer with a token of PrivySeal."
NOT_THREE_PARTS = "The token is not three parts in Base64url."


def of(issuer, rest):
    return f"The token of the issuer {issuer} {rest}"


AUDIENCE_IS_WRONG = of("cluster", "is for another audience.")
EXPIRED = of("cluster", "has expired.")
NOT_YET = of("cluster", "is not valid yet.")
ALGORITHM = of("cluster", "has another algorithm than ES256, RS256 and EdDSA.")
OTHER_ALGORITHM = of("cluster", "has an algorithm for which its key is not meant.")
NO_KEY_ID = of("cluster", "names no key, and its key set has not exactly one for the algorithm.")
UNKNOWN_KEY = of("cluster", "has a key that is not in the key set.")
SIGNATURE = of("cluster", "has a wrong signature.")
NO_CLIENT = of("cluster", "is valid, but no client has its subject and its claims.")


def two_clients(first, second):
    return f"The credentials belong to two clients, {first} and {second}."


def invalid(part, member):
    """The beginning of the sentence, which then says what the member is."""
    return f'The token has an unusable {part}: "{member}" '


def not_json(part):
    return f"The token has a {part} that is not strict JSON."


# The table


class World:
    """The keys of three issuers, and a gateway that knows their public keys."""

    def __init__(self, directory):
        self.directory = directory
        self.ec, self.rsa, self.ed = IssuerKey("ec"), IssuerKey("rsa", "RS256"), IssuerKey("ed", "EdDSA")
        self.p384, self.p521 = IssuerKey("p384", "ES384"), IssuerKey("p521", "ES512")
        self.small = IssuerKey("small", "RS256", bits=1024)
        self.encryption, self.marked = IssuerKey("encryption"), IssuerKey("marked")
        self.second, self.private = IssuerKey("second"), IssuerKey("private")
        self.shared = IssuerKey("shared"), IssuerKey("shared", "RS256", self.rsa.private)
        self.attacker = IssuerKey("ec")
        self.single, self.single_rsa = IssuerKey("only"), IssuerKey(None, "RS256", self.rsa.private)
        self.svid, self.x509 = IssuerKey("svid"), IssuerKey("x509")
        self.token = mint()
        scalar = self.private.private.private_numbers().private_value
        sets = {
            "cluster": key_set(
                self.ec, self.rsa, self.ed, self.p384, self.p521, self.small, self.second, *self.shared,
                self.encryption.jwk(use="enc"), self.marked.jwk(alg="ES384"),
                self.private.jwk(d=encode(scalar.to_bytes(32, "big"))),
                {"kty": "oct", "kid": "oct", "k": encode(b"secret" * 6)}),
            "single": key_set(self.single, self.single_rsa),
            "mesh": key_set(self.svid.jwk(use="jwt-svid"), self.x509.jwk(use="x509-svid")),
        }
        for name, keys in sets.items():
            (directory / f"{name}.json").write_text(json.dumps(keys))

    def issuers(self):
        def issuer(name, audience=AUDIENCE, **sign):
            return {"name": name, "audience": audience, "keys": f"{self.directory}/{name}.json", **sign}

        return [
            issuer("cluster", issuer=ISSUER), issuer("single", issuer=SINGLE_ISSUER),
            issuer("mesh", MESH_AUDIENCE, trustDomain="example.org"),
        ]

    def clients(self):
        def cluster(subject, **more):
            return {"issuer": "cluster", "subject": subject, **more}

        return [
            {
                "name": "shop", "tokens": [{"sha256": digest(self.token)}],
                "identities": [
                    cluster(WEB), {"issuer": "single", "subject": "web"}, {"issuer": "mesh", "subject": SPIFFE_ID}],
            },
            {"name": "repositories", "identities": [cluster("repo:example/shop:*")]},
            {
                "name": "jobs",
                "identities": [
                    cluster("job:text", claims={"ref": "refs/heads/*"}),
                    cluster("job:number", claims={"run": "7"}),
                    cluster("job:flag", claims={"verified": "true"}),
                    cluster("job:two", claims={"ref": "refs/heads/main", "run": "7"}),
                    cluster("job:accent", claims={COMPOSED: "yes"}),
                ],
            },
            {"name": "coffee", "identities": [cluster(COMPOSED)]},
            {"name": "first", "identities": [cluster("both:*")]},
            {"name": "second", "identities": [cluster("*:clients")]},
        ]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("identities"))
    with IdentityGateway(BINARY, world.directory, world.issuers(), world.clients()) as world.gateway:
        yield world


@dataclasses.dataclass(frozen=True)
class Case:
    """A token and the expected result: the client that it proves, or the cause of its refusal."""

    name: str
    make: typing.Callable[[World], str]
    client: str | None = None
    cause: str | None = None
    authorization: str = "Bearer {}"


def accepted(name, make, client="shop", **how):
    return Case(name, make, client=client, **how)


def refused(name, cause, make, **how):
    return Case(name, make, cause=cause, **how)


def web(**changes):
    return claims(ISSUER, AUDIENCE, WEB, **changes)


def by(key, changes=None, **header):
    """A function that makes a token with this key of the world, with changed claims and a changed header."""
    return lambda world: getattr(world, key).token(web(**(changes or {})), **header)


def seconds(offset):
    return int(time.time()) + offset


def at(name, offset):
    """A token with this time in a claim, in seconds from now."""
    return lambda world: world.ec.token(web(**{name: seconds(offset)}))


def signed(header, payload=None, key="ec"):
    """A token with exactly this header and payload: JSON values or bytes."""
    return lambda world: compact(header, web() if payload is None else payload, getattr(world, key).sign)


def payload(edit):
    """A token whose payload is text: `edit` changes the text of valid claims."""
    return lambda world: compact(world.ec.header(), edit(json.dumps(web())).encode(), world.ec.sign)


def exp_as(text):
    """A token with this JSON as its `exp`."""
    return payload(lambda valid: valid.replace('"exp": ', f'"exp": {text}, "was": '))


def forged(signature, algorithm="ES256", kid="ec"):
    """A token with this signature."""
    return lambda world: compact({"alg": algorithm, "kid": kid}, web(), lambda _: signature)


def edited(edit):
    """A valid token that is changed afterwards: `edit` maps its three parts to the new text."""
    return lambda world: edit(*world.ec.token(web()).split("."))


def with_signature(edit, key="ec"):
    """A token whose signature is changed."""

    def make(world):
        one = getattr(world, key)
        return one.token(web(), sign=lambda text: edit(one.sign(text)))

    return make


def high_s(signature):
    r, s = signature[:32], int.from_bytes(signature[32:])
    return r + max(s, ORDER - s).to_bytes(32, "big")


def low_s(signature):
    r, s = signature[:32], int.from_bytes(signature[32:])
    return r + min(s, ORDER - s).to_bytes(32, "big")


def der(signature):
    return utils.encode_dss_signature(int.from_bytes(signature[:32]), int.from_bytes(signature[32:]))


# The order of Ed25519's group (RFC 8032 §5.1).
ORDER_25519 = 2**252 + 27742317777372353535851937790883648493


def larger_s(signature):
    """The signature with S + L, which a lenient verifier accepts (RFC 8032 §5.1.7)."""
    return signature[:32] + (int.from_bytes(signature[32:], "little") + ORDER_25519).to_bytes(32, "little")


def of_length(length):
    """A valid token of this number of bytes."""

    def make(world):
        for size in range(length * 3 // 4 - 600, length):
            token = world.ec.token(web(filler="x" * size))
            if len(token) >= length:
                break
        if len(token) == length:
            return token
        # Four characters encode three bytes, so the header takes the rest.
        for more in range(1, 6):
            token = world.ec.token(web(filler="x" * (size - more)), filler="y" * more)
            if len(token) == length:
                return token
        raise AssertionError(f"no token has {length} bytes")

    return make


def tokens():
    yield from valid()
    yield from issuers_and_audiences()
    yield from times()
    yield from algorithms()
    yield from keys()
    yield from signatures()
    yield from headers()
    yield from texts()
    yield from subjects()
    yield from required_claims()
    yield from spiffe()


def valid():
    yield accepted("ES256", by("ec"))
    yield accepted("RS256", by("rsa"))
    yield accepted("EdDSA", by("ed"))
    yield accepted("bearer in lower case", by("ec"), authorization="bearer {}")
    yield accepted("BEARER in upper case", by("ec"), authorization="BEARER {}")
    yield accepted("a token of PrivySeal", lambda world: world.token)
    yield refused("the scheme DPoP", NOT_OURS, by("ec"), authorization="DPoP {}")
    yield refused("two spaces before the token", NOT_THREE_PARTS, by("ec"), authorization="Bearer  {}")
    yield refused("the token in quotation marks", NOT_THREE_PARTS, by("ec"), authorization='Bearer "{}"')


def issuers_and_audiences():
    yield refused("another issuer", UNKNOWN_ISSUER, by("ec", {"iss": "https://other.example.com"}))
    yield refused("no iss", UNKNOWN_ISSUER, by("ec", {"iss": None}))
    yield refused("iss with a trailing slash", UNKNOWN_ISSUER, by("ec", {"iss": ISSUER + "/"}))
    yield refused("iss in other case", UNKNOWN_ISSUER, by("ec", {"iss": ISSUER.replace("issuer", "Issuer")}))
    yield refused("iss with http", UNKNOWN_ISSUER, by("ec", {"iss": ISSUER.replace("https", "http")}))
    yield refused("iss is the name in the configuration", UNKNOWN_ISSUER, by("ec", {"iss": "cluster"}))
    yield refused("iss is empty", UNKNOWN_ISSUER, by("ec", {"iss": ""}))
    yield refused("iss is an array", invalid("payload", "iss"), by("ec", {"iss": [ISSUER]}))
    yield refused("iss is null", invalid("payload", "iss"), payload(lambda text: text.replace(f'"{ISSUER}"', "null")))
    yield refused("iss of another issuer than the key", of("single", "has a key that is not in the key set."),
                  by("ec", {"iss": SINGLE_ISSUER}))
    yield refused("another audience", AUDIENCE_IS_WRONG, by("ec", {"aud": "https://other.example.com"}))
    yield refused("aud in other case", AUDIENCE_IS_WRONG, by("ec", {"aud": AUDIENCE.upper()}))
    yield refused("aud with a trailing slash", AUDIENCE_IS_WRONG, by("ec", {"aud": AUDIENCE + "/"}))
    yield refused("aud is a prefix", AUDIENCE_IS_WRONG, by("ec", {"aud": AUDIENCE[:-1]}))
    yield accepted("an array of audiences with ours", by("ec", {"aud": ["https://other.example.com", AUDIENCE]}))
    yield refused("an array of audiences without ours", AUDIENCE_IS_WRONG,
                  by("ec", {"aud": ["https://other.example.com", "*"]}))
    yield refused("an empty array of audiences", AUDIENCE_IS_WRONG, by("ec", {"aud": []}))
    yield refused("audiences in nested arrays", invalid("payload", "aud[0]"), by("ec", {"aud": [[AUDIENCE]]}))
    yield refused("no aud", invalid("payload", "aud"), by("ec", {"aud": None}))
    yield refused("aud is a number", invalid("payload", "aud"), by("ec", {"aud": 7}))
    yield refused("an array of audiences with a number", invalid("payload", "aud[1]"), by("ec", {"aud": [AUDIENCE, 7]}))


def times():
    yield refused("expired by a second", EXPIRED, at("exp", -1))
    yield refused("expired now", EXPIRED, at("exp", 0))
    yield refused("no exp", invalid("payload", "exp"), by("ec", {"exp": None}))
    yield refused("exp is a string", invalid("payload", "exp"), lambda world: world.ec.token(web(exp=str(seconds(60)))))
    yield refused("exp is true", invalid("payload", "exp"), by("ec", {"exp": True}))
    yield accepted("exp with a fraction", lambda world: world.ec.token(web(exp=seconds(60) + 0.5)))
    yield accepted("exp with an exponent", exp_as("1e10"))
    yield accepted("exp at the end of the year 9999", by("ec", {"exp": 253402300799}))
    yield refused("exp after the year 9999", invalid("payload", "exp"), by("ec", {"exp": 253402300800}))
    yield refused("exp is huge", invalid("payload", "exp"), exp_as("1e300"))
    yield refused("exp is infinite", invalid("payload", "exp"), exp_as("1e999"))
    yield refused("exp with ten thousand digits", invalid("payload", "exp"),
                  exp_as("9" * 10_000))
    yield refused("exp is negative", invalid("payload", "exp"), by("ec", {"exp": -1}))
    yield refused("exp is 0", EXPIRED, by("ec", {"exp": 0}))
    yield accepted("nbf within the tolerance", at("nbf", 20))
    yield refused("nbf beyond the tolerance", NOT_YET, at("nbf", 50))
    yield refused("nbf is a string", invalid("payload", "nbf"), by("ec", {"nbf": "0"}))
    yield accepted("iat within the tolerance", at("iat", 20))
    yield refused("iat beyond the tolerance", NOT_YET, at("iat", 50))
    yield accepted("iat is old", by("ec", {"iat": 0}))


def algorithms():
    for name in ("none", "NONE", "None", "nOnE"):
        yield refused(f"{name} without a signature", ALGORITHM, forged(b"", name))
    yield refused("none with a signature", ALGORITHM, by("ec", alg="none"))
    yield refused("HS256 with the PEM of the EC key", ALGORITHM,
                  lambda world: world.ec.token(web(), hmac_signer(world.ec.pem), alg="HS256"))
    yield refused("HS256 with the JWK of the EC key", ALGORITHM,
                  lambda world: world.ec.token(web(), hmac_signer(json.dumps(world.ec.jwk()).encode()), alg="HS256"))
    yield refused("HS256 with the PEM of the RSA key", ALGORITHM,
                  lambda world: world.rsa.token(web(), hmac_signer(world.rsa.pem), alg="HS256"))
    yield refused("HS256 with the symmetric key of the set", ALGORITHM,
                  lambda world: world.ec.token(web(), hmac_signer(b"secret" * 6), alg="HS256", kid="oct"))
    yield refused("HS256 without kid", ALGORITHM,
                  lambda world: world.ec.token(web(), hmac_signer(b"secret" * 6), alg="HS256", kid=None))
    yield refused("RS256 with the EC key's kid", OTHER_ALGORITHM, by("rsa", kid="ec"))
    yield refused("ES256 with the RSA key's kid", OTHER_ALGORITHM, by("ec", kid="rsa"))
    yield refused("EdDSA with the EC key's kid", OTHER_ALGORITHM, by("ed", kid="ec"))
    yield refused("ES256 with the symmetric key's kid", UNKNOWN_KEY, by("ec", kid="oct"))
    yield refused("ES384", ALGORITHM, by("p384"))
    yield refused("ES512", ALGORITHM, by("p521"))
    for name in ("RS384", "PS256"):
        yield refused(name, ALGORITHM,
                      lambda world, name=name: world.rsa.token(web(), lambda text: world.rsa.sign(text, name), alg=name))
    yield refused("RS256 in the header, PS256 in the signature", SIGNATURE,
                  lambda world: world.rsa.token(web(), lambda text: world.rsa.sign(text, "PS256")))
    yield refused("ES256K", ALGORITHM, by("ec", alg="ES256K"))
    yield refused("es256 in lower case", ALGORITHM, by("ec", alg="es256"))
    yield refused("Ed25519 as the name of the algorithm", ALGORITHM, by("ed", alg="Ed25519"))
    yield refused("no alg", invalid("header", "alg"), by("ec", alg=None))
    yield refused("alg is an array", invalid("header", "alg"), by("ec", alg=["ES256"]))
    yield refused("alg is null", invalid("header", "alg"), signed(b'{"alg":null,"kid":"ec"}'))


def keys():
    yield refused("an unknown kid", UNKNOWN_KEY, by("ec", kid="unknown"))
    yield refused("kid in other case", UNKNOWN_KEY, by("ec", kid="EC"))
    yield refused("kid is empty", UNKNOWN_KEY, by("ec", kid=""))
    yield refused("kid with a NUL", UNKNOWN_KEY, by("ec", kid="ec\0"))
    yield refused("kid is a path", UNKNOWN_KEY, by("ec", kid="../../../../etc/passwd"))
    yield refused("kid is a pattern", UNKNOWN_KEY, by("ec", kid="*"))
    yield refused("kid of 10,000 characters", UNKNOWN_KEY, by("ec", kid="k" * 10_000))
    yield refused("kid is a number", invalid("header", "kid"), by("ec", kid=7))
    yield refused("kid is null", invalid("header", "kid"), signed(b'{"alg":"ES256","kid":null}'))
    yield refused("no kid, and several keys for the algorithm", NO_KEY_ID, by("ec", kid=None))
    yield accepted("no kid, and one key for the algorithm", by("ed", kid=None))
    for key, what in (("single", "with kid"), ("single_rsa", "without kid")):
        yield accepted(f"no kid, and the only key is {what}",
                       lambda world, key=key: getattr(world, key).token(claims(SINGLE_ISSUER, AUDIENCE, "web"), kid=None))
    yield refused("no kid, and no key for the algorithm",
                  of("single", "names no key, and its key set has not exactly one for the algorithm."),
                  lambda world: world.ed.token(claims(SINGLE_ISSUER, AUDIENCE, "web"), kid=None))
    yield refused("another key with the kid of a known one", SIGNATURE, by("attacker"))
    for place in (0, 1):
        yield accepted(f"a kid of two keys with different algorithms, key {place}",
                       lambda world, place=place: world.shared[place].token(web()))
    yield refused("a key for encryption", UNKNOWN_KEY, by("encryption"))
    yield refused("a key for another algorithm", UNKNOWN_KEY, by("marked"))
    yield refused("an RSA key of 1024 bits", UNKNOWN_KEY, by("small"))
    yield accepted("a key of the set with its private part", by("private"))
    yield refused("ES256 with the kid of a P-384 key", UNKNOWN_KEY, by("ec", kid="p384"))


def signatures():
    yield refused("a signature in DER", SIGNATURE, with_signature(der))
    yield refused("a signature of zeros", SIGNATURE, forged(bytes(64)))
    yield refused("r = 0", SIGNATURE, with_signature(lambda signature: bytes(32) + signature[32:]))
    yield refused("s = 0", SIGNATURE, with_signature(lambda signature: signature[:32] + bytes(32)))
    yield refused("r and s are the order of the group", SIGNATURE, forged(ORDER.to_bytes(32, "big") * 2))
    yield refused("a truncated signature", SIGNATURE, with_signature(lambda signature: signature[:-1]))
    yield refused("a signature with a byte more", SIGNATURE, with_signature(lambda signature: signature + b"\0"))
    yield refused("a signature with a zero before r and s", SIGNATURE,
                  with_signature(lambda signature: b"\0" + signature[:32] + b"\0" + signature[32:]))
    # s and n - s are both right for the same text (SEC 1 §4.1.4). The second form needs the token, and proves no more.
    yield accepted("a high s", with_signature(high_s))
    yield accepted("a low s", with_signature(low_s))
    yield refused("an empty signature", SIGNATURE, forged(b""))
    yield refused("an empty signature, RS256", SIGNATURE, forged(b"", "RS256", "rsa"))
    yield refused("an empty signature, EdDSA", SIGNATURE, forged(b"", "EdDSA", "ed"))
    yield refused("an RSA signature of zeros", SIGNATURE, forged(bytes(256), "RS256", "rsa"))
    yield refused("an RSA signature of ones", SIGNATURE, forged(b"\xff" * 256, "RS256", "rsa"))
    yield refused("an RSA signature with a zero before it", SIGNATURE, with_signature(lambda s: b"\0" + s, "rsa"))
    yield refused("an RSA signature without its last byte", SIGNATURE, with_signature(lambda s: s[:-1], "rsa"))
    yield refused("an EdDSA signature of zeros", SIGNATURE, forged(bytes(64), "EdDSA", "ed"))
    yield refused("an EdDSA signature with a larger S", SIGNATURE, with_signature(larger_s, "ed"))
    yield refused("the signature of other claims", SIGNATURE,
                  lambda world: world.ec.token(web(), lambda _: world.ec.sign(b"other")))
    yield refused("claims that were changed", SIGNATURE,
                  edited(lambda header, _, signature: f"{header}.{encode_json(web(sub='root'))}.{signature}"))
    yield refused("a header that was changed", SIGNATURE,
                  edited(lambda _, body, signature: f"{encode_json({'alg': 'ES256', 'kid': 'ec'})}.{body}.{signature}"))
    yield refused("the ASN.1 of ES384 over P-256", SIGNATURE,
                  lambda world: world.ec.token(web(), lambda text: raw(world.ec.private.sign(
                      text, ec.ECDSA(hashes.SHA384())), 32)))


def headers():
    def own(**header):
        """A token of an attacker, whose header names its key."""
        return lambda world: world.attacker.token(
            web(), **{name: value(world) if callable(value) else value for name, value in header.items()})

    jwk = lambda world: world.attacker.jwk()
    certificate = lambda world: [encode(world.attacker.pem)]
    yield refused("jku of an attacker", SIGNATURE, own(jku="https://attacker.example/jwks.json"))
    yield refused("jwk of an attacker", SIGNATURE, own(jwk=jwk))
    yield refused("jwk of an attacker, and no kid", NO_KEY_ID, own(jwk=jwk, kid=None))
    yield refused("jwk of an attacker, and an unknown kid", UNKNOWN_KEY, own(jwk=jwk, kid="attacker"))
    yield refused("x5c of an attacker", SIGNATURE, own(x5c=certificate))
    yield refused("x5u of an attacker", SIGNATURE, own(x5u="https://attacker.example/chain.pem"))
    yield accepted("jku, jwk and x5c beside a right signature", lambda world: world.ec.token(
        web(), jku="https://attacker.example/jwks.json", jwk=world.attacker.jwk(), x5c=certificate(world)))
    yield refused("crit with exp", invalid("header", "crit"), by("ec", crit=["exp"], exp=0))
    yield refused("crit is empty", invalid("header", "crit"), by("ec", crit=[]))
    yield refused("crit is null", invalid("header", "crit"), signed(b'{"alg":"ES256","kid":"ec","crit":null}'))
    yield refused("b64 false, in crit", invalid("header", "crit"), by("ec", crit=["b64"], b64=False))
    # RFC 7797 §6: without crit, b64 has no meaning.
    yield accepted("b64 false, without crit, over the encoded payload", by("ec", b64=False))
    yield refused("b64 false, over the payload itself", SIGNATURE, lambda world: world.ec.token(
        web(), lambda text: world.ec.sign(text.partition(b".")[0] + b"." + json.dumps(web()).encode()), b64=False))
    for kind in ("JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", "JOSE"):
        yield accepted(f"typ {kind}", by("ec", typ=kind))
    yield accepted("no typ", by("ec", typ=None))
    for kind in ("logout+jwt", "dpop+jwt", "secevent+jwt", "kb+jwt", "id_token", "", "JWT ", "JWE"):
        yield refused(f"typ {kind!r}", invalid("header", "typ"), by("ec", typ=kind))
    yield refused("typ is a number", invalid("header", "typ"), by("ec", typ=7))
    yield refused("typ is null", invalid("header", "typ"), signed(b'{"alg":"ES256","kid":"ec","typ":null}'))
    yield refused("alg twice", not_json("header"), signed(b'{"alg":"none","kid":"ec","alg":"ES256"}'))
    yield refused("alg twice, once with an escape", not_json("header"),
                  signed(rb'{"alg":"none","kid":"ec","\u0061lg":"ES256"}'))
    yield refused("an unused member twice in the header", not_json("header"),
                  signed(b'{"alg":"ES256","kid":"ec","a":1,"a":2}'))
    yield accepted("alg with escapes", signed(rb'{"\u0061lg":"ES\u003256","kid":"\u0065c"}'))
    yield refused("a header that is not JSON", not_json("header"), signed(b'{"alg":"ES256"'))
    yield refused("a header with a comment", not_json("header"), signed(b'{"alg":"ES256"/**/,"kid":"ec"}'))
    yield refused("a header with text behind it", not_json("header"), signed(b'{"alg":"ES256","kid":"ec"}{}'))
    yield refused("a header with invalid UTF-8", not_json("header"), signed(b'{"alg":"ES256","kid":"ec\xff"}'))
    # The gateway takes a text for a JWT if its header begins with {" and nothing between.
    yield accepted("a header with a space after its brace", signed(b'{ "alg":"ES256","kid":"ec"}'))
    yield accepted("a header with a space before its brace", signed(b' {"alg":"ES256","kid":"ec"}'))
    yield accepted("a header with a newline behind it", signed(b'{"alg":"ES256","kid":"ec"}\n'))


def texts():
    """Tokens that are not well-formed."""
    yield refused("two parts", NOT_THREE_PARTS, edited(lambda header, body, _: f"{header}.{body}"))
    yield refused("one part", NOT_OURS, edited(lambda header, *_: header))
    yield refused("four parts", NOT_THREE_PARTS, edited(lambda *parts: ".".join([*parts, parts[2]])))
    yield refused("five parts, as a JWE has", NOT_THREE_PARTS,
                  edited(lambda header, body, signature: f"{header}.{body}.{signature}.{body}.{signature}"))
    yield refused("an empty payload", not_json("payload"), edited(lambda header, _, signature: f"{header}..{signature}"))
    for position in range(3):
        yield refused(f"padding in part {position}", NOT_THREE_PARTS,
                      edited(lambda *parts, position=position: ".".join(
                          part + "=" if place == position else part for place, part in enumerate(parts))))
    yield refused("a + in the signature", NOT_THREE_PARTS,
                  edited(lambda header, body, signature: f"{header}.{body}.+{signature[1:]}"))
    yield refused("white space behind the token", NOT_THREE_PARTS, edited(lambda *parts: ".".join(parts) + " x"))
    yield refused("stray bits in the last character", NOT_THREE_PARTS, edited(lambda header, body, signature:
        f"{header}.{body}.{signature[:-1]}{chr(ord(signature[-1]) + 1)}"))
    yield refused("two tokens with a comma", NOT_THREE_PARTS, edited(lambda *parts: ",".join([".".join(parts)] * 2)))
    yield accepted("a token of 16 KiB", of_length(LONGEST))
    yield refused("a token of 16 KiB and a byte", "The token is longer than 16384 bytes.", of_length(LONGEST + 1))
    yield refused("dots only", NOT_THREE_PARTS, lambda _: "eyJ" + "." * 10_000)
    yield refused("a payload that is not JSON", not_json("payload"), signed({"alg": "ES256", "kid": "ec"}, b"web"))
    yield refused("a payload that is an array", "The token has a payload that is no JSON object.",
                  signed({"alg": "ES256", "kid": "ec"}, [web()]))
    yield refused("a payload of 10,000 nested arrays", not_json("payload"),
                  signed({"alg": "ES256", "kid": "ec"}, b"[" * 10_000))
    yield refused("a nested JWT", not_json("payload"), lambda world: compact(
        world.ec.header(cty="JWT"), world.ec.token(web()).encode(), world.ec.sign))
    yield refused("sub twice", not_json("payload"), payload(lambda text: text.replace('"sub"', '"sub": "root", "sub"')))
    yield refused("sub twice, once with an escape", not_json("payload"),
                  payload(lambda text: text.replace('"sub"', '"s\\u0075b": "root", "sub"')))
    yield refused("an unused claim twice", not_json("payload"),
                  payload(lambda text: text.replace('"sub"', '"a": 1, "a": 1, "sub"')))
    yield refused("a claim twice among many", not_json("payload"), payload(
        lambda text: text.replace('"sub"', "".join(f'"c{n}": 1, ' for n in range(40)) + '"c7": 1, "sub"')))
    yield refused("a member twice in a nested object", not_json("payload"),
                  payload(lambda text: text.replace('"sub"', '"deep": {"a": 1, "a": 1}, "sub"')))
    yield accepted("claims with canonically equivalent names", by("ec", {COMPOSED: 1, DECOMPOSED: 2}))


def subjects():
    yield refused("a valid token of no client", NO_CLIENT, by("ec", {"sub": "system:serviceaccount:shop:cron"}))
    yield refused("sub is a prefix", NO_CLIENT, by("ec", {"sub": WEB[:-1]}))
    yield refused("sub is longer", NO_CLIENT, by("ec", {"sub": WEB + "2"}))
    yield refused("sub in other case", NO_CLIENT, by("ec", {"sub": WEB.upper()}))
    yield refused("sub with a newline behind it", NO_CLIENT, by("ec", {"sub": WEB + "\n"}))
    yield refused("sub with a NUL behind it", NO_CLIENT, by("ec", {"sub": WEB + "\0"}))
    yield refused("sub is empty", NO_CLIENT, by("ec", {"sub": ""}))
    yield refused("sub is a star", NO_CLIENT, by("ec", {"sub": "*"}))
    yield refused("no sub", invalid("payload", "sub"), by("ec", {"sub": None}))
    yield refused("sub is a number", invalid("payload", "sub"), by("ec", {"sub": 7}))
    yield refused("sub is an array", invalid("payload", "sub"), by("ec", {"sub": [WEB]}))
    yield refused("sub with half a surrogate pair", not_json("payload"),
                  payload(lambda text: text.replace(WEB, "\\ud83d")))
    yield accepted("sub matches a pattern", by("ec", {"sub": "repo:example/shop:ref:refs/heads/main"}), "repositories")
    yield accepted("the star of a pattern matches nothing", by("ec", {"sub": "repo:example/shop:"}), "repositories")
    yield refused("sub almost matches a pattern", NO_CLIENT, by("ec", {"sub": "repo:example/shop2:ref"}))
    yield refused("sub has text before a pattern", NO_CLIENT, by("ec", {"sub": "x:repo:example/shop:ref"}))
    yield accepted("sub with é", by("ec", {"sub": COMPOSED}), "coffee")
    yield refused("sub with e and an accent", NO_CLIENT, by("ec", {"sub": DECOMPOSED}))
    yield refused("a subject of two clients", two_clients("first", "second"), by("ec", {"sub": "both:clients"}))
    yield accepted("a subject of the first of them", by("ec", {"sub": "both:one"}), "first")
    yield refused("the subject of an identity of another issuer", NO_CLIENT, by("ec", {"sub": "web"}))


def required_claims():
    def job(kind, **changes):
        return by("ec", {"sub": f"job:{kind}", **changes})

    yield accepted("a required claim", job("text", ref="refs/heads/main"), "jobs")
    yield refused("a required claim is missing", NO_CLIENT, job("text"))
    yield refused("a required claim is different", NO_CLIENT, job("text", ref="refs/tags/main"))
    yield accepted("a required claim is an element", job("text", ref=["other", "refs/heads/main"]), "jobs")
    yield refused("a required claim is no element", NO_CLIENT, job("text", ref=["other", ["refs/heads/main"]]))
    yield refused("a required claim is an empty array", NO_CLIENT, job("text", ref=[]))
    yield refused("a required claim is in an object", NO_CLIENT, job("text", ref={"ref": "refs/heads/main"}))
    yield refused("a required claim is null", NO_CLIENT,
                  payload(lambda text: text.replace(WEB, "job:text").replace('"sub"', '"ref": null, "sub"')))
    yield accepted("a required number", job("number", run=7), "jobs")
    yield accepted("a required number as text", job("number", run="7"), "jobs")
    yield refused("a required number with a fraction", NO_CLIENT, job("number", run=7.0))
    yield refused("another number", NO_CLIENT, job("number", run=77))
    yield accepted("a required Boolean", job("flag", verified=True), "jobs")
    yield accepted("a required Boolean as text", job("flag", verified="true"), "jobs")
    yield refused("the other Boolean", NO_CLIENT, job("flag", verified=False))
    yield refused("a number in place of a Boolean", NO_CLIENT, job("flag", verified=1))
    yield accepted("two required claims", job("two", ref="refs/heads/main", run=7), "jobs")
    yield refused("one of two required claims", NO_CLIENT, job("two", ref="refs/heads/main"))
    yield accepted("a required claim with é in its name", job("accent", **{COMPOSED: "yes"}), "jobs")
    yield refused("a required claim with e and an accent in its name", NO_CLIENT, job("accent", **{DECOMPOSED: "yes"}))


def spiffe():
    def svid(key="svid", subject=SPIFFE_ID, audience=MESH_AUDIENCE, issuer=None, **changes):
        return lambda world: getattr(world, key).token(claims(issuer, audience, subject, **changes))

    yield accepted("a JWT-SVID", svid())
    yield accepted("a JWT-SVID with iss", svid(issuer="https://spire.example.org"))
    yield refused("a JWT-SVID with iss of another issuer", AUDIENCE_IS_WRONG, svid(issuer=ISSUER))
    yield refused("a JWT-SVID with iss and aud of another issuer", UNKNOWN_KEY, svid(issuer=ISSUER, audience=AUDIENCE))
    yield refused("a SPIFFE ID by the key of another issuer", of("mesh", "has a key that is not in the key set."),
                  svid("ec"))
    yield refused("a SPIFFE ID in a token of another issuer", NO_CLIENT, svid("ec", issuer=ISSUER, audience=AUDIENCE))
    yield refused("a JWT-SVID for another audience", of("mesh", "is for another audience."), svid(audience=AUDIENCE))
    for domain in ("example.com", "example.org.evil.com", "evil.example.org", "example.org:443", "EXAMPLE.ORG",
                   "example.org@evil.com", "x@example.org", ""):
        yield refused(f"the trust domain {domain!r}", UNKNOWN_ISSUER,
                      svid(subject=f"spiffe://{domain}/ns/shop/sa/web"))
    yield refused("a SPIFFE ID without a path", UNKNOWN_ISSUER, svid(subject="spiffe://example.org"))
    yield refused("an https URL in place of a SPIFFE ID", UNKNOWN_ISSUER, svid(subject="https://example.org/ns/shop/sa/web"))
    yield refused("SPIFFE in upper case", UNKNOWN_ISSUER, svid(subject=SPIFFE_ID.replace("spiffe", "SPIFFE")))
    yield refused("a SPIFFE ID with an escape", of("mesh", "is valid, but no client has its subject and its claims."),
                  svid(subject=SPIFFE_ID.replace("web", "w%65b")))
    yield refused("a SPIFFE ID with dot segments", of("mesh", "is valid, but no client has its subject and its claims."),
                  svid(subject=SPIFFE_ID.replace("web", "x/../web")))
    yield refused("another workload of the trust domain",
                  of("mesh", "is valid, but no client has its subject and its claims."), svid(subject=SPIFFE_ID + "2"))
    yield refused("a key with use x509-svid", of("mesh", "has a key that is not in the key set."), svid("x509"))
    yield refused("an expired JWT-SVID", of("mesh", "has expired."), svid(exp=1))


TABLE = list(tokens())


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_a_token_has_the_result_of_the_table(world, case):
    token = case.make(world)
    if case.client:
        # The second time, the gateway remembers the token.
        for _ in range(2):
            assert world.gateway.client_of(token, authorization=case.authorization) == case.client
    else:
        for _ in range(2):
            assert world.gateway.cause_of(token, authorization=case.authorization).startswith(case.cause)


def test_the_names_of_the_table_are_unique():
    assert len({case.name for case in TABLE}) == len(TABLE)


def test_every_refusal_has_the_same_answer_and_no_part_of_the_token_in_the_log(world):
    answers = set()
    for case in TABLE:
        if case.cause and case.authorization == "Bearer {}":
            _, body, _ = world.gateway.request(case.make(world))
            body.pop("requestId")
            answers.add(json.dumps(body))
    assert len(answers) == 1
    log = world.gateway.log.read_text(errors="replace")
    assert "passwd" not in log and "attacker.example" not in log and "logout+jwt" not in log and "kkkkkkkkkk" not in log


# Several proofs in one request


def simple_issuer(name, keys, **more):
    return {"name": name, "issuer": f"https://{name}.example.com", "audience": AUDIENCE, "keys": str(keys), **more}


def simple_claims(subject="web", issuer="cluster", **changes):
    return claims(f"https://{issuer}.example.com", AUDIENCE, subject, **changes)


def identity(subject="web", issuer="cluster"):
    return {"issuer": issuer, "subject": subject}


@pytest.fixture
def key(tmp_path):
    """A key whose set is in the file `keys.json`."""
    key = IssuerKey("first")
    (tmp_path / "keys.json").write_text(json.dumps(key_set(key)))
    return key


def test_a_token_and_the_certificate_of_another_client_are_refused_together(tmp_path, key):
    authority = Authority(tmp_path, "authority")
    server = authority.server()
    public = (
        f'address: "127.0.0.1:0", tls: {{certificate: {server.certificate_path}, key: {server.key_path},'
        f" clientCertificates: optional, trustRoots: {authority.certificate.certificate_path}}}"
    )
    shop = {"name": "shop", "identities": [identity()], "certificates": [{"dnsName": "shop.example.com"}]}
    kiosk = {"name": "kiosk", "certificates": [{"dnsName": "kiosk.example.com"}]}
    issuers = [simple_issuer("cluster", tmp_path / "keys.json")]
    contexts = {
        name: client_context([authority], authority.issue(name, dns=[f"{name}.example.com"]))
        for name in ("shop", "kiosk", "nobody")
    }
    with IdentityGateway(BINARY, tmp_path, issuers, [shop, kiosk], public) as gateway:
        valid, wrong = key.token(simple_claims()), key.token(simple_claims("nobody"))
        assert gateway.client_of(valid, tls=contexts["shop"]) == "shop"
        assert gateway.client_of(valid, tls=contexts["nobody"]) == "shop"
        assert gateway.cause_of(valid, tls=contexts["kiosk"]) == two_clients("shop", "kiosk")
        assert gateway.client_of(None, tls=contexts["kiosk"]) == "kiosk"
        # A valid certificate does not make up for a wrong token.
        assert gateway.cause_of(wrong, tls=contexts["kiosk"]) == NO_CLIENT


def test_a_token_and_the_uid_of_another_client_are_refused_together(tmp_path, key):
    shop = {"name": "shop", "identities": [identity()]}
    local = {"name": "local", "uids": [os.geteuid()], "identities": [identity("local")]}
    issuers = [simple_issuer("cluster", tmp_path / "keys.json")]
    public = f'address: "unix:{tmp_path}/gateway.sock"'
    with IdentityGateway(BINARY, tmp_path, issuers, [shop, local], public) as gateway:
        assert gateway.client_of(None) == "local"
        assert gateway.client_of(key.token(simple_claims("local"))) == "local"
        assert gateway.cause_of(key.token(simple_claims())) == two_clients("shop", "local")


def test_two_authorization_headers_prove_nothing(tmp_path, key):
    issuers, shop = [simple_issuer("cluster", tmp_path / "keys.json")], {"name": "shop", "identities": [identity()]}
    with IdentityGateway(BINARY, tmp_path, issuers, [shop]) as gateway:
        with contextlib.closing(gateway.connect()) as connection:
            connection.putrequest("POST", "/v1/apps/com.example.app/promotional-offer")
            for token in (key.token(simple_claims()), key.token(simple_claims("other"))):
                connection.putheader("Authorization", f"Bearer {token}")
            connection.putheader("Content-Length", "2")
            connection.endheaders(b"{}")
            assert connection.getresponse().status == 401


def test_a_token_of_an_administrator_opens_the_admin_listener_and_no_other_does(tmp_path, key):
    issuers = [simple_issuer("cluster", tmp_path / "keys.json")]
    clients = [
        {"name": "ops", "administrator": True, "identities": [identity("ops")]},
        {"name": "shop", "identities": [identity()]},
    ]
    with IdentityGateway(BINARY, tmp_path, issuers, clients) as gateway:
        for subject, status in (("ops", 200), ("web", 403), ("stranger", 401)):
            headers = {"Authorization": f"Bearer {key.token(simple_claims(subject))}"}
            assert gateway.ask("GET", "/v1/status", headers=headers, listener="admin")[0] == status


def test_without_issuers_a_jwt_is_not_a_token(tmp_path, key):
    with IdentityGateway(BINARY, tmp_path, [], [{"name": "shop", "tokens": [{"sha256": digest(mint())}]}]) as gateway:
        assert gateway.cause_of(key.token(simple_claims())) == NOT_OURS


def test_a_remembered_token_takes_at_most_four_times_the_memory_of_its_text(tmp_path, key):
    issuers, shop = [simple_issuer("cluster", tmp_path / "keys.json")], {"name": "shop", "identities": [identity()]}
    with IdentityGateway(BINARY, tmp_path, issuers, [shop]) as gateway:
        # The subject is of no client: a stranger may have many tokens of an issuer that signs for everybody.
        tokens = [key.token(simple_claims(f"stranger {n}", filler=[1] * 900)) for n in range(600)]
        for token in tokens[:100]:
            gateway.ask("POST", "/v1/apps/a/b", {}, {"Authorization": f"Bearer {token}"})
        before = gateway.usage()["memory"]
        for token in tokens[100:]:
            gateway.ask("POST", "/v1/apps/a/b", {}, {"Authorization": f"Bearer {token}"})
        assert gateway.usage()["memory"] - before < 4 * sum(map(len, tokens[100:])) / 1024


# Key sets over HTTPS


class Publication:
    """A server of one key set with its own authority, and a gateway that reads it."""

    def __init__(self, place, stack, step=None, more_of_clients=()):
        self.authority = Authority(place, "issuer-authority")
        self.key = IssuerKey("first")
        self.published = step or Published(self.key)
        self.server = stack.enter_context(KeySetServer({"/keys": self.published}, self.authority.server()))
        self.issuer = simple_issuer(
            "cluster", f"{self.server.url}/keys", trustRoots=str(self.authority.certificate.certificate_path))
        self.clients = [{"name": "shop", "identities": [identity()]}, *more_of_clients]
        self.gateway = IdentityGateway(BINARY, place, [self.issuer], self.clients)

    def token(self, key=None, **changes):
        return (key or self.key).token(simple_claims(**changes))

    def ask_together(self, tokens):
        """The clients of these tokens, in concurrent requests that wait for the keys, which are then published."""
        with concurrent.futures.ThreadPoolExecutor(len(tokens)) as pool:
            answers = [pool.submit(self.gateway.client_of, token) for token in tokens]
            try:
                connected = lambda: self.gateway.metric("privyseal_connections", listener="public") >= len(tokens)
                await_(connected, "every caller is connected")
            finally:
                self.published.open.set()
            return [answer.result(30) for answer in answers]


@pytest.fixture
def publication(place):
    with contextlib.ExitStack() as stack:
        yield Publication(place, stack)


def test_callers_at_the_start_cause_one_read_of_the_keys(publication):
    publication.published.open.clear()
    with publication.gateway as gateway:
        tokens = [publication.token(jti=str(number)) for number in range(32)]
        assert publication.ask_together(tokens) == ["shop"] * 32
        assert publication.server.reads() == 1
        assert gateway.metric("privyseal_issuer_key_reads_total", issuer="cluster", outcome="read") == 1


def test_a_read_of_keys_sends_nothing_about_the_request(publication):
    with publication.gateway as gateway:
        headers = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "a=b"}
        headers["Authorization"] = f"Bearer {publication.token(IssuerKey('new'))}"
        assert gateway.ask("POST", "/v1/apps/a/b", {}, headers)[0] == 401
        assert publication.server.reads() == 2
    for path, headers in publication.server.requests:
        assert path == "/keys"
        assert {name.lower() for name in headers} <= {"host", "accept", "user-agent", "connection"}


def test_all_callers_with_a_new_key_are_answered_after_one_more_read(publication):
    new = IssuerKey("new")
    with publication.gateway as gateway:
        assert gateway.client_of(publication.token()) == "shop"
        publication.published.open.clear()
        publication.published.keys = (new,)
        tokens = [publication.token(new, jti=str(number)) for number in range(16)]
        assert publication.ask_together(tokens) == ["shop"] * 16
        assert publication.server.reads() == 2
        # The set no longer has the first key.
        assert gateway.cause_of(publication.token()) == UNKNOWN_KEY
        assert publication.server.reads() == 2


def test_a_removed_key_ends_the_tokens_that_it_has_verified(publication):
    new = IssuerKey("new")
    with publication.gateway as gateway:
        token = publication.token()
        assert gateway.client_of(token) == "shop"
        publication.published.keys = (new,)
        # The gateway has not read the keys again.
        assert gateway.client_of(token) == "shop"
        assert gateway.client_of(publication.token(new)) == "shop"
        assert gateway.cause_of(token) == UNKNOWN_KEY


def test_a_key_with_the_same_id_and_other_bytes_replaces_the_first_one(publication):
    with publication.gateway as gateway:
        token = publication.token()
        assert gateway.client_of(token) == "shop"
        publication.published.keys = (IssuerKey("first"), IssuerKey("new"))
        assert gateway.client_of(publication.token(publication.published.keys[1])) == "shop"
        assert gateway.cause_of(token) == SIGNATURE


def test_tokens_with_unknown_keys_cause_at_most_one_read_a_minute(publication):
    with publication.gateway as gateway:
        assert gateway.client_of(publication.token()) == "shop"
        begun = time.monotonic()
        tokens = [publication.token(IssuerKey(f"unknown-{number}", private=publication.key.private)) for number in range(60)]
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            assert set(pool.map(gateway.cause_of, tokens)) == {UNKNOWN_KEY}
        assert time.monotonic() - begun < 60
        assert publication.server.reads() == 2
        assert gateway.client_of(publication.token()) == "shop"


def test_callers_with_known_keys_do_not_wait_for_a_read_for_an_unknown_key(publication):
    with publication.gateway as gateway:
        known = publication.token()
        assert gateway.client_of(known) == "shop"
        publication.published.open.clear()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(gateway.cause_of, publication.token(IssuerKey("unknown")))
            await_(lambda: publication.server.reads() == 2, "the gateway reads the keys again")
            assert gateway.client_of(known) == "shop"
            assert gateway.client_of(publication.token(jti="another")) == "shop"
            assert not waiting.done()
            publication.published.open.set()
            assert waiting.result(30) == UNKNOWN_KEY


def test_a_failed_read_for_an_unknown_key_leaves_the_known_keys_in_use(publication):
    with publication.gateway as gateway:
        assert gateway.client_of(publication.token()) == "shop"
        publication.server.steps["/keys"] = status(500)
        assert gateway.cause_of(publication.token(IssuerKey("unknown"))) == UNKNOWN_KEY
        assert publication.server.reads() == 2
        assert gateway.client_of(publication.token(jti="another")) == "shop"
        assert gateway.metric("privyseal_issuer_key_reads_total", outcome="failed") == 1


def test_an_invalid_set_leaves_the_known_keys_in_use(publication):
    with publication.gateway as gateway:
        assert gateway.client_of(publication.token()) == "shop"
        publication.server.steps["/keys"] = reply(200, b'{"keys": [')
        assert gateway.cause_of(publication.token(IssuerKey("unknown"))) == UNKNOWN_KEY
        assert gateway.client_of(publication.token(jti="another")) == "shop"


def test_a_set_without_keys_revokes_the_known_keys(publication):
    with publication.gateway as gateway:
        known = publication.token()
        assert gateway.client_of(known) == "shop"
        publication.published.keys = ()
        for token in (publication.token(IssuerKey("unknown")), known, publication.token(jti="another")):
            assert gateway.cause_of(token).endswith(f"{NO_KEY}.")


def test_a_reload_with_other_settings_of_the_issuer_reads_the_keys_and_a_removed_one_no_longer_counts(publication):
    new = IssuerKey("new")
    with publication.gateway as gateway:
        token = publication.token()
        assert gateway.client_of(token) == "shop"
        publication.published.keys = (new,)
        gateway.configure([publication.issuer | {"refreshInterval": 200}], publication.clients)
        assert gateway.reload()[0]
        assert gateway.cause_of(token) == UNKNOWN_KEY
        assert gateway.client_of(publication.token(new)) == "shop"


def test_a_reload_with_the_same_issuer_reads_no_keys(publication):
    with publication.gateway as gateway:
        assert gateway.client_of(publication.token()) == "shop"
        clients = [*publication.clients, {"name": "other", "identities": [identity("other")]}]
        gateway.configure([publication.issuer], clients)
        for by in ("admin", "signal"):
            assert gateway.reload(by)[0]
        assert gateway.client_of(publication.token(subject="other")) == "other"
        assert publication.server.reads() == 1


def test_a_reload_without_an_identity_refuses_its_tokens(publication):
    with publication.gateway as gateway:
        token = publication.token()
        assert gateway.client_of(token) == "shop"
        gateway.configure([publication.issuer], [{"name": "shop", "identities": [identity("other")]}])
        assert gateway.reload()[0]
        assert gateway.cause_of(token) == NO_CLIENT


def test_a_reload_with_another_audience_refuses_tokens_for_the_first_one(publication):
    with publication.gateway as gateway:
        token = publication.token()
        assert gateway.client_of(token) == "shop"
        gateway.configure([publication.issuer | {"audience": "other"}], publication.clients)
        assert gateway.reload()[0]
        assert gateway.cause_of(token) == AUDIENCE_IS_WRONG


def test_a_reload_with_a_canonically_equivalent_issuer_refuses_tokens_of_the_first_one(publication):
    first, second = f"https://{COMPOSED}.example.com", f"https://{DECOMPOSED}.example.com"
    publication.gateway.configure([publication.issuer | {"issuer": first}], publication.clients)
    with publication.gateway as gateway:
        assert gateway.client_of(publication.token(iss=first)) == "shop"
        assert gateway.cause_of(publication.token(iss=second)) == UNKNOWN_ISSUER
        gateway.configure([publication.issuer | {"issuer": second}], publication.clients)
        assert gateway.reload()[0]
        assert gateway.cause_of(publication.token(iss=first)) == UNKNOWN_ISSUER
        assert gateway.client_of(publication.token(iss=second)) == "shop"


def test_the_gateway_stops_while_it_reads_keys(publication):
    publication.published.open.clear()
    publication.gateway.start()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        headers = {"Authorization": f"Bearer {publication.token()}"}
        pool.submit(publication.gateway.ask, "POST", "/v1/apps/a/b", {}, headers)
        await_(lambda: publication.gateway.metric("privyseal_connections", listener="public") == 1, "it is connected")
        begun = time.monotonic()
        try:
            assert publication.gateway.stop() == 0
        finally:
            publication.published.open.set()
        assert time.monotonic() - begun < 12


# Key sets that cannot be read


def reply(status, body=b"", **headers):
    """Underscores in the names of headers become hyphens."""

    def step(handler):
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return step


def status(code):
    return reply(code, b"{}")


def broken(handler):
    """Closes the connection without an answer."""
    handler.connection.close()


def endless(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    # Until the client closes the connection.
    for _ in range(100_000):
        try:
            handler.wfile.write(b"400\r\n" + b" " * 1024 + b"\r\n")
        except OSError:
            return


def of_another_protocol(handler):
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")


LIMIT = 256 << 10
TOO_LARGE = f"the key set has more than {LIMIT} bytes"
NO_KEY = "the key set has no key for ES256, RS256 or EdDSA"
NOT_A_SET = "the text is not a JWK set ("


def faults():
    """For each path of a server: the step, and the reason. In it, {url} is the URL."""
    return {
        "status-500": (status(500), "{url} answered with the status 500"),
        "status-404": (reply(404, b'{"keys": []}'), "{url} answered with the status 404"),
        "status-201": (status(201), "{url} answered with the status 201"),
        "status-204": (reply(204), "{url} answered with the status 204"),
        "redirection": (reply(302, Location="/keys"), "{url} answered with the status 302"),
        "html": (reply(200, b"<html></html>"), NOT_A_SET + "Byte 0 of the JSON text is '<'; expected a value"),
        "empty-text": (reply(200), NOT_A_SET + "The body is empty; a JSON object is expected"),
        "no-keys": (reply(200, b"{}"), NOT_A_SET + '"keys" is missing; it is required'),
        "keys-twice": (reply(200, b'{"keys": [], "keys": []}'), NOT_A_SET + 'The member "keys" appears twice in one object'),
        "empty-set": (reply(200, b'{"keys": []}'), NO_KEY),
        "other-keys": (reply(200, b'{"keys": [{"kty": "oct", "k": "AAAA"}, 7, {}]}'), NO_KEY),
        "many-keys": (reply(200, json.dumps({"keys": [{}] * 101}).encode()), NOT_A_SET + "it has 101 keys; 100 are allowed"),
        "too-large": (reply(200, b" " * (LIMIT + 1)), TOO_LARGE),
        "endless": (endless, TOO_LARGE),
        "compressed": (
            reply(200, b"\x1f\x8b\x08", Content_Encoding="gzip"), NOT_A_SET + "Byte 1 of the JSON text is not UTF-8"),
        "broken": (broken, "{url} did not answer: Remote connection closed"),
        "other-protocol": (of_another_protocol, "{url} did not answer: "),
    }


UNTRUSTED = ("wrong-authority", "authority-of-the-system", "wrong-name", "expired", "plain-http")
FILES = {
    "missing": "{url} cannot be read: No such file or directory",
    "directory": "{url} is not a regular file",
    "large": TOO_LARGE,
    "fifo": "{url} is not a regular file",
    "device": "{url} is not a regular file",
}


class Faults:
    """A gateway with an issuer for each fault, and one whose keys can be read."""

    def __init__(self, place, stack):
        self.key = IssuerKey("first")
        own, other = Authority(place, "own-authority"), Authority(place, "other-authority")
        steps = {f"/{name}": step for name, (step, _) in faults().items()} | {"/keys": Published(self.key)}
        start = lambda identity: stack.enter_context(KeySetServer(steps, identity))
        self.server, plain = start(own.server()), start(None)
        wrong_name = start(own.issue("wrong-name", SERVER, dns=["other.example.com"]))
        expired = start(own.issue("expired", SERVER, dns=["localhost"], addresses=["127.0.0.1"], expired=True))
        roots = lambda authority: {"trustRoots": str(authority.certificate.certificate_path)}
        self.issuers = [
            simple_issuer("good", f"{self.server.url}/keys", **roots(own)),
            simple_issuer("plain", f"{plain.url}/keys"),
            simple_issuer("by-name", f"{self.server.url.replace('127.0.0.1', 'localhost')}/keys", **roots(own)),
            *(simple_issuer(name, f"{self.server.url}/{name}", **roots(own)) for name in faults()),
            simple_issuer("wrong-authority", f"{self.server.url}/keys", **roots(other)),
            simple_issuer("authority-of-the-system", f"{self.server.url}/keys"),
            simple_issuer("wrong-name", f"{wrong_name.url}/keys", **roots(own)),
            simple_issuer("expired", f"{expired.url}/keys", **roots(own)),
            simple_issuer("plain-http", f"{plain.url.replace('http', 'https')}/keys", **roots(own)),
            simple_issuer("closed", f"https://127.0.0.1:{closed_port()}/keys"),
        ]
        files = place / "sets"
        (files / "directory").mkdir(parents=True)
        (files / "large").write_bytes(b" " * (LIMIT + 1))
        os.mkfifo(files / "fifo")
        paths = {name: files / name for name in FILES} | {"device": "/dev/zero"}
        self.issuers += [simple_issuer(f"file-{name}", path) for name, path in paths.items()]
        self.urls = {issuer["name"]: issuer["keys"] for issuer in self.issuers}
        shop = {"name": "shop", "identities": [identity(issuer=name) for name in self.urls]}
        self.gateway = stack.enter_context(IdentityGateway(BINARY, place, self.issuers, [shop]))

    def cause(self, name):
        return self.gateway.cause_of(self.key.token(simple_claims(issuer=name)))


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        yield Faults(tmp_path_factory.mktemp("faulty"), stack)


def expected_faults():
    yield from ((name, reason) for name, (_, reason) in faults().items())
    yield from ((name, "{url} did not answer: ") for name in UNTRUSTED)
    yield "closed", "{url} did not answer: Connection refused"
    yield from ((f"file-{name}", reason) for name, reason in FILES.items())


FAULTS_OF_KEYS = list(expected_faults())


@pytest.mark.parametrize("name, reason", FAULTS_OF_KEYS, ids=[name for name, _ in FAULTS_OF_KEYS])
def test_the_log_says_why_keys_are_not_available(faulty, name, reason):
    cause = faulty.cause(name)
    start = f"The keys of the issuer {name} are not available: {reason.format(url=faulty.urls[name])}"
    assert cause.startswith(start)
    # The warning says the same.
    warning = "No token of an issuer is accepted" if reason == NO_KEY else "The keys of an issuer were not read"
    assert f"{warning}: {reason.format(url=faulty.urls[name])}" in faulty.gateway.log.read_text()


@pytest.mark.parametrize("name", [name for name, _ in FAULTS_OF_KEYS])
def test_the_reason_ends_with_one_period_and_has_no_path_of_the_build(faulty, name):
    cause = faulty.cause(name)
    assert cause.endswith(".") and not cause.endswith("..")
    assert ".build" not in cause and "Sources/" not in cause


@pytest.mark.parametrize("name", ["wrong-authority", "authority-of-the-system", "expired"])
def test_the_reason_names_a_certificate_that_is_not_trusted(faulty, name):
    assert "certificate" in faulty.cause(name).lower()


@pytest.mark.parametrize("name", ["good", "plain", "by-name"])
def test_keys_that_can_be_read_count_beside_others_that_cannot(faulty, name):
    assert faulty.gateway.client_of(faulty.key.token(simple_claims(issuer=name))) == "shop"


def test_a_redirection_is_not_followed(faulty):
    before = faulty.server.reads()
    assert "302" in faulty.cause("redirection")
    assert faulty.server.reads() == before


def test_check_prints_the_keys_of_each_issuer_or_why_they_cannot_be_read(faulty):
    code, output, _ = faulty.gateway.check()
    assert code == 1
    assert "The issuer good has the key ES256 first.\n" in output
    for name, reason in FAULTS_OF_KEYS:
        place = f"{faulty.gateway.configuration}:"
        [line] = [line for line in output.splitlines() if line.startswith(f"The keys of the issuer {name} ({place}")]
        assert f"could not be read: {reason.format(url=faulty.urls[name])}" in line


def test_check_gives_the_keys_of_each_issuer_as_json(faulty):
    code, output, _ = faulty.gateway.check("--format", "json")
    assert code == 1
    issuers = {issuer.pop("name"): issuer for issuer in json.loads(output)["issuers"]}
    assert list(issuers) == list(faulty.urls)
    assert issuers["good"] == {"keys": ["ES256 first"]}
    for name, reason in FAULTS_OF_KEYS:
        assert issuers[name].keys() == {"reason"}
        assert issuers[name]["reason"].startswith(reason.format(url=faulty.urls[name]))


def test_check_is_content_with_readable_keys_and_prints_them_as_plain_text(tmp_path):
    keys = IssuerKey("\x1b[31mred\nline"), IssuerKey(None, "EdDSA"), IssuerKey("rsa", "RS256"), IssuerKey("p384", "ES384")
    (tmp_path / "keys.json").write_text(json.dumps(key_set(*keys)))
    issuers, shop = [simple_issuer("cluster", tmp_path / "keys.json")], {"name": "shop", "identities": [identity()]}
    code, output, _ = checked(tmp_path, issuers, [shop])
    assert code == 0
    assert output.endswith("\nThe issuer cluster has the keys ES256 \\u{1b}[31mred\\u{a}line, EdDSA, RS256 rsa.\n")
    code, output, _ = checked(tmp_path, issuers, [shop], "--format", "json")
    assert (code, json.loads(output)["issuers"]) == (
        0, [{"name": "cluster", "keys": ["ES256 \x1b[31mred\nline", "EdDSA", "RS256 rsa"]}])


def test_a_key_set_that_appears_later_counts_without_a_reload(tmp_path):
    key, path = IssuerKey("first"), tmp_path / "keys.json"
    shop = {"name": "shop", "identities": [identity()]}
    with IdentityGateway(BINARY, tmp_path, [simple_issuer("cluster", path)], [shop]) as gateway:
        reason = f"The keys of the issuer cluster are not available: {path} cannot be read: No such file or directory."
        assert gateway.cause_of(key.token(simple_claims())) == reason
        write_secret(path, json.dumps(key_set(key)).encode())
        # After a failed read, the gateway waits for five seconds.
        await_(lambda: gateway.request(key.token(simple_claims()))[0] == 200, "the key set is read")


# Slow servers


def slow_body(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    trickle(handler, b" " * 1000)


def slow_header(handler):
    trickle(handler, b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 1000)


def endless_continue(handler):
    trickle(handler, b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def silent(handler):
    handler.connection.recv(1)


def trickle(handler, data):
    """Sends a byte each 0.2 s, until the client closes the connection."""
    for position in range(len(data)):
        try:
            handler.connection.sendall(data[position : position + 1])
        except OSError:
            return
        time.sleep(0.2)


SLOW = {"body": slow_body, "header": slow_header, "continue": endless_continue, "silent": silent}


@pytest.fixture(scope="module")
def slowly(tmp_path_factory):
    """For each slow server: the seconds from the start of the gateway to the first and the second answer, the cause, and
    the number of reads. All servers are asked at the same time."""
    place = tmp_path_factory.mktemp("slow")
    key, own = IssuerKey("first"), Authority(place, "authority")
    with contextlib.ExitStack() as stack:
        steps = {f"/{name}": step for name, step in SLOW.items()}
        servers = {kind: stack.enter_context(KeySetServer(steps, certificate)) for kind, certificate in (
            ("http", None), ("https", own.server()))}
        silent_server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        urls = {f"{kind}-{name}": f"{server.url}/{name}" for kind, server in servers.items() for name in SLOW}
        urls["no-handshake"] = f"https://127.0.0.1:{silent_server.getsockname()[1]}/keys"
        roots = {"trustRoots": str(own.certificate.certificate_path)}
        issuers = [simple_issuer(name, url, **(roots if "https" in url else {})) for name, url in urls.items()]
        shop = {"name": "shop", "identities": [identity(issuer=name) for name in urls]}
        begun = time.monotonic()
        gateway = stack.enter_context(IdentityGateway(BINARY, place, issuers, [shop]))
        started = time.monotonic() - begun

        def ask(name):
            status, _, cause = gateway.request(key.token(simple_claims(issuer=name)))
            first = time.monotonic()
            again = gateway.request(key.token(simple_claims(issuer=name)))
            second = time.monotonic()
            kind, _, path = name.partition("-")
            reads = servers[kind].reads(f"/{path}") if kind in servers else None
            return status, first - begun - started, cause, again[0], second - first, reads

        with concurrent.futures.ThreadPoolExecutor(len(urls)) as pool:
            yield dict(zip(urls, pool.map(ask, urls)))


@pytest.mark.parametrize("name", [*(f"{kind}-{name}" for kind in ("http", "https") for name in SLOW), "no-handshake"])
def test_a_read_of_keys_takes_at_most_5_seconds(slowly, name):
    status, duration, cause, *_ = slowly[name]
    assert status == 401, "the request had its own limit"
    assert cause.startswith(f"The keys of the issuer {name} are not available: http")
    assert duration < 6.5


@pytest.mark.parametrize("name", [*(f"http-{name}" for name in SLOW), "no-handshake"])
def test_after_a_read_that_took_too_long_the_next_caller_is_refused_at_once(slowly, name):
    _, _, _, status, duration, reads = slowly[name]
    assert status == 401
    assert duration < 2
    assert reads in (1, None)


# Configurations


def checked(place, issuers, clients, *arguments):
    """`privyseal check`: (status, output, errors)."""
    return IdentityGateway(BINARY, place, issuers, clients).check(*arguments)


def changed(changes=None, without=()):
    """The issuer of the configurations, with changes."""

    def make(place):
        issuer = simple_issuer("cluster", place / "keys.json") | (changes or {})
        return {name: value for name, value in issuer.items() if name not in without}

    return make


def without_tls(host):
    return changed({"keys": f"http://{host}/keys"}), "issuers[0].keys: goes to another machine without TLS"


FAULTS = {
    "issuer and trustDomain": (changed({"trustDomain": "example.org"}), "issuers[0]: has both issuer and trustDomain"),
    "neither issuer nor trustDomain": (changed(without=["issuer"]), "issuers[0]: has neither issuer nor trustDomain"),
    "no audience": (changed(without=["audience"]), "issuers[0].audience: is missing; give what callers ask"),
    "no keys": (changed(without=["keys"]), "issuers[0].keys: is missing; give the issuer's JWK set"),
    "a relative path": (changed({"keys": "keys.json"}), "issuers[0].keys: must be the absolute path of a file"),
    "HTTP to another machine": without_tls("issuer.example.com"),
    "HTTP to an address of another machine": without_tls("192.0.2.1"),
    "HTTP to a name that begins with a loopback address": without_tls("127.0.0.1.example.com"),
    "HTTP to a name that begins with localhost": without_tls("localhost.example.com"),
    "HTTP to the port of HTTPS": without_tls("issuer.example.com:443"),
    "HTTP to every address": without_tls("0.0.0.0"),
    "a password in the URL": (changed({"keys": "https://a:secret@issuer.example.com/keys"}), "holds a user, a password"),
    "a loopback address as the user of a URL": (changed({"keys": "http://127.0.0.1:80@example.com/keys"}), "holds a user"),
    "a URL without a path": (changed({"keys": "https://issuer.example.com"}), "issuers[0].keys: has no path"),
    "trustRoots for a file": (
        changed({"trustRoots": "/ca.pem"}), "issuers[0].trustRoots: has no effect, because keys is a file"),
    "maxAge is refreshInterval": (
        changed({"maxAge": 300}), "makes maxAge (300 s) not greater than refreshInterval (300 s)"),
    "maxAge is less than refreshInterval": (changed({"maxAge": 60}), "makes maxAge (60 s) not greater than"),
    "maxAge is too short": (changed({"refreshInterval": 10, "maxAge": 59}), "must be from 60 to 604800 seconds"),
    "refreshInterval is too short": (changed({"refreshInterval": 9}), "must be from 10 to 86400 seconds"),
    "a trust domain with its scheme": (
        changed({"trustDomain": "spiffe://example.org"}, without=["issuer"]),
        "issuers[0].trustDomain: must be a trust domain"),
    "a trust domain in upper case": (
        changed({"trustDomain": "Example.org"}, without=["issuer"]), "issuers[0].trustDomain: must be a trust domain"),
    "a misspelt key": (changed({"audiance": "a"}), "is not a known key; did you mean audience?"),
}


@pytest.fixture
def shop():
    return {"name": "shop", "identities": [identity()]}


@pytest.mark.parametrize("name", FAULTS)
def test_a_configuration_with_this_fault_of_an_issuer_is_refused(tmp_path, key, shop, name):
    make, message = FAULTS[name]
    code, output, errors = checked(tmp_path, [make(tmp_path)], [shop])
    assert (code, output) == (REFUSED_CONFIGURATION, "")
    assert message in errors and "secret" not in errors


FAULTS_OF_CLIENTS = {
    "an issuer that does not exist": (
        [[identity(issuer="clutser")]],
        'identities[0].issuer: is "clutser", which is not the name of an issuer; did you mean cluster?'),
    "an identity twice in a client": ([[identity(), identity()]], "already given at"),
    "an identity in two clients": ([[identity()], [identity()]], "clients[1].identities[0]: gives the identity"),
    "an identity twice, with claims in another order": (
        [[identity() | {"claims": {"a": "1", "b": "2"}}, identity() | {"claims": {"b": "2", "a": "1"}}]], "already given at"),
    "no subject": ([[{"issuer": "cluster"}]], "identities[0].subject: is missing"),
    "an empty subject": ([[identity("")]], "identities[0].subject: is empty"),
    "no claims": ([[identity() | {"claims": {}}]], "claims: has 0 claims; give 1 to 20"),
    "claims in a list": ([[identity() | {"claims": ["ref"]}]], "claims: must be a mapping, but is a list"),
    "a claim without a value": ([[identity() | {"claims": {"ref": None}}]], "claims.ref: has no value"),
    "a claim that is a mapping": ([[identity() | {"claims": {"ref": {"a": "b"}}}]], "claims.ref: must be text"),
}


@pytest.mark.parametrize("name", FAULTS_OF_CLIENTS)
def test_a_configuration_with_this_fault_of_an_identity_is_refused(tmp_path, key, name):
    clients, message = FAULTS_OF_CLIENTS[name]
    clients = [{"name": f"client-{number}", "identities": identities} for number, identities in enumerate(clients)]
    code, _, errors = checked(tmp_path, [changed()(tmp_path)], clients)
    assert code == REFUSED_CONFIGURATION
    assert message in errors


@pytest.mark.parametrize("subject", ["*", "**"])
def test_a_subject_that_matches_everything_gives_a_warning(tmp_path, key, subject):
    code, _, errors = checked(tmp_path, [changed()(tmp_path)], [{"name": "shop", "identities": [identity(subject)]}])
    assert code == 0
    assert "clients[0].identities[0].subject: matches every subject of the issuer" in errors


def test_an_issuer_without_an_identity_gives_a_warning(tmp_path, key, shop):
    issuers = [changed()(tmp_path), simple_issuer("other", tmp_path / "keys.json")]
    code, _, errors = checked(tmp_path, issuers, [shop])
    assert code == 0
    assert "issuers[1]: has no effect, because no client has an identity of this issuer" in errors
    assert errors.count("warning") == 1


def test_an_issuer_may_have_its_name_as_its_claim(tmp_path, key, shop):
    code, _, errors = checked(tmp_path, [changed({"issuer": "cluster"})(tmp_path)], [shop])
    assert (code, errors) == (0, "")


def test_a_second_issuer_with_the_same_claim_is_refused(tmp_path, key, shop):
    issuers = [changed()(tmp_path), changed({"name": "second"})(tmp_path)]
    code, _, errors = checked(tmp_path, issuers, [shop])
    assert code == REFUSED_CONFIGURATION
    assert "issuers[1].issuer: gives the claim iss" in errors


# SPIFFE X.509-SVIDs


class TrustDomain:
    """A gateway that requires X.509-SVIDs of a trust domain, whose CA changes."""

    def __init__(self, place):
        self.place = place
        self.server_authority = Authority(place, "server-authority")
        self.old, self.new = Authority(place, "old-ca"), Authority(place, "new-ca")
        server = self.server_authority.server()
        self.bundle = place / "bundle.pem"
        self.trust(self.old)
        public = (
            f'address: "127.0.0.1:0", tls: {{certificate: {server.certificate_path}, key: {server.key_path},'
            f" clientCertificates: required, trustRoots: {self.bundle}}}"
        )
        shop = {"name": "mesh-shop", "certificates": [{"uri": SPIFFE_ID}]}
        (place / "keys.json").write_text(json.dumps(key_set(IssuerKey("first"))))
        issuers = [simple_issuer("cluster", place / "keys.json")]
        self.gateway = IdentityGateway(BINARY, place, issuers, [shop, {"name": "shop", "identities": [identity()]}], public)

    def trust(self, *authorities):
        write_secret(self.bundle, b"".join(authority.certificate.certificate_pem for authority in authorities))

    def svid(self, name, authority=None, spiffe_id=SPIFFE_ID, **how):
        return client_context([self.server_authority], (authority or self.old).issue(name, uris=[spiffe_id], **how))

    def is_refused(self, context):
        """Whether a connection with this certificate gets no answer."""
        try:
            self.gateway.ask("GET", "/livez", tls=context)
            return False
        except (ssl.SSLError, ConnectionError):
            return True


@pytest.fixture
def domain(place):
    return TrustDomain(place)


def test_a_workload_with_a_new_certificate_is_the_same_client_and_the_first_one_ends(domain):
    with domain.gateway as gateway:
        short = domain.old.issue("first", uris=[SPIFFE_ID], seconds=5)
        first = client_context([domain.server_authority], short)
        with contextlib.closing(gateway.connect(tls=first)) as kept:
            body = {"productId": "com.example.monthly", "offerIdentifier": "winback"}
            ask = lambda: exchange(kept, "POST", "/v1/apps/com.example.app/promotional-offer", body)[0]
            assert ask() == 200
            assert gateway.client_of(None, tls=domain.svid("second")) == "mesh-shop"
            end = short.certificate.not_valid_after_utc.timestamp()
            time.sleep(max(0, end + 1.1 - time.time()))
            assert ask() == 401
            await_(lambda: "outside its period of validity" in gateway.log.read_text(), "the log says why")
        assert domain.is_refused(first)
        assert gateway.client_of(None, tls=domain.svid("third")) == "mesh-shop"


def test_an_expired_certificate_of_a_workload_is_refused(domain):
    with domain.gateway:
        assert domain.is_refused(domain.svid("expired", expired=True))
        assert not domain.is_refused(domain.svid("valid"))


@pytest.mark.parametrize("spiffe_id", [
    SPIFFE_ID + "2", SPIFFE_ID[:-1], SPIFFE_ID + "/", SPIFFE_ID.replace("web", "WEB"), SPIFFE_ID.replace("web", "w%65b"),
    SPIFFE_ID.replace("spiffe:", "SPIFFE:"), SPIFFE_ID.replace("example.org", "example.org.evil.com"),
    SPIFFE_ID.replace("web", "x/../web"), "spiffe://example.org",
])
def test_a_workload_with_another_spiffe_id_is_not_authenticated(domain, spiffe_id):
    with domain.gateway as gateway:
        nobody = "The request has no token, and no certificate or uid of a client."
        assert gateway.cause_of(None, tls=domain.svid("other", spiffe_id=spiffe_id)) == nobody


def test_the_authority_of_a_trust_domain_is_replaced_without_a_restart(domain):
    with domain.gateway as gateway:
        old, new = domain.svid("old"), domain.svid("new", domain.new)
        assert gateway.client_of(None, tls=old) == "mesh-shop"
        assert domain.is_refused(new)
        domain.trust(domain.old, domain.new)
        await_(lambda: not domain.is_refused(new), "the gateway trusts the new authority")
        assert gateway.client_of(None, tls=new) == "mesh-shop"
        assert gateway.client_of(None, tls=old) == "mesh-shop"
        domain.trust(domain.new)
        await_(lambda: domain.is_refused(old), "the gateway no longer trusts the old authority")
        assert gateway.client_of(None, tls=new) == "mesh-shop"


# The audit log


def test_a_refused_request_for_a_service_token_is_in_the_audit_log(tmp_path):
    keys = KeysInFiles(tmp_path)
    service, _ = own_key(tmp_path, "push", "KEYID00001")
    services = [{"name": "push", "profile": "apns", "teamId": TEAM, **service}]
    with TokenGateway(BINARY, tmp_path, services, keys=keys) as gateway:
        status, answer = gateway.ask_for("push", {"lifetime": 7}, **{"X-Request-Id": "refused-1"})
        assert (status, answer["type"]) == (422, "urn:privyseal:problem:invalid-request")
        [entry] = gateway.entries("refusal")
        del entry["time"], entry["v"]
        assert entry == {
            "kind": "refusal", "app": "services/push", "feature": "apns", "client": "all", "key": "KEYID00001",
            "reason": "invalid-request", "status": 422, "requestId": "refused-1",
        }  # fmt: skip
        # An unknown caller is only counted.
        assert gateway.ask_for("push", {}, client=None)[0] == 401
        assert len(gateway.entries("refusal")) == 1
        assert gateway.ask_for("push")[0] == 200
