"""A gateway that makes tokens for Apple's services, and the tokens that Apple documents; without pytest."""

import base64
import dataclasses
import json
import subprocess
import time

from auditing import AuditCopy
from key_lifecycle import KeyService
from service import digest, mint, write_key

TEAM, ISSUER = "ABCDE12345", "57246542-96fe-1a63-e053-0824d011072a"
ADS, ADS_TEAM, BUSINESS, SCHOOL = "SEARCHADS.1a2b", "SEARCHADS.3c4d", "BUSINESSAPI.1a2b", "SCHOOLAPI.1a2b"
ALL = {"services": ["*"], "scopes": ["*"], "origins": ["*"], "subjects": ["*"]}


class TokenGateway(KeyService):
    """A gateway without apps. `services`: the section of the configuration; `rules`: one rule for each client."""

    administrators = ()

    def __init__(self, binary, directory, services, rules=None, more_of_configuration="", keys=None):
        self.services, self.rules, self.more = services, rules or {"all": ALL}, more_of_configuration
        self.client_tokens = {name: mint() for name in self.rules}
        super().__init__(binary, directory, keys)
        # The gateway warns of variables that it does not know.
        self.environment.pop("PRIVYSEAL_BINARY", None)

    def configure(self, *_):
        clients = [
            {"name": name, "tokens": [{"sha256": digest(self.client_tokens[name])}], "allow": [rule]}
            for name, rule in self.rules.items()
        ]
        self.configuration.write_text(f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
  admin: {{address: "unix:{self.directory}/admin.sock"}}
  metrics: {{address: "127.0.0.1:0"}}
drainDelay: 0
audit: {{database: {self.database}}}
services: {json.dumps(self.services)}
clients: {json.dumps(clients)}
{self.more}
""")

    def ask_for(self, service, body=None, client="all", **headers):
        """(status, answer)."""
        if client:
            headers["Authorization"] = f"Bearer {self.client_tokens[client]}"
        body = {} if body is None else body
        status, _, answer = self.ask("POST", f"/v1/services/{service}/token", body, headers)
        return status, json.loads(answer)

    def entries(self, kind):
        return AuditCopy(self.database).of_kind(kind)


def own_key(directory, name, key_id):
    """Writes a key, and returns the settings of a service that has it."""
    path = directory / f"{name}.p8"
    key = write_key(path).public_key()
    return {"keys": [{"keyId": key_id, "uri": f"file:{path}"}], "activeKey": key_id}, key


def key_id(number, profile):
    """An ID as Apple gives it: 10 characters, or a UUID."""
    if profile in ("apple-ads", "apple-business", "apple-school"):
        return f"57246542-96fe-1a63-e053-{number:012d}"
    return f"KEYID{number:05d}"


# The tokens

TYPED = {"typ": "JWT"}
UNTIL_EXPIRY = "until a minute before the expiry"


@dataclasses.dataclass(frozen=True)
class Documented:
    """A service, and the token that it gives for `body`: the header without `alg` and `kid`, and the claims without
    times and `jti`."""

    profile: str
    settings: dict
    header: dict
    claims: dict
    # Seconds from `iat` to `exp`; None without `exp`. For Apple's clocks, `iat` is 60 seconds before the request.
    span: int | None
    # Seconds for which all callers get the same token.
    kept: int | str = 0
    body: dict = dataclasses.field(default_factory=dict)
    has_jti: bool = False


def documented():
    """By the name of the service. The first service of a family has the keys."""
    team = {"teamId": TEAM}
    issuer = {"issuerId": ISSUER}
    connect = "appstoreconnect-v1"
    scopes = ["GET /v1/apps?limit=10", "POST /notary/v2/submissions"]
    long_lived = ["GET /v1/ciProducts", "GET /v1/apps/1/perfPowerMetrics"]
    origins = ["https://www.example.com", "https://example.org:8443"]

    def maps(profile, scope):
        body, claims = {"origins": origins[:1]}, {"iss": TEAM, "scope": scope, "origin": origins[0]}
        return Documented(profile, team | {"keysOf": "maps-server"}, TYPED, claims, 1860, UNTIL_EXPIRY, body)

    def connect_with(body, claims, span, settings=None):
        settings = issuer | {"keysOf": "app-store-connect-team"} | (settings or {})
        return Documented(
            "app-store-connect-team", settings, TYPED, {"iss": ISSUER, "aud": connect} | claims, span, UNTIL_EXPIRY,
            body)

    def media(profile, **settings):
        return Documented(profile, team | settings, {}, {"iss": TEAM}, 3660, UNTIL_EXPIRY)

    def oauth(profile, client):
        claims = {"iss": client, "sub": client, "aud": "https://account.apple.com/auth/oauth2/v2/token"}
        return Documented(profile, {"clientId": client}, {}, claims, 660, has_jti=True)

    return {
        "app-store-connect-team": Documented(
            "app-store-connect-team", issuer, TYPED, {"iss": ISSUER, "aud": connect}, 960, UNTIL_EXPIRY),
        "app-store-connect-individual": Documented(
            "app-store-connect-individual", {}, TYPED, {"sub": "user", "aud": connect}, 960, UNTIL_EXPIRY),
        "enterprise-program": Documented(
            "enterprise-program", issuer, TYPED, {"iss": ISSUER, "aud": "apple-developer-enterprise-v1"}, 960,
            UNTIL_EXPIRY),
        "apns": Documented("apns", team, {}, {"iss": TEAM}, None, 3000),
        "devicecheck": Documented("devicecheck", team, {}, {"iss": TEAM}, None, 1200),
        "app-attest-receipt": Documented(
            "app-attest-receipt", team | {"keysOf": "devicecheck"}, {}, {"iss": TEAM}, None, 1200),
        "sign-in-with-apple": Documented(
            "sign-in-with-apple", team, {},
            {"iss": TEAM, "aud": "https://appleid.apple.com", "sub": "com.example.web"}, 360,
            body={"subject": "com.example.web"}),
        "weatherkit": Documented(
            "weatherkit", team | {"serviceId": "com.example.weather"}, {"id": f"{TEAM}.com.example.weather"},
            {"iss": TEAM, "sub": "com.example.weather"}, 1860, UNTIL_EXPIRY),
        "apple-music": media("apple-music"),
        "apple-music-feed": media("apple-music-feed", keysOf="apple-music"),
        "apps-and-books": media("apps-and-books", keysOf="apple-music"),
        "apple-tv-feed": media("apple-tv-feed"),
        "maps-server": Documented(
            "maps-server", team, TYPED, {"iss": TEAM, "scope": "server_api"}, 660, UNTIL_EXPIRY),
        "mapkit-js": maps("mapkit-js", "mapkit_js"),
        "maps-web-snapshots": maps("maps-web-snapshots", "web_snapshots"),
        "maps-embed": maps("maps-embed", "embed_api"),
        "apple-ads": Documented(
            "apple-ads", {"teamId": ADS_TEAM, "clientId": ADS}, {},
            {"iss": ADS_TEAM, "sub": ADS, "aud": "https://appleid.apple.com"}, 660),
        "apple-business": oauth("apple-business", BUSINESS),
        "apple-school": oauth("apple-school", SCHOOL),
        # Choices of the request and of the configuration.
        "connect-scopes": connect_with({"scopes": scopes}, {"scope": scopes}, 960),
        "connect-set-scopes": connect_with({}, {"scope": scopes[:1]}, 960, {"scopes": scopes[:1]}),
        "connect-short": connect_with({"lifetime": 300}, {}, 360),
        "individual-scopes": Documented(
            "app-store-connect-individual", {"keysOf": "app-store-connect-individual"}, TYPED,
            {"sub": "user", "aud": connect, "scope": scopes}, 960, UNTIL_EXPIRY, {"scopes": scopes}),
        "music-origins": Documented(
            "apple-music", team | {"keysOf": "apple-music"}, {}, {"iss": TEAM, "origin": origins}, 3660, UNTIL_EXPIRY,
            {"origins": origins}),
        "maps-server-origins": Documented(
            "maps-server", team | {"keysOf": "maps-server"}, TYPED,
            {"iss": TEAM, "scope": "server_api", "origin": origins}, 660, UNTIL_EXPIRY, {"origins": origins}),
        "mapkit-js-origins": Documented(
            "mapkit-js", team | {"keysOf": "maps-server", "origins": ["https://unused.example"]}, TYPED,
            {"iss": TEAM, "scope": "mapkit_js", "origin": ",".join([*origins, "*.example.com"])}, 1860, UNTIL_EXPIRY,
            {"origins": [*origins, "*.example.com"]}),
        "mapkit-js-set-origins": Documented(
            "mapkit-js", team | {"keysOf": "maps-server", "origins": origins[1:]}, TYPED,
            {"iss": TEAM, "scope": "mapkit_js", "origin": origins[1]}, 1860, UNTIL_EXPIRY),
        # Apple's limits. They count from `iat`.
        "connect-longest": connect_with({}, {}, 1200, {"lifetime": 15_777_000}),
        "connect-scopes-longest": connect_with({"scopes": scopes}, {"scope": scopes}, 1200, {"lifetime": 15_777_000}),
        "connect-mixed-longest": connect_with(
            {"scopes": [long_lived[0], scopes[0]]}, {"scope": [long_lived[0], scopes[0]]}, 1200,
            {"lifetime": 15_777_000}),
        "connect-long-lived": connect_with(
            {"scopes": long_lived}, {"scope": long_lived}, 15_777_000, {"lifetime": 15_777_000}),
        "sign-in-longest": Documented(
            "sign-in-with-apple",
            team | {"keysOf": "sign-in-with-apple", "subject": "com.example.set", "lifetime": 15_777_000}, {},
            {"iss": TEAM, "aud": "https://appleid.apple.com", "sub": "com.example.set"}, 15_777_000),
        # Less than 180 days.
        "ads-longest": Documented(
            "apple-ads", {"teamId": ADS_TEAM, "clientId": ADS, "keysOf": "apple-ads", "lifetime": 15_551_999}, {},
            {"iss": ADS_TEAM, "sub": ADS, "aud": "https://appleid.apple.com"}, 180 * 24 * 3600 - 1),
    }


DOCUMENTED = documented()
SNAPSHOTS = {"name": "maps-snapshot-url", "profile": "maps-snapshot-url", "teamId": TEAM, "keysOf": "maps-server"}


def all_services(directory):
    """The section `services` for every token of the table; the public key and the key ID of each service."""
    services, public = [SNAPSHOTS], {}
    for number, (name, row) in enumerate(DOCUMENTED.items()):
        keys = {}
        if "keysOf" not in row.settings:
            keys, public[name] = own_key(directory, name, key_id(number, row.profile))
        services.append({"name": name, "profile": row.profile, **row.settings, **keys})
    for service in services:
        public[service["name"]] = public[service.get("keysOf", service["name"])]
    ids = {service["name"]: service["activeKey"] for service in services if "activeKey" in service}
    return services, public, {service["name"]: ids[service.get("keysOf", service["name"])] for service in services}


@dataclasses.dataclass(frozen=True)
class Issued:
    """An answer, with the time in seconds before and after the request."""

    before: int
    answer: dict
    after: int


def issue(gateway, service, body):
    before = int(time.time())
    status, answer = gateway.ask_for(service, body)
    assert status == 200, f"{service}: {answer}"
    return Issued(before, answer, int(time.time()))


# Reading


def decode(part):
    return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)


def read_object(part):
    """An object of a JWT, without members that stand twice and without fractions."""

    def unique(members):
        assert len(dict(members)) == len(members), members
        return dict(members)

    def refuse(number):
        raise AssertionError(f"{number} is no whole number")

    return json.loads(decode(part), object_pairs_hook=unique, parse_float=refuse)


NODE = """
const { createPublicKey, verify } = require("node:crypto");
const checks = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(checks.map(({ text, signature, key }) =>
  verify("sha256", Buffer.from(text), { key: createPublicKey(key), dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url")))));
"""


def verified_by_node(checks):
    """Whether each signature is valid: [(text, signature in Base64url, key in PEM)]."""
    members = [dict(zip(("text", "signature", "key"), check)) for check in checks]
    ended = subprocess.run(
        ["/usr/bin/node", "-e", NODE], input=json.dumps(members), capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)
