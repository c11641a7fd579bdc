"""`verify --explain` for service tokens: whole tokens, and tokens with one mistake each."""

import json
import subprocess
import time

import pytest
from conftest import BINARY
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from identities import SIGNERS, compact

KEY_ID, TEAM, ISSUER = "2X9R4HXF34", "ABCDE12345", "57246542-96fe-1a63-e053-0824d011072a"
KEY, OTHER = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())


def token(header, claims, key=KEY, der=False):
    """Header and claims may be texts, for members that stand twice."""
    parts = [part.encode() if isinstance(part, str) else part for part in (header, claims)]
    return compact(*parts, lambda text: key.sign(text, ec.ECDSA(hashes.SHA256())) if der else SIGNERS["ES256"](key, text))


def changed(claims, **changes):
    """None removes a claim."""
    return {name: value for name, value in {**claims, **changes}.items() if value is not None}


PLAIN = {"alg": "ES256", "kid": KEY_ID}
TYPED = {**PLAIN, "typ": "JWT"}
WEATHER_HEADER = {**PLAIN, "id": f"{TEAM}.com.example.weather"}

def tokens(now):
    """Whole tokens with their profiles, and broken ones. They are made in each test, because they expire."""
    store = {"iss": ISSUER, "iat": now - 60, "exp": now + 300, "aud": "appstoreconnect-v1", "bid": "com.example.app"}
    connect = {"iss": ISSUER, "iat": now - 60, "exp": now + 900, "aud": "appstoreconnect-v1"}
    push = {"iss": TEAM, "iat": now}
    sign_in = {"iss": TEAM, "iat": now - 60, "exp": now + 300, "aud": "https://appleid.apple.com", "sub": "com.example.web"}
    weather = {"iss": TEAM, "iat": now - 60, "exp": now + 1800, "sub": "com.example.weather"}
    music = {"iss": TEAM, "iat": now - 60, "exp": now + 3600}
    map = {"iss": TEAM, "iat": now - 60, "exp": now + 1800, "scope": "mapkit_js", "origin": "https://www.example.com"}
    maps_server = {"iss": TEAM, "iat": now - 60, "exp": now + 600, "scope": "server_api"}
    business = {
        "iss": "BUSINESSAPI.1", "sub": "BUSINESSAPI.1", "aud": "https://account.apple.com/auth/oauth2/v2/token",
        "iat": now - 60, "exp": now + 600, "jti": "5f0c8e1e-2f0e-4a3b-9b61-0a4f1f6f3a11",
    }
    whole = [
        ("app-store-server-api", token(TYPED, store)),
        ("app-store-connect-team", token(TYPED, connect)),
        ("apns", token(PLAIN, push)),
        ("sign-in-with-apple", token(PLAIN, sign_in)),
        ("weatherkit", token(WEATHER_HEADER, weather)),
        ("apple-ads", token(PLAIN, {**sign_in, "iss": "SEARCHADS.1", "sub": "SEARCHADS.2"})),
        ("apple-music", token(PLAIN, music)),
        ("mapkit-js", token(TYPED, map)),
        ("maps-server", token(TYPED, maps_server)),
        ("apple-business", token(PLAIN, business)),
    ]
    # The profile, the token, and the codes of which one must be the first finding.
    broken = [
        # Each claim is right for both services, so nothing shows that the token was made for the other one.
        ("app-store-server-api", token(TYPED, connect), "claim-missing"),
        ("app-store-connect-team", token(TYPED, store), "family-other"),
        ("app-store-connect-team", token(TYPED, changed(connect, iss=None, sub="user")), "family-other"),
        ("app-store-connect-individual", token(TYPED, connect), "family-other"),
        ("apns", token(PLAIN, changed(music)), "claim-exp"),
        ("weatherkit", token(WEATHER_HEADER, sign_in), "family-other"),
        ("app-store-server-api", token(TYPED, changed(store, exp=now+3600)), "lifetime-too-long"),
        ("app-store-connect-team", token(TYPED, changed(connect, exp=now+1200)), "lifetime-too-long"),
        ("app-store-connect-team", token(TYPED, changed(connect, exp=now+5000, scope=["GET /v1/apps"])), "lifetime-too-long"),
        ("sign-in-with-apple", token(PLAIN, changed(sign_in, exp=now+15777001)), "lifetime-too-long"),
        ("apple-business", token(PLAIN, changed(business, exp=now+180*86400)), "lifetime-too-long"),
        ("app-store-server-api", token(TYPED, changed(store, iat=now+120)), "issued-in-future"),
        ("apns", token(PLAIN, changed(push, iat=now+3600)), "issued-in-future"),
        ("app-store-connect-team", token(TYPED, changed(connect, iat=str(now))), "iat-text"),
        ("app-store-connect-team", token(TYPED, changed(connect, exp=str(now+600))), "exp-text"),
        ("apns", token(PLAIN, changed(push, iat=str(now))), "iat-text"),
        ("apns", token(TYPED, push), "header-typ-undocumented"),
        ("sign-in-with-apple", token(TYPED, sign_in), "header-typ-undocumented"),
        ("app-store-connect-team", token(TYPED, connect, der=True), "signature-der"),
        ("apns", token(PLAIN, push, der=True), "signature-der"),
        ("weatherkit", token(PLAIN, weather), "header-member-missing"),
        ("weatherkit", token({**PLAIN, "id":"com.example.weather"}, weather), "identifier-other"),
        ("app-store-server-api", token(TYPED, changed(store, aud="appstoreconnect-v2")), "audience-wrong"),
        ("sign-in-with-apple", token(PLAIN, changed(sign_in, aud="appleid.apple.com")), "audience-wrong"),
        ("apple-business", token(PLAIN, changed(business, aud="https://account.apple.com/auth/oauth2/token")), "audience-wrong"),
        ("app-store-connect-team", token(TYPED, changed(connect, aud=["appstoreconnect-v1"])), "audience-array"),
        ("mapkit-js", token('{"alg":"ES256", "kid":"%s", "kid":"%s"}'%(KEY_ID, KEY_ID), map), "member-twice"),
        ("apns", token(PLAIN, '{"iss":"%s", "iat":%d, "iat":%d}'%(TEAM, now, now)), "member-twice"),
        ("apns", token(PLAIN, changed(push, iat=now-4000)), "token-too-old"),
        ("app-store-server-api", token(TYPED, changed(store, iat=now-900, exp=now-600)), "token-expired"),
        ("app-store-server-api", token(TYPED, changed(store, bid=None)), "claim-missing"),
        ("mapkit-js", token(TYPED, changed(map, origin=None)), "claim-missing"),
        ("sign-in-with-apple", token(PLAIN, changed(sign_in, sub=None)), "claim-missing"),
        ("apns", token(PLAIN, changed(push, iss=ISSUER)), "identifier-other"),
        ("app-store-connect-team", token(TYPED, changed(connect, iss=TEAM)), "identifier-other"),
        ("mapkit-js", token(TYPED, changed(map, origin="www.example.com")), "choice-invalid"),
        ("mapkit-js", token(TYPED, changed(map, scope="server_api")), "claim-value"),
        ("app-store-connect-team", token(TYPED, changed(connect, scope="GET /v1/apps")), "claim-kind"),
        ("app-store-connect-team", token(TYPED, changed(connect, scope=["/v1/apps"])), "choice-invalid"),
        ("app-store-connect-team", token(TYPED, changed(connect, exp=(now+600)*1000)), "exp-range"),
        ("app-store-connect-team", token(TYPED, changed(connect, exp=now-100)), "exp-range"),
        ("app-store-connect-team", token(TYPED, changed(connect, exp=None)), "claim-missing"),
        ("apns", token({**PLAIN, "alg":"RS256"}, push), "header-alg"),
        ("apns", token({"alg":"ES256"}, push), "header-member-missing"),
        ("apns", token(PLAIN, changed(push, sub="x")), "claim-not-documented"),
        ("app-store-server-api", token(TYPED, store, OTHER), "unexplained"),
        ("app-store-server-api", "Bearer "+token(TYPED, store), "token-prefix"),
        ("app-store-connect-team", token(TYPED, changed(connect, aud=None)), "claim-missing"),
        ("sign-in-with-apple", token(PLAIN, changed(sign_in, aud=None)), "claim-missing"),
        ("weatherkit", token(WEATHER_HEADER, changed(weather, sub=None)), "claim-missing"),
        ("maps-server", token(TYPED, changed(maps_server, scope=None)), "claim-missing"),
        ("devicecheck", token(PLAIN, changed(push, exp=now+600)), "claim-exp"),
        ("apns", token(PLAIN, changed(push, iss=TEAM.lower())), "identifier-other"),
        ("apns", token(PLAIN, changed(push, iss=TEAM+" ")), "field-white-space"),
        ("app-store-server-api", token(TYPED, changed(store, bid="com.example.app ")), "field-white-space"),
        ("weatherkit", token({**PLAIN, "id": f"{TEAM}.com.example.other"}, weather), "identifier-other"),
        ("apple-business", token(PLAIN, changed(business, sub="BUSINESSAPI.2")), "identifier-other"),
        ("apple-ads", token(PLAIN, {**sign_in, "sub": "SEARCHADS.2"}), "identifier-other"),
        ("app-store-connect-team", token(TYPED, changed(connect, scope=[])), "claim-empty"),
        ("app-store-connect-team", token(TYPED, changed(connect, scope=[5])), "claim-kind"),
        ("apns", token(PLAIN, changed(push, iat=now*1000000)), "iat-finer"),
    ]
    return whole, broken


WHOLE, BROKEN = tokens(int(time.time()))


@pytest.fixture(scope="module")
def public_key(tmp_path_factory):
    path = tmp_path_factory.mktemp("key") / "public.pem"
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    path.write_bytes(KEY.public_key().public_bytes(serialization.Encoding.PEM, form))
    return path


def explained(public_key, text, *options):
    command = [BINARY, "verify", "--explain", "--key", f"{KEY_ID}={public_key}", "--jws", text, "--format", "json", *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert ended.stdout, ended.stderr
    return ended.returncode, json.loads(ended.stdout)


@pytest.mark.parametrize("number", range(len(WHOLE)), ids=[profile for profile, _ in WHOLE])
def test_a_whole_token_is_valid_with_and_without_its_profile(public_key, number):
    profile, text = tokens(int(time.time()))[0][number]
    for options in (("--service", profile), ()):
        status, answer = explained(public_key, text, *options)
        assert (status, answer["kind"], answer["findings"]) == (0, profile, [])


def test_a_key_in_pem_can_have_a_uuid_as_its_id(public_key):
    wanted, other = "57246542-96fe-1a63-e053-000000000001", "57246542-96fe-1a63-e053-000000000002"
    now = int(time.time())
    claims = {"iss": "SEARCHADS.1", "iat": now - 60, "exp": now + 300, "aud": "https://appleid.apple.com", "sub": "SEARCHADS.2"}
    for key_id, findings in ((wanted, []), (other, ["key-other"])):
        text = token({**PLAIN, "kid": key_id}, claims)
        command = [BINARY, "verify", "--explain", "--key", f"{wanted}={public_key}", "--jws", text, "--format", "json"]
        ended = subprocess.run([*command, "--service", "apple-ads"], capture_output=True, text=True, timeout=30)
        assert ended.stdout, ended.stderr
        assert [finding["code"] for finding in json.loads(ended.stdout)["findings"]] == findings


@pytest.mark.parametrize("number", range(len(BROKEN)), ids=[f"{profile}-{codes}" for profile, _, codes in BROKEN])
def test_the_first_finding_names_the_mistake(public_key, number):
    profile, text, codes = tokens(int(time.time()))[1][number]
    _, answer = explained(public_key, text, "--service", profile)
    assert answer["findings"][0]["code"] in codes.split(), answer["findings"]


def test_an_invalid_choice_is_named_as_it_stands_in_the_token(public_key):
    now = int(time.time())
    claims = {"iss": ISSUER, "iat": now - 60, "exp": now + 900, "aud": "appstoreconnect-v1", "scope": ["GET /v1/apps", "/v1/apps"]}
    _, answer = explained(public_key, token(TYPED, claims), "--service", "app-store-connect-team")
    assert answer["findings"][0]["message"].startswith('"scope[1]" ')


@pytest.mark.parametrize(
    "profile, header, claims, cure",
    [
        ("weatherkit", PLAIN, {"iss": TEAM, "sub": "com.example.weather"}, "exactly these members, all strings: alg, kid, id."),
        ("weatherkit", WEATHER_HEADER, {"iss": TEAM}, "A token for weatherkit needs these: iss, iat, exp, sub."),
    ],
)
def test_the_cure_names_what_a_token_of_the_service_has(public_key, profile, header, claims, cure):
    now = int(time.time())
    text = token(header, {"iat": now - 60, "exp": now + 600, **claims})
    _, answer = explained(public_key, text, "--service", profile)
    assert any(cure in finding["cure"] for finding in answer["findings"]), answer


def test_an_unknown_service_is_refused_with_the_known_ones(public_key):
    command = [BINARY, "verify", "--service", "apn", "--key", str(public_key), "--jws", WHOLE[0][1]]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert ended.returncode == 64 and "apns" in ended.stderr


STORE = {"aud": "appstoreconnect-v1", "bid": "com.example.app", "iss": ISSUER}


@pytest.mark.parametrize("options", [("--service", "app-store-server-api"), ()])
@pytest.mark.parametrize("app, codes", [("com.example.app", []), ("com.example.other", ["app-differs"])])
def test_a_token_for_another_app_is_not_valid(public_key, options, app, codes):
    now = int(time.time())
    text = token(TYPED, {**STORE, "iat": now - 60, "exp": now + 300})
    status, answer = explained(public_key, text, "--app", app, *options)
    assert (status, [finding["code"] for finding in answer["findings"]]) == (1 if codes else 0, codes)


def refused(public_key, *options, input=None):
    command = [BINARY, "verify", "--key", f"{KEY_ID}={public_key}", *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30, input=input)
    assert (ended.returncode, ended.stdout) == (64, ""), ended
    return ended.stderr


@pytest.mark.parametrize(
    "options, cure", [(("--service", "apns"), "Leave --app out.\n"), ((), "or name another service with --service.\n")]
)
def test_an_app_is_refused_for_a_token_that_names_none(public_key, options, cure):
    text = token(PLAIN, {"iss": TEAM, "iat": int(time.time())})
    message = refused(public_key, "--jws", text, "--app", "com.example.app", *options)
    assert "A token for apns names no app, so --app cannot be checked." in message and message.endswith(cure)


SIGNATURE = "A" * 86
SNAPSHOT_PATH = f"/api/v1/snapshot?center=a&teamId={TEAM}&keyId={KEY_ID}&signature={SIGNATURE}"
SNAPSHOT_URL = f"https://snapshot.apple-mapkit.com{SNAPSHOT_PATH}"
SNAPSHOT = json.dumps({"token": SIGNATURE, "url": SNAPSHOT_URL, "keyId": KEY_ID})


@pytest.mark.parametrize(
    "options, input",
    [
        (("--jws", SNAPSHOT_URL), None),
        ((), SNAPSHOT),
        ((), SNAPSHOT_URL + "\n"),
        (("--service", "maps-snapshot-url", "--jws", "a.b.c"), None),
    ],
    ids=["--jws", "the JSON of the answer", "the URL as input", "--service"],
)
def test_a_snapshot_url_is_refused_with_the_way_to_check_it(public_key, options, input):
    message = refused(public_key, *options, input=input)
    assert "A signed URL of a Maps snapshot is not a JWS" in message and "Request the URL" in message


def test_the_remedies_fit_the_service(public_key):
    now = int(time.time())
    push, store = {"iss": TEAM, "iat": now}, {**STORE, "iat": now - 60, "exp": now + 300, "bid": ""}
    unexplained = explained(public_key, token(PLAIN, push, OTHER), "--service", "apns")[1]["findings"][0]
    assert "A token for apns needs the push notifications key" in unexplained["cure"], unexplained
    empty = explained(public_key, token(TYPED, store), "--service", "app-store-server-api")[1]["findings"][0]
    assert (empty["code"], empty["cure"]) == ("claim-empty", "Give the claim its value.")
