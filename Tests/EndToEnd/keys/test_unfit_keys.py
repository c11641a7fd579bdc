"""A gateway with two accounts. One of them has a key that only the operator can correct."""

import json

import pytest
from conftest import BINARY
from cryptography.hazmat.primitives.asymmetric import ec
from service import REFUSED_CONFIGURATION, Service, digest, mint, write_key

WELL, ILL = "com.example.well", "com.example.ill"
KEYS = {WELL: "2X9R4HXF34", ILL: "3Y8S5JYG45"}
BODY = {"productId": "com.example.monthly", "offerIdentifier": "winback"}


class TwoAccounts(Service):
    """A gateway with a key for each of two apps. The key of ILL is not on P-256, so it cannot sign."""

    def __init__(self, directory):
        self.token = mint()
        write_key(directory / f"{WELL}.p8")
        # Apple's keys use P-256.
        write_key(directory / f"{ILL}.p8", ec.generate_private_key(ec.SECP384R1()))
        accounts = "\n".join(
            f"""  - issuerId: 57246542-96fe-1a63-e053-0824d011072{number}
    apps: [{{bundleId: {app}, features: [promotional-offer]}}]
    keys: [{{keyId: {key_id}, uri: "file:{directory}/{app}.p8"}}]
    activeKey: {key_id}"""
            for number, (app, key_id) in enumerate(KEYS.items())
        )
        super().__init__(BINARY, directory, f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
  admin: {{address: "unix:{directory}/admin.sock"}}
drainDelay: 0
audit: {{database: {directory}/audit.db}}
accounts:
{accounts}
clients:
  - name: shop
    tokens: [{{sha256: "{digest(self.token)}"}}]
    allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"]}}]
""")

    def sign(self, app):
        headers = {"Authorization": f"Bearer {self.token}"}
        return self.ask("POST", f"/v1/apps/{app}/promotional-offer", BODY, headers)[0]

    def ready(self, query=""):
        status, _, body = self.ask("GET", "/readyz" + query)
        return status, json.loads(body)


@pytest.fixture
def service(tmp_path):
    with TwoAccounts(tmp_path) as service:
        yield service


def test_an_unfit_key_at_the_start_does_not_affect_other_accounts(service):
    assert service.sign(WELL) == 200
    assert service.sign(ILL) == 503
    assert f"keyId={KEYS[ILL]}" in service.tail(), service.tail()


def test_readiness_can_be_queried_for_one_app(service):
    status, answer = service.ready()
    assert (status, answer["status"]) == (503, "unready")
    status, answer = service.ready(f"?app={WELL}")
    assert (status, answer["status"]) == (200, "ready")
    assert answer["keys"] == [{"keyId": KEYS[WELL], "active": True, "state": "ready"}]
    status, answer = service.ready(f"?app={ILL}")
    assert (status, answer["status"]) == (503, "unready")
    assert answer["keys"] == [{"keyId": KEYS[ILL], "active": True, "state": "refused"}]
    status, answer = service.ready("?app=com.example.none")
    assert (status, answer["type"]) == (404, "urn:privyseal:problem:unknown-app")
    assert service.ready(f"?app={WELL}&app={ILL}")[0] == 400
    # Without an active key, nothing is signed for the app.
    assert service.ask("POST", f"/v1/keys/{KEYS[WELL]}/suspend", {"reason": "a test"}, listener="admin")[0] == 200
    assert service.ready(f"?app={WELL}")[0] == 503


def test_a_reload_uses_a_repaired_key(service, tmp_path):
    write_key(tmp_path / f"{ILL}.p8")
    done, said = service.reload()
    assert done, said
    assert service.sign(ILL) == 200
    assert service.ready()[0] == 200


def test_strict_ends_a_gateway_with_an_unfit_key(tmp_path):
    service = TwoAccounts(tmp_path)
    service.options = ["--strict"]
    with pytest.raises(AssertionError) as ended:
        service.start()
    assert f"ended with {REFUSED_CONFIGURATION}" in str(ended.value)
    assert "holds a key on secp384r1; App Store keys are on P-256" in str(ended.value)


def test_strict_starts_a_gateway_with_fit_keys(tmp_path):
    service = TwoAccounts(tmp_path)
    write_key(tmp_path / f"{ILL}.p8")
    service.options = ["--strict"]
    with service:
        assert service.sign(ILL) == 200
