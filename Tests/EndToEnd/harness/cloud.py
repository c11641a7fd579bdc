"""AWS KMS as moto simulates it, behind a server that checks credentials and injects faults, and the places of AWS
credentials; without pytest.

moto 5.2 hashes the digest of a Sign call with MessageType DIGEST once more, unlike AWS. So `Kms` signs itself, with
moto's keys. moto has no import of key material, so `Kms` has it, as AWS documents it.
"""

import base64
import collections
import datetime
import http.server
import json
import random
import re
import secrets
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from cryptography.hazmat.primitives import hashes, keywrap, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from moto.core import DEFAULT_ACCOUNT_ID
from moto.kms.models import kms_backends
from moto.server import ThreadedMotoServer

REGION = "eu-west-1"
KEYS = ("AKIDSTATIC", "static-secret")
# No file and no service of this machine.
NOWHERE = {
    "AWS_CONFIG_FILE": "/nonexistent/config", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent/credentials",
    "AWS_EC2_METADATA_DISABLED": "true",
}
STATIC = {**NOWHERE, "AWS_ACCESS_KEY_ID": KEYS[0], "AWS_SECRET_ACCESS_KEY": KEYS[1]}
# The status and the error code of faults (AWS KMS API Reference, "Common errors" and the errors of Sign).
THROTTLED = (400, "ThrottlingException")
INTERNAL = (500, "KMSInternalException")


class Server(http.server.ThreadingHTTPServer):
    """An HTTP server on a loopback address; `answer(method, path, headers, body)` returns (status, header, body)."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Without it, each answer waits for an acknowledgement (Nagle's algorithm).
            disable_nagle_algorithm = True
            wbufsize = -1

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, headers, answer = outer.answer(self.command, self.path, self.headers, body)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(answer))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = handle_any

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.errors = []
        self.origin = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        # A client may close a connection before the answer.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            self.errors.append(sys.exc_info()[1])

    def __enter__(self):
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, kind, *_):
        """Raises the first error of an answer."""
        self.shutdown()
        self.server_close()
        if kind is None and self.errors:
            raise self.errors[0]


class Moto:
    """moto's server, in a thread of this process."""

    def __enter__(self):
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.origin = f"http://{host}:{port}"
        return self

    def __exit__(self, *_):
        self._server.stop()

    def reset(self):
        """Removes all keys."""
        urllib.request.urlopen(urllib.request.Request(f"{self.origin}/moto-api/reset", method="POST")).close()


class Kms(Server):
    """Checks the signature of each request as AWS does, injects faults, and passes the rest on to moto."""

    def __init__(self, moto):
        super().__init__()
        self.moto = moto
        # The secret of each access key ID, and the time in seconds until which it is valid.
        self.issued = {KEYS[0]: (KEYS[1], None, float("inf"))}
        # The share of calls that is throttled. With less than 1, a call is throttled six times at most, because the backend
        # makes eight attempts.
        self.throttling = 0.0
        self.throttled = collections.Counter()
        # A function of the digest of a Sign call. It returns the status and the error code of a fault, or None.
        self.fault_in_sign = None
        # This private key signs in place of every key, if it is set.
        self.other_key = None
        self.is_down = False
        # What happened so far: the names of all calls, the codes of refused credentials, the codes of injected faults,
        # the access key ID of each call with valid credentials, and the digest of each signature.
        self.calls = []
        self.refused = []
        self.injected = []
        self.access_keys = []
        self.signed = []
        # For each key ID: the private wrapping key, the import token, and the algorithm.
        self.wrapping = {}

    def answer(self, method, path, headers, body):
        if self.is_down:
            return 503, {}, b""
        name = headers["X-Amz-Target"].removeprefix("TrentService.")
        self.calls.append(name)
        if fault := self.fault(path, headers, body):
            self.refused.append(fault)
            return refusal(400, fault)
        self.access_keys.append(access_key(headers))
        if self.throttling == 1 or (random.random() < self.throttling and self.throttled[body] < 6):
            self.throttled[body] += 1
            return self.injected_fault(*THROTTLED)
        own = {
            "Sign": self.sign, "GetParametersForImport": self.import_parameters, "ImportKeyMaterial": self.import_material,
            "DeleteImportedKeyMaterial": self.delete_material,
        }
        if name in own:
            return own[name](json.loads(body))
        status, headers, answer = passed_on(self.moto + path, headers, body)
        if name == "CreateKey" and json.loads(body).get("Origin") == "EXTERNAL":
            key = key_in_moto(json.loads(answer)["KeyMetadata"]["KeyId"])
            key.key_state, key.enabled = "PendingImport", False
            answer = json.dumps(key.to_dict()).encode()
        return status, headers, answer

    def fault(self, path, headers, body):
        """The code of the error that AWS answers to wrong credentials, or None."""
        found = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=(\w+)/\d{8}/([\w-]+)/kms/aws4_request, SignedHeaders=([\w;-]+), Signature=\w+",
            headers["Authorization"],
        )
        if not found or found[2] != REGION or found[1] not in self.issued:
            return "UnrecognizedClientException"
        secret, token, end = self.issued[found[1]]
        request = AWSRequest(
            "POST", self.origin + path, data=body, headers={name: headers[name] for name in found[3].split(";")}
        )
        now = datetime.datetime.strptime(headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        if abs((datetime.datetime.now(datetime.timezone.utc) - now).total_seconds()) > 300:
            return "InvalidSignatureException"
        request.context["timestamp"] = headers["X-Amz-Date"]
        signer = SigV4Auth(Credentials(KEYS[0], secret), "kms", REGION)
        signer.credentials.access_key = found[1]
        expected = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
        if not headers["Authorization"].endswith(f"Signature={expected}") or headers["X-Amz-Security-Token"] != token:
            return "InvalidSignatureException"
        return "ExpiredTokenException" if time.time() >= end else None

    def sign(self, call):
        assert call["MessageType"] == "DIGEST" and call["SigningAlgorithm"] == "ECDSA_SHA_256", call
        digest = base64.b64decode(call["Message"])
        if self.fault_in_sign and (fault := self.fault_in_sign(digest)):
            return self.injected_fault(*fault)
        key = key_in_moto(call["KeyId"])
        if key.key_state != "Enabled":
            return refusal(400, "DisabledException")
        private = self.other_key or key.private_key.private_key
        signature = private.sign(digest, ec.ECDSA(utils.Prehashed(hashes.SHA256())))
        self.signed.append(digest)
        answer = {
            "KeyId": key.arn, "Signature": base64.b64encode(signature).decode(), "SigningAlgorithm": "ECDSA_SHA_256",
        }
        return 200, {}, json.dumps(answer).encode()

    def injected_fault(self, status, code):
        self.injected.append(code)
        return refusal(status, code)

    # Import (AWS KMS API Reference, GetParametersForImport and ImportKeyMaterial)

    def import_parameters(self, call):
        key = key_in_moto(call["KeyId"])
        wrapping = rsa.generate_private_key(65537, int(call["WrappingKeySpec"].removeprefix("RSA_")))
        # A caller that waited for too long asks again, and may use either answer.
        token = base64.b64encode(secrets.token_bytes(1500)).decode()
        self.wrapping[key.id, token] = (wrapping, call["WrappingAlgorithm"])
        answer = {
            "KeyId": key.arn, "ImportToken": token,
            "PublicKey": base64.b64encode(wrapping.public_key().public_bytes(
                serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)).decode(),
            "ParametersValidTo": time.time() + 86400,
        }
        return 200, {}, json.dumps(answer).encode()

    def import_material(self, call):
        key = key_in_moto(call["KeyId"])
        wrapping, algorithm = self.wrapping.pop((key.id, call["ImportToken"]))
        assert call["ExpirationModel"] == "KEY_MATERIAL_DOES_NOT_EXPIRE"
        material = base64.b64decode(call["EncryptedKeyMaterial"])
        oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
        if algorithm == "RSAES_OAEP_SHA_256":
            plain = wrapping.decrypt(material, oaep)
        else:
            assert algorithm == "RSA_AES_KEY_WRAP_SHA_256"
            size = wrapping.key_size // 8
            plain = keywrap.aes_key_unwrap_with_padding(wrapping.decrypt(material[:size], oaep), material[size:])
        key.private_key.private_key = serialization.load_der_private_key(plain, None)
        key.key_state, key.enabled = "Enabled", True
        return 200, {}, b"{}"

    def delete_material(self, call):
        key = key_in_moto(call["KeyId"])
        key.private_key.private_key, key.key_state, key.enabled = None, "PendingImport", False
        return 200, {}, b""

    def uri(self, key=""):
        return f"awskms:{REGION}{'/' if key else ''}{key}?endpoint={self.origin}"

    def issue(self, seconds):
        """New credentials in the form of the container's and the instance's endpoint."""
        access, secret, token = f"ASIA{secrets.token_hex(8)}", secrets.token_urlsafe(30), secrets.token_urlsafe(200)
        end = time.time() + seconds
        self.issued[access] = (secret, token, end)
        expiration = datetime.datetime.fromtimestamp(end, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        return json.dumps(
            {"Code": "Success", "AccessKeyId": access, "SecretAccessKey": secret, "Token": token,
             "Expiration": expiration}
        ).encode()


def refusal(status, code):
    """An error document of AWS's JSON protocol."""
    return status, {}, json.dumps({"__type": code, "message": "a sentence"}).encode()


def access_key(headers):
    """The access key ID of a signed request."""
    return re.search(r"Credential=(\w+)/", headers["Authorization"])[1]


def passed_on(url, headers, body):
    """The answer of another server to a POST."""
    kept = {name: value for name, value in headers.items() if name.lower() not in ("host", "content-length")}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body, headers=kept, method="POST")) as answer:
            return answer.status, {}, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, {}, error.read()


def key_in_moto(name):
    backend = kms_backends[DEFAULT_ACCOUNT_ID][REGION]
    return backend.describe_key(backend.get_key_id(name))


class Container(Server):
    """The credential endpoint of a container. Its token is in a file."""

    def __init__(self, kms, seconds):
        super().__init__()
        self.kms, self.seconds, self.count = kms, seconds, 0

    def answer(self, method, path, headers, body):
        if (method, path, headers["Authorization"]) != ("GET", "/v1/credentials", "container-token"):
            return 403, {}, b""
        self.count += 1
        return 200, {"Content-Type": "application/json"}, self.kms.issue(self.seconds)

    def environment(self, directory):
        (directory / "container-token").write_text("container-token")
        return {
            **NOWHERE, "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{self.origin}/v1/credentials",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(directory / "container-token"),
        }


class Instance(Server):
    """The instance metadata service, version 2 only."""

    def __init__(self, kms):
        super().__init__()
        self.kms = kms

    def answer(self, method, path, headers, body):
        base = "/latest/meta-data/iam/security-credentials/"
        if (method, path) == ("PUT", "/latest/api/token") and headers["X-aws-ec2-metadata-token-ttl-seconds"]:
            return 200, {}, b"instance-token"
        if headers["X-aws-ec2-metadata-token"] != "instance-token":
            return 401, {}, b""
        answers = {base: b"gateway-role", f"{base}gateway-role": self.kms.issue(3600)}
        return (200, {}, answers[path]) if path in answers else (404, {}, b"")

    @property
    def environment(self):
        return {
            **NOWHERE, "AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": self.origin,
        }


class TokenService(Server):
    """moto's STS, whose credentials `Kms` accepts."""

    def __init__(self, kms):
        super().__init__()
        self.kms, self.calls = kms, []

    def answer(self, method, path, headers, body):
        self.calls.append((dict(urllib.parse.parse_qsl(body.decode())), headers.get("Authorization")))
        status, _, answer = passed_on(self.kms.moto + path, headers, body)
        parts = {
            name: re.search(rf"<{name}>(.*?)</{name}>", answer.decode())[1]
            for name in ("AccessKeyId", "SecretAccessKey", "SessionToken")
        }
        self.kms.issued[parts["AccessKeyId"]] = (parts["SecretAccessKey"], parts["SessionToken"], float("inf"))
        return status, {"Content-Type": "text/xml"}, answer


def client(kms):
    """AWS's own client, through the same server."""
    return boto3.client(
        "kms", region_name=REGION, endpoint_url=kms.origin, aws_access_key_id=KEYS[0], aws_secret_access_key=KEYS[1])


def make_key(kms, alias="alias/appstore", spec="ECC_NIST_P256", private_key=None):
    """`private_key`: the key's material; without it, moto makes one."""
    made = client(kms).create_key(KeySpec=spec, KeyUsage="SIGN_VERIFY")["KeyMetadata"]["KeyId"]
    client(kms).create_alias(AliasName=alias, TargetKeyId=made)
    if private_key:
        key_in_moto(made).private_key.private_key = private_key
    return made


def public_key(kms, name="alias/appstore"):
    return serialization.load_der_public_key(client(kms).get_public_key(KeyId=name)["PublicKey"])
