"""Tokens for Apple's services and callers with workload identities, against offers of the same gateway."""

import base64
import hashlib
import json
import statistics
import subprocess
import time

OFFER = "/v1/apps/com.example.app/promotional-offer"
ISSUER, AUDIENCE, SUBJECT = "https://issuer.example.com", "https://privyseal.example.com", "system:serviceaccount:shop:web"


class Services:
    def __init__(self, bench, tools):
        self.bench, self.tools = bench, tools
        self.port = tools.free_port()

    def measure(self):
        self.tools.say("Tokens for services, and callers with identities …")
        # Name, path, body, what the caller sends, the name of the comparison, and the least ratio.
        token, jwt = self.bench.client_token, self.identity()
        offer, server = "JWS offer", "App Store Server API token"
        rows = [
            (offer, OFFER, self.tools.BODIES["promotional-offer"], token, None, None),
            (server, "/v1/apps/com.example.app/app-store-server-api", {}, token, offer, 0.95),
            ("Sign in with Apple token", "/v1/services/login/token", {}, token, offer, 0.95),
            ("APNs token, kept", "/v1/services/push/token", {}, token, server, 2.0),
            ("JWS offer for a caller with an identity", OFFER, self.tools.BODIES["promotional-offer"], jwt, offer, 0.85),
        ]
        rates = {name: [] for name, *_ in rows}
        base = f"http://127.0.0.1:{self.port}"
        with self.bench.serving(self.configuration(), base):
            for number in range(self.bench.rounds):
                for name, path, body, credential, _, _ in rows:
                    rate = self.bench.rate(base + path, body, credential)
                    if number > 0 or self.bench.rounds < 4:
                        rates[name].append(rate)
        figures = []
        for name, _, _, _, other, bar in rows:
            title = f"HTTP, file key, {name}" + (f", against {other}" if other else "")
            if other:
                figures.append(self.tools.race(title, rates[name], rates[other], bar))
            else:
                figures.append(self.tools.figure(title, statistics.median(rates[name]), "signatures/s"))
        return figures

    def configuration(self):
        path = self.bench.place / "services.yaml"
        digest = hashlib.sha256(self.bench.client_token.encode()).hexdigest()
        path.write_text(
            f"""
listeners:
  public: {{address: "127.0.0.1:{self.port}"}}
  metrics: {{address: "127.0.0.1:{self.tools.free_port()}"}}
verification: off
drainDelay: 0
audit: off
backends: {{file: {{allowSharedFiles: true}}}}
issuers:
  - {{name: cluster, issuer: "{ISSUER}", audience: "{AUDIENCE}", keys: {self.bench.place}/issuer.jwks.json}}
clients:
  - name: bench
    tokens: [{{sha256: "{digest}"}}]
    identities: [{{issuer: cluster, subject: "{SUBJECT}"}}]
    allow:
      - {{apps: [com.example.app], features: ["*", app-store-server-api], products: ["com.example.*"], offers: ["*"]}}
      - {{services: ["*"]}}
    rate: {{perSecond: 1000000, burst: 1000000}}
    dailyQuota: 1000000000
accounts:
  - issuerId: 57246542-96fe-1a63-e053-0824d011072a
    apps: [{{bundleId: com.example.app, features: [promotional-offer, app-store-server-api]}}]
    keys: [{{keyId: 2X9R4HXF34, uri: "{self.bench.file_uri}"}}]
    activeKey: 2X9R4HXF34
services:
  - name: push
    profile: apns
    teamId: ABCDE12345
    keys: [{{keyId: PUSHKEY001, uri: "{self.bench.file_uri}"}}]
    activeKey: PUSHKEY001
  - name: login
    profile: sign-in-with-apple
    teamId: ABCDE12345
    subject: com.example.web
    keys: [{{keyId: LOGINKEY01, uri: "{self.bench.file_uri}"}}]
    activeKey: LOGINKEY01
"""
        )
        return path

    def identity(self):
        """A JWT of an issuer, and the issuer's key set in a file."""
        key = self.bench.place / "issuer.pem"
        self.openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key)
        modulus = bytes.fromhex(self.openssl("rsa", "-in", key, "-noout", "-modulus").decode().strip().partition("=")[2])
        jwk = {"kty": "RSA", "kid": "bench", "alg": "RS256", "n": encode(modulus), "e": "AQAB"}
        (self.bench.place / "issuer.jwks.json").write_text(json.dumps({"keys": [jwk]}))
        claims = {"iss": ISSUER, "sub": SUBJECT, "aud": AUDIENCE, "exp": int(time.time()) + 3600}
        parts = [encode(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": "bench", "typ": "JWT"}, claims)]
        signature = self.openssl("dgst", "-sha256", "-sign", key, text=".".join(parts).encode())
        return ".".join([*parts, encode(signature)])

    @staticmethod
    def openssl(*arguments, text=b""):
        ended = subprocess.run(["openssl", *map(str, arguments)], input=text, capture_output=True, check=True)
        return ended.stdout


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
