"""The signature creators of Apple's app-store-server-library, with signatures of a PrivySeal gateway.

Classes, methods and arguments have Apple's names and order. The signing key is ignored: pass None. The gateway is that
of PRIVYSEAL_URL and PRIVYSEAL_TOKEN_FILE, or of the arguments `url`, `token_file` and `ca_file`.
"""

import atexit
import base64
import functools
import json
import os
import uuid

import privyseal

try:
    from appstoreserverlibrary.jws_signature_creator import AdvancedCommerceAPIInAppRequest
    from appstoreserverlibrary.models.LibraryUtility import _get_cattrs_converter
except ImportError:
    # Without Apple's library, a request is a dictionary.
    _get_cattrs_converter = None

    class AdvancedCommerceAPIInAppRequest:
        pass


class OtherSigner(privyseal.PrivySealError):
    """The gateway signed with another key, or for another issuer or app, than the arguments say."""


class PromotionalOfferSignature(str):
    """The signature in Base64, with what the gateway chose. The app needs these values, not others."""

    def __new__(cls, answer):
        self = super().__new__(cls, answer["signature"])
        self.key_id, self.nonce, self.timestamp = answer["keyIdentifier"], uuid.UUID(answer["nonce"]), answer["timestamp"]
        return self


class PromotionalOfferSignatureCreator:
    def __init__(self, signing_key, key_id, bundle_id, *, url=None, token_file=None, ca_file=None, replace_nonce=None):
        """`replace_nonce`: `create_signature` accepts a nonce and a timestamp, although the gateway chooses others. The
        caller must send those of the result to the app. The default is PRIVYSEAL_REPLACE_NONCE=yes."""
        self._client = _client(url, token_file, ca_file)
        self._key_id, self._bundle_id = key_id, bundle_id
        if replace_nonce is None:
            replace_nonce = os.environ.get("PRIVYSEAL_REPLACE_NONCE") == "yes"
        self._replaces_nonce = replace_nonce

    def create_signature(
        self, product_identifier, subscription_offer_id, application_username, nonce=None, timestamp=None
    ):
        """A `PromotionalOfferSignature`. Like Apple's library, it signs the user in lower case."""
        if (nonce is not None or timestamp is not None) and not self._replaces_nonce:
            raise ValueError(
                "the gateway chooses nonce and timestamp: pass None for both, and send `nonce` and `timestamp` of the "
                "result to the app; or set replace_nonce if this is done"
            )
        answer = self._client.offer(
            self._bundle_id,
            "legacy-promotional-offer",
            {
                "productId": product_identifier,
                "offerIdentifier": subscription_offer_id,
                "applicationUsername": application_username.lower(),
            },
        )
        _expect({"key ID": (answer["keyIdentifier"], self._key_id)})
        return PromotionalOfferSignature(answer)


class JWSSignatureCreator:
    _audience = None

    def __init__(self, signing_key, key_id, issuer_id, bundle_id, *, url=None, token_file=None, ca_file=None):
        self._client = _client(url, token_file, ca_file)
        self._key_id, self._issuer_id, self._bundle_id = key_id, issuer_id, bundle_id

    def _create_signature(self, fields, optional=()):
        for name, value in fields.items():
            if value is None and name not in optional:
                raise ValueError(f"{name} must not be None")
        fields = {name: value for name, value in fields.items() if value is not None}
        jws = self._client.offer(self._bundle_id, self._audience, fields)["jws"]
        try:
            header, claims = map(_read_part, jws.split(".")[:2])
            found = header.get("kid"), claims.get("iss"), claims.get("bid"), claims.get("aud")
        except (ValueError, AttributeError):
            raise privyseal.InvalidAnswer("header and claims of the JWS are not JSON objects") from None
        asked = self._key_id, self._issuer_id, self._bundle_id, self._audience
        _expect(dict(zip(("key ID", "issuer ID", "bundle ID", "audience"), zip(found, asked))))
        return jws


class PromotionalOfferV2SignatureCreator(JWSSignatureCreator):
    _audience = "promotional-offer"

    def create_signature(self, product_id, offer_identifier, transaction_id):
        fields = {"productId": product_id, "offerIdentifier": offer_identifier, "transactionId": transaction_id}
        return self._create_signature(fields, optional={"transactionId"})


class IntroductoryOfferEligibilitySignatureCreator(JWSSignatureCreator):
    _audience = "introductory-offer-eligibility"

    def create_signature(self, product_id, allow_introductory_offer, transaction_id):
        return self._create_signature(
            {
                "productId": product_id,
                "allowIntroductoryOffer": allow_introductory_offer,
                "transactionId": transaction_id,
            }
        )


class AdvancedCommerceAPIInAppSignatureCreator(JWSSignatureCreator):
    _audience = "advanced-commerce-api"

    def create_signature(self, advanced_commerce_in_app_request):
        """`advanced_commerce_in_app_request`: an object of Apple's library, or a dictionary."""
        request = advanced_commerce_in_app_request
        if request is not None and not isinstance(request, dict):
            if _get_cattrs_converter is None:
                raise TypeError("without Apple's library, the request must be a dictionary")
            request = _get_cattrs_converter(type(request)).unstructure(request)
        return self._create_signature({"request": request})


def install():
    """Puts these classes in the place of Apple's, for code that imports them from Apple's library afterwards."""
    import appstoreserverlibrary.jws_signature_creator as jws_signature_creator
    import appstoreserverlibrary.promotional_offer as promotional_offer

    promotional_offer.PromotionalOfferSignatureCreator = PromotionalOfferSignatureCreator
    for creator in JWSSignatureCreator.__subclasses__():
        setattr(jws_signature_creator, creator.__name__, creator)


@functools.lru_cache(maxsize=None)
def _client(url, token_file, ca_file):
    """One client of a gateway for all creators, because they share its connections."""
    client = privyseal.Client.from_environment(url, token_file, ca_file)
    atexit.register(client.close)
    return client


def _read_part(part):
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def _expect(values):
    """`values`: what the gateway signed, and what the arguments say, if they say it."""
    for name, (found, asked) in values.items():
        if asked is not None and found != asked:
            raise OtherSigner(f"the {name} of the signature is {found}, not {asked}")
