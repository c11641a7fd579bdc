// Calls a creator with Apple's names for a test: one call for each line of standard input, as JSON.

import { createInterface } from "node:readline";

const library = await import(process.argv[2]);
const creators = {
  "promotional-offer": library.PromotionalOfferV2SignatureCreator,
  "introductory-offer-eligibility": library.IntroductoryOfferEligibilitySignatureCreator,
  "advanced-commerce-api": library.AdvancedCommerceInAppSignatureCreator,
};

async function signature({ feature, signingKey, keyId, issuerId, bundleId, arguments: values }) {
  if (feature === "not awaited") {
    return `${new creators["promotional-offer"](signingKey, keyId, issuerId, bundleId).createSignature(...values)}`;
  }
  if (feature === "legacy-promotional-offer") {
    const creator = new library.PromotionalOfferSignatureCreator(signingKey, keyId, bundleId);
    const found = await creator.createSignature(...values);
    return { signature: found, keyId: found.keyId, nonce: found.nonce, timestamp: found.timestamp };
  }
  return { signature: await new creators[feature](signingKey, keyId, issuerId, bundleId).createSignature(...values) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const result = await signature(JSON.parse(line)).catch((error) => ({ error: error.name, message: error.message }));
  console.log(JSON.stringify(result));
}
