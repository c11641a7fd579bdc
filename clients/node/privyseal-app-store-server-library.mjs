// The signature creators of Apple's app-store-server-library, with signatures of a PrivySeal gateway.
//
// Classes, methods and arguments have Apple's names and order. The signing key is ignored: pass undefined. The gateway is
// that of PRIVYSEAL_URL and PRIVYSEAL_TOKEN_FILE, or of the last argument: {client} or {url, tokenFile, caFile}.
// Unlike Apple's, createSignature returns a promise.

import { Client, InvalidAnswer, PrivySealError } from "./privyseal.mjs";

/** The gateway signed with another key, or for another issuer or app, than the arguments say. */
export class OtherSigner extends PrivySealError {}

/** The signature in Base64, with what the gateway chose. The app needs these values, not others. */
export class PromotionalOfferSignature extends String {
  constructor({ signature, keyIdentifier, nonce, timestamp }) {
    super(signature);
    Object.assign(this, { keyId: keyIdentifier, nonce, timestamp });
  }
}

export class PromotionalOfferSignatureCreator {
  #client;
  #keyId;
  #bundleId;
  #replacesNonce;

  /**
   * `replaceNonce` of the last argument: createSignature accepts a nonce and a timestamp, although the gateway chooses
   * others. The caller must send those of the result to the app. The default is PRIVYSEAL_REPLACE_NONCE=yes.
   */
  constructor(signingKey, keyId, bundleId, { replaceNonce, ...gateway } = {}) {
    this.#client = clientOf(gateway);
    this.#keyId = keyId;
    this.#bundleId = bundleId;
    this.#replacesNonce = replaceNonce ?? process.env.PRIVYSEAL_REPLACE_NONCE === "yes";
  }

  /** A promise of a PromotionalOfferSignature. Like Apple's library, it signs the user in lower case. */
  createSignature(productIdentifier, subscriptionOfferID, appAccountToken, nonce, timestamp) {
    return awaited(async () => {
      if ((nonce ?? timestamp ?? undefined) !== undefined && !this.#replacesNonce) {
        throw new TypeError(
          "the gateway chooses nonce and timestamp: pass undefined for both, and send `nonce` and `timestamp` of the " +
            "result to the app; or set replaceNonce if this is done",
        );
      }
      const answer = await this.#client.offer(this.#bundleId, "legacy-promotional-offer", {
        productId: productIdentifier,
        offerIdentifier: subscriptionOfferID,
        applicationUsername: appAccountToken.toLowerCase(),
      });
      expect("key ID", answer.keyIdentifier, this.#keyId);
      return new PromotionalOfferSignature(answer);
    });
  }
}

class JWSSignatureCreator {
  #audience;
  #client;
  #keyId;
  #issuerId;
  #bundleId;

  constructor(audience, keyId, issuerId, bundleId, gateway) {
    this.#audience = audience;
    this.#client = clientOf(gateway);
    this.#keyId = keyId;
    this.#issuerId = issuerId;
    this.#bundleId = bundleId;
  }

  _create(fields) {
    return awaited(async () => {
      const { jws } = await this.#client.offer(this.#bundleId, this.#audience, fields());
      const [header, claims] = jws.split(".", 2).map(readPart);
      expect("key ID", header.kid, this.#keyId);
      expect("issuer ID", claims.iss, this.#issuerId);
      expect("bundle ID", claims.bid, this.#bundleId);
      expect("audience", claims.aud, this.#audience);
      return jws;
    });
  }
}

export class PromotionalOfferV2SignatureCreator extends JWSSignatureCreator {
  constructor(signingKey, keyId, issuerId, bundleId, gateway = {}) {
    super("promotional-offer", keyId, issuerId, bundleId, gateway);
  }

  createSignature(productId, offerIdentifier, transactionId) {
    // JSON has no member for undefined.
    return this._create(() => ({ productId, offerIdentifier, transactionId: transactionId ?? undefined }));
  }
}

export class IntroductoryOfferEligibilitySignatureCreator extends JWSSignatureCreator {
  constructor(signingKey, keyId, issuerId, bundleId, gateway = {}) {
    super("introductory-offer-eligibility", keyId, issuerId, bundleId, gateway);
  }

  createSignature(productId, allowIntroductoryOffer, transactionId) {
    return this._create(() => ({ productId, allowIntroductoryOffer, transactionId }));
  }
}

export class AdvancedCommerceInAppSignatureCreator extends JWSSignatureCreator {
  constructor(signingKey, keyId, issuerId, bundleId, gateway = {}) {
    super("advanced-commerce-api", keyId, issuerId, bundleId, gateway);
  }

  createSignature(AdvancedCommerceInAppRequest) {
    return this._create(() => ({ request: AdvancedCommerceInAppRequest }));
  }
}

let defaultClient;

function clientOf({ client, ...options }) {
  if (client) return client;
  if (Object.keys(options).length > 0) return Client.fromEnvironment(options);
  // One client for all creators, because they share its connections.
  return (defaultClient ??= Client.fromEnvironment());
}

/** Code that does not await the promise must not send "[object Promise]" to an app. */
function awaited(create) {
  const refuse = () => {
    throw new TypeError("createSignature returns a promise: await it");
  };
  return Object.assign(create(), { toString: refuse, toJSON: refuse });
}

function readPart(part) {
  try {
    const value = JSON.parse(Buffer.from(part, "base64url").toString());
    if (value && typeof value === "object" && !Array.isArray(value)) return value;
  } catch {
    // The error below says more.
  }
  throw new InvalidAnswer("header and claims of the JWS are not JSON objects");
}

/** `asked`: what the arguments say, if they say it. */
function expect(name, found, asked) {
  if ((asked ?? found) !== found) throw new OtherSigner(`the ${name} of the signature is ${found}, not ${asked}`);
}
