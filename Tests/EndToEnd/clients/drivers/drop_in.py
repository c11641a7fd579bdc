"""Calls a creator with Apple's names for a test: one call for each line of standard input, as JSON."""

import json
import sys

sys.path.insert(0, sys.argv[1])
import privyseal_appstoreserverlibrary as library  # noqa: E402

CREATORS = {
    "promotional-offer": library.PromotionalOfferV2SignatureCreator,
    "introductory-offer-eligibility": library.IntroductoryOfferEligibilitySignatureCreator,
    "advanced-commerce-api": library.AdvancedCommerceAPIInAppSignatureCreator,
}


def signature(call):
    if call["feature"] == "legacy-promotional-offer":
        creator = library.PromotionalOfferSignatureCreator(call["signingKey"], call["keyId"], call["bundleId"])
        found = creator.create_signature(*call["arguments"])
        return {"signature": found, "keyId": found.key_id, "nonce": str(found.nonce), "timestamp": found.timestamp}
    names = call["signingKey"], call["keyId"], call["issuerId"], call["bundleId"]
    return {"signature": CREATORS[call["feature"]](*names).create_signature(*call["arguments"])}


for line in sys.stdin:
    try:
        result = signature(json.loads(line))
    except Exception as error:
        result = {"error": type(error).__name__, "message": str(error)}
    print(json.dumps(result), flush=True)
