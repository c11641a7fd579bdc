"""Wrong input to a command: the message names the mistake and the cure, and holds no secret."""

import http.server
import json
import subprocess

import pytest
from authority import SERVER, Authority
from conftest import BINARY, ISSUER_ID
from scripted_server import LocalServer
from service import digest, mint, write_key

CONFIGURATION = """
listeners:
  public: {{address: "127.0.0.1:0"}}
audit: {{database: {directory}/audit.db}}
anonymous: true
accounts:
  - issuerId: {issuer}
    apps: [{{bundleId: com.example.app, features: [promotional-offer]}}]
    keys: [{{keyId: 2X9R4HXF34, uri: "file:{directory}/AuthKey.p8"}}]
    activeKey: 2X9R4HXF34
"""


@pytest.fixture
def configuration(tmp_path):
    write_key(tmp_path / "AuthKey.p8")
    path = tmp_path / "gateway.yaml"
    path.write_text(CONFIGURATION.format(directory=tmp_path, issuer=ISSUER_ID))
    return path


@pytest.fixture
def plain_address():
    """The address of an HTTP server without TLS."""
    with LocalServer(http.server.BaseHTTPRequestHandler) as server:
        yield f"127.0.0.1:{server.port}"


def refused(*arguments, status=1):
    """The message of a command that ends with this status."""
    ended = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert ended.returncode == status, ended
    return ended.stderr


@pytest.mark.parametrize(
    ("arguments", "parent", "known"),
    [
        (["chek", "--config", "gateway.yaml"], "privyseal", "check"),
        (["keys", "lst", "--json"], "privyseal keys", "list"),
        (["help", "keys", "lst"], "privyseal keys", "list"),
        (["keys", "help"], "privyseal keys", "list"),
    ],
    ids=["of the program", "of a group", "after help", "help of a group"],
)
def test_a_misspelled_command_is_named_with_the_commands_that_there_are(arguments, parent, known):
    wrong = next(argument for argument in arguments if argument in ("chek", "lst") or argument == arguments[-1])
    said = refused(*arguments, status=64)
    assert said.startswith(f'privyseal: There is no command "{parent} {wrong}". The commands are ')
    assert f" {known}, " in said and said.endswith(f"; see {parent} --help.\n")


OFFER = ["productId=monthly", "offerIdentifier=winback"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["token", "pusj"], 'No service with the name "pusj" is configured. Did you mean push? The services are push.'),
        (
            ["sign", "promotional-offer", "--app", "com.exmple.app", *OFFER],
            'No app with the bundle ID "com.exmple.app" is configured. Did you mean com.example.app? The apps are com.example.app.',
        ),
        (
            ["sign", "legacy", "--app", "com.example.app", *OFFER],
            'The app com.example.app has no feature "legacy". The features are promotional-offer.',
        ),
        (
            ["sign", "promotional-offer", "--app", "com.example.app", "--key", "2X9R4HXF35", *OFFER],
            'has no key with the ID "2X9R4HXF35". Did you mean 2X9R4HXF34? The keys are 2X9R4HXF34.',
        ),
    ],
    ids=["service", "app", "feature", "key"],
)
def test_a_misspelled_name_is_refused_with_the_names_that_are_configured(configuration, arguments, words):
    write_key(configuration.parent / "push.p8")
    uri = f"file:{configuration.parent}/push.p8"
    service = {"name": "push", "profile": "apns", "teamId": "ABCDE12345", "activeKey": "PUSHKEY001"}
    service["keys"] = [{"keyId": "PUSHKEY001", "uri": uri}]
    with configuration.open("a") as file:
        file.write(f"services: {json.dumps([service])}\n")
    assert words in refused(*arguments, "--config", configuration)


@pytest.mark.parametrize("command", [["status"], ["reload"], ["keys", "states"]], ids=" ".join)
def test_no_message_holds_a_token_that_a_header_cannot_hold(tmp_path, plain_address, command):
    token = tmp_path / "token"
    token.write_text("first-secret-line\nsecond-secret-line\n")
    said = refused(*command, "--admin", f"http://{plain_address}", "--token-file", token)
    assert "secret-line" not in said and f"{token} is not one line" in said


def test_an_unreadable_wrapping_key_is_reported_without_the_usage_of_the_program(tmp_path):
    said = refused("keys", "wrap", "a.p8", "--for", tmp_path / "missing.pem", "--out", tmp_path / "out", status=64)
    assert said == f"privyseal: {tmp_path}/missing.pem cannot be read: No such file or directory.\n"


@pytest.mark.parametrize("name", ["", " ", "shop\nadmin", "Shop", "operator"])
def test_a_token_is_made_only_for_a_name_that_the_configuration_can_hold(name):
    said = refused("clients", "mint", name, status=64)
    assert ("is reserved" if name == "operator" else "must be 1 to 63 lower-case letters") in said


def test_a_warning_about_the_configuration_is_printed_once(configuration):
    configuration.write_text(configuration.read_text().replace(ISSUER_ID, "not-a-uuid"))
    subprocess.run([BINARY, "keys", "prove", "2X9R4HXF34", "--config", configuration], check=True, capture_output=True)
    said = refused("keys", "activate", "2X9R4HXF34", "--reason", "Test", "--yes", "--config", configuration)
    assert said.count("is not a UUID") == 1 and "is active already" in said


def test_a_key_has_no_state_to_change_before_the_log_begins(configuration):
    said = refused("keys", "suspend", "2X9R4HXF34", "--reason", "Test", "--config", configuration)
    assert "There is no audit log at " in said and "correct audit.database" in said
    shown = subprocess.run([BINARY, "keys", "states", "--config", configuration], capture_output=True, text=True)
    assert shown.returncode == 0 and "There is no audit log at " in shown.stderr


def test_a_file_that_cannot_be_created_is_named_as_given(configuration):
    subprocess.run([BINARY, "keys", "prove", "2X9R4HXF34", "--config", configuration], check=True, capture_output=True)
    said = refused("audit", "export", "--out", "/missing/log", "--config", configuration, status=64)
    assert said.endswith("privyseal: /missing/log cannot be written: there is no directory /missing. Make it first.\n")
    existing = configuration.with_name("existing")
    existing.write_text("")
    said = refused("audit", "export", "--out", existing, "--config", configuration, status=64)
    assert f"{existing} already exists. Name another file" in said


def test_the_reason_is_given_if_a_request_cannot_be_read(configuration, tmp_path):
    said = refused(
        "sign", "promotional-offer", "--app", "com.example.app", "--input", tmp_path / "missing", "--config", configuration)
    assert f"{tmp_path}/missing cannot be read: No such file or directory." in said


def test_the_file_is_named_that_holds_no_certificate_or_key(tmp_path, plain_address):
    (tmp_path / "empty").write_text("")
    admin = ["status", "--admin", f"https://{plain_address}"]
    assert f"{tmp_path}/empty cannot be read as certificates" in refused(*admin, "--trust-roots", tmp_path / "empty")
    said = refused(*admin, "--certificate", tmp_path / "missing", "--certificate-key", tmp_path / "empty")
    assert f"{tmp_path}/missing cannot be read as certificates" in said


def test_a_listener_without_tls_is_reported_as_that(plain_address):
    assert "it does not speak TLS" in refused("status", "--admin", f"https://{plain_address}")


def test_a_wrong_time_is_reported_in_the_words_of_the_option(configuration):
    said = refused("audit", "archive", "--before", "5y", "--to", "/tmp", "--config", configuration, status=64)
    assert '"5y" is not a time' in said and "until" not in said


def test_config_and_admin_together_are_refused_as_that(configuration):
    said = refused("status", "--config", configuration, "--admin", "unix:/missing", status=64)
    assert "not with both" in said


@pytest.mark.parametrize(
    "address, words",
    [
        ("unix:/missing/socket", "there is no directory /missing/ for the socket /missing/socket. Make it first."),
        ("unix:/etc/passwd", "/etc/passwd exists, and is not a socket; remove it, or choose another path."),
        ("192.0.2.1:8080", "192.0.2.1:8080 is not an address of this machine."),
    ],
)
def test_check_finds_an_address_that_serve_could_not_use(configuration, tmp_path, address, words):
    proxy = "" if address.startswith("unix:") else ", behindProxy: true"
    client = f'clients: [{{name: shop, tokens: [{{sha256: "{digest(mint())}"}}], allow: [{{apps: ["*"], features: ["*"]}}]}}]'
    text = configuration.read_text().replace('"127.0.0.1:0"', f'"{address}"{proxy}').replace("anonymous: true", client)
    configuration.write_text(text.replace(f"audit: {{database: {tmp_path}/audit.db}}", "audit: off"))
    shown = subprocess.run([BINARY, "check", "--config", configuration], capture_output=True, text=True, timeout=60)
    assert shown.returncode == 1 and words in shown.stdout, shown


def test_check_does_not_make_the_directory_of_an_audit_log(configuration, tmp_path):
    text = configuration.read_text().replace(f"{tmp_path}/audit.db", f"{tmp_path}/missing/audit.db")
    configuration.write_text(text)
    shown = subprocess.run([BINARY, "check", "--config", configuration], capture_output=True, text=True, timeout=60)
    assert shown.returncode == 1 and f"there is no directory {tmp_path}/missing. Make it first." in shown.stdout, shown
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize("fault", ["none", "expired", "another key", "missing"])
def test_check_shows_the_certificate_of_each_listener_and_why_it_cannot_be_used(configuration, tmp_path, fault):
    authority = Authority(tmp_path, "authority")
    identity = authority.issue("server", SERVER, expired=fault == "expired")
    key = authority.server("other").key_path if fault == "another key" else identity.key_path
    if fault == "missing":
        key.unlink()
    tls = f"tls: {{certificate: {identity.certificate_path}, key: {key}}}"
    text = configuration.read_text().replace('"127.0.0.1:0"', f'"127.0.0.1:0", {tls}').replace("anonymous: true", "")
    configuration.write_text(text.replace(f"audit: {{database: {tmp_path}/audit.db}}", "audit: off"))
    command = [BINARY, "check", "--config", configuration]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60)
    found = json.loads(subprocess.run([*command, "--format", "json"], capture_output=True, timeout=60).stdout)
    (listener,) = found["listeners"]
    assert listener["name"] == "public"
    assert shown.returncode == (0 if fault == "none" else 1), shown
    if fault in ("none", "expired"):
        end = identity.certificate.not_valid_after_utc
        assert listener["certificateExpiresAt"].startswith(end.strftime("%Y-%m-%dT%H:%M:%S"))
    words = {
        "none": "The certificate of the listener public expires at ",
        "expired": "The certificate of the listener public expired at ",
        "another key": f"The key in {key} does not belong to the first certificate in {identity.certificate_path}",
        "missing": f"{key} cannot be read: No such file or directory.",
    }[fault]
    assert words in shown.stdout, shown
    if fault in ("another key", "missing"):
        assert "The listener public cannot be used. " in shown.stdout
        assert words in listener["reason"]
