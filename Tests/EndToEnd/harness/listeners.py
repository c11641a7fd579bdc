"""The configuration of a gateway with one key, for tests of its listeners."""

from running import APP, ISSUER_ID, KEY_IDS
from service import write_key


def configuration(place, clients, tls="", limits="{}", rest=""):
    write_key(place / "AuthKey.p8")
    return f"""
listeners:
  public: {{address: "127.0.0.1:0"{tls}}}
  admin: {{address: "unix:{place}/admin.sock"}}
  metrics: {{address: "127.0.0.1:0"}}
drainDelay: 0
limits: {limits}
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: {APP}, features: [promotional-offer]}}]
    keys: [{{keyId: {KEY_IDS[0]}, uri: "file:{place}/AuthKey.p8"}}]
    activeKey: {KEY_IDS[0]}
clients:
{clients}
{rest}
"""
