"""A gateway whose keys are at given URIs, and the command line for it; without pytest."""

import json
import os
import subprocess

import jwt
from conftest import BINARY, BUNDLE_ID, ISSUER_ID
from service import Service, digest, mint


def configuration(uris, token, directory=None, settings=""):
    """`uris`: by key ID, the active key first. Without `directory`, there is no audit log and no admin listener."""
    keys = "\n".join(f'      - {{keyId: {key_id}, uri: "{uri}"}}' for key_id, uri in uris.items())
    audit = f"{{database: {directory}/audit.db}}" if directory else "off"
    admin = f'  admin: {{address: "unix:{directory}/admin.sock"}}\n' if directory else ""
    return f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
{admin}drainDelay: 0
{settings}
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: {BUNDLE_ID}, features: [promotional-offer]}}]
    keys:
{keys}
    activeKey: {next(iter(uris))}
clients:
  - name: shop
    tokens: [{{sha256: "{digest(token)}"}}]
    allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"], keyIds: ["*"]}}]
audit: {audit}
"""


class SigningGateway(Service):
    has_audit = False

    def __init__(self, directory, uris, environment, settings=""):
        self.token = mint()
        text = configuration(uris, self.token, directory if self.has_audit else None, settings)
        super().__init__(BINARY, directory, text, environment)

    def sign(self):
        headers = {"Authorization": f"Bearer {self.token}"}
        body = {"productId": "com.example.monthly", "offerIdentifier": "winback"}
        status, _, answer = self.ask("POST", f"/v1/apps/{BUNDLE_ID}/promotional-offer", body, headers)
        return status, json.loads(answer)

    def expect_signature(self, public_key):
        status, answer = self.sign()
        assert status == 200, answer
        claims = jwt.decode(answer["jws"], public_key, algorithms=["ES256"], audience="promotional-offer")
        assert claims["productId"] == "com.example.monthly"


def run(environment, *arguments):
    return subprocess.run(
        [BINARY, *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **environment},
        stdin=subprocess.DEVNULL, timeout=120,
    )
