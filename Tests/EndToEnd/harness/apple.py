"""The results of Apple's own library for the same input."""

from appstoreserverlibrary.jws_signature_creator import (
    AdvancedCommerceAPIInAppSignatureCreator,
    IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator,
)
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from appstoreserverlibrary.models.AdvancedCommerceRequestInfo import AdvancedCommerceRequestInfo
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionReactivateInAppRequest import (
    AdvancedCommerceSubscriptionReactivateInAppRequest,
)
from conftest import BUNDLE_ID, ISSUER_ID, KEY_ID


def promotional_offer(pem, request):
    creator = PromotionalOfferV2SignatureCreator(pem, KEY_ID, ISSUER_ID, BUNDLE_ID)
    return creator.create_signature(request["productId"], request["offerIdentifier"], request.get("transactionId"))


def introductory_offer_eligibility(pem, request):
    creator = IntroductoryOfferEligibilitySignatureCreator(pem, KEY_ID, ISSUER_ID, BUNDLE_ID)
    return creator.create_signature(
        request["productId"], request["allowIntroductoryOffer"], request["transactionId"]
    )


def legacy_creator(pem):
    return PromotionalOfferSignatureCreator(pem, KEY_ID, BUNDLE_ID)


def reactivation(pem, request):
    creator = AdvancedCommerceAPIInAppSignatureCreator(pem, KEY_ID, ISSUER_ID, BUNDLE_ID)
    info = AdvancedCommerceRequestInfo(requestReferenceId=request["requestInfo"]["requestReferenceId"])
    return creator.create_signature(
        AdvancedCommerceSubscriptionReactivateInAppRequest(
            requestInfo=info, transactionId=request["transactionId"], storefront=request["storefront"]
        )
    )
