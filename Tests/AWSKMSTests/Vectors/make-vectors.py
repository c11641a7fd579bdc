"""Writes signatures.json and shapes.json with botocore, AWS's own library for Python.

    pip install botocore==1.43.11
    python make-vectors.py
"""

import datetime
import json
import pathlib
import unittest.mock

import botocore
import botocore.auth
import botocore.loaders
import botocore.model
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

HERE = pathlib.Path(__file__).parent
# The values of AWS's published test suite for Signature Version 4.
SUITE = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
JSON = "application/x-amz-json-1.1"
SIGN = '{"KeyId":"alias/appstore","Message":"AA==","MessageType":"DIGEST","SigningAlgorithm":"ECDSA_SHA_256"}'

# name, session token, region, service, time, host, headers, body
CASES = [
    ("post-vanilla of AWS's test suite", None, "us-east-1", "service", "20150830T123600Z", "example.amazonaws.com", [], ""),
    (
        "a session token", "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFq==", "us-east-1",
        "service", "20150830T123600Z", "example.amazonaws.com", [], "",
    ),
    (
        "a header with spaces", None, "us-east-1", "service", "20150830T123600Z", "example.amazonaws.com",
        [("My-Header2", " value2   with  spaces ")], "Param1=value1",
    ),
    (
        "a call of KMS", None, "eu-west-1", "kms", "20261124T190405Z", "kms.eu-west-1.amazonaws.com",
        [("Content-Type", JSON), ("X-Amz-Target", "TrentService.Sign")], SIGN,
    ),
    (
        "a call of KMS with a session token and a port", "IQoJb3JpZ2luX2VjEXAMPLE//=+", "cn-north-1", "kms",
        "20991231T235959Z", "127.0.0.1:5000",
        [("Content-Type", JSON), ("X-Amz-Target", "TrentService.DescribeKey")], '{"KeyId":"ü"}',
    ),
    (
        "a call of STS", None, "us-gov-west-1", "sts", "20261124T000000Z", "sts.us-gov-west-1.amazonaws.com",
        [("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")],
        "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A111122223333%3Arole%2Fgateway",
    ),
]

CALLS = [
    "DescribeKey", "GetPublicKey", "Sign", "CreateKey", "CreateAlias", "UpdateKeyDescription",
    "GetParametersForImport", "ImportKeyMaterial", "DeleteImportedKeyMaterial", "ScheduleKeyDeletion",
]


def signature(case):
    name, token, region, service, time, host, headers, body = case
    request = AWSRequest("POST", f"https://{host}/", data=body.encode(), headers={"Host": host, **dict(headers)})
    now = datetime.datetime.strptime(time, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
    with unittest.mock.patch("botocore.auth.get_current_datetime", lambda: now):
        SigV4Auth(Credentials(*SUITE, token), service, region).add_auth(request)
    return {
        "name": name, "accessKeyId": SUITE[0], "secretAccessKey": SUITE[1], "sessionToken": token, "region": region,
        "service": service, "time": now.strftime("%Y-%m-%dT%H:%M:%S.000Z"), "host": host,
        "headers": [{"name": name, "value": value} for name, value in headers], "body": body,
        "authorization": request.headers["Authorization"],
    }


def shape(service, name):
    operation = service.operation_model(name)
    inputs, outputs = operation.input_shape, operation.output_shape

    def member(shape):
        return {"type": shape.type_name, "values": list(getattr(shape, "enum", []) or [])}

    return {
        "name": name,
        "target": f"{service.metadata['targetPrefix']}.{name}",
        "required": inputs.required_members,
        "members": {name: member(shape) for name, shape in inputs.members.items()},
        "answer": {name: shape.type_name for name, shape in (outputs.members if outputs else {}).items()},
    }


def write(name, **content):
    text = json.dumps(content, indent=2, ensure_ascii=False)
    (HERE / name).write_text(text + "\n")


version = f"botocore {botocore.__version__}"
write(
    "signatures.json",
    origin=f"botocore.auth.SigV4Auth of {version}, with the keys of AWS's test suite for Signature Version 4",
    cases=[{k: v for k, v in signature(case).items() if v is not None} for case in CASES],
)
model = botocore.loaders.Loader().load_service_model("kms", "service-2")
service = botocore.model.ServiceModel(model)
write(
    "shapes.json",
    origin=f"AWS's model of the KMS API in {version} (data/kms/2014-11-01/service-2.json)",
    version=service.metadata["jsonVersion"],
    calls=[shape(service, name) for name in CALLS],
    metadata={name: shape.type_name for name, shape in service.shape_for("KeyMetadata").members.items()},
)
