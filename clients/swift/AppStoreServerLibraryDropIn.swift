// The signature creators of Apple's app-store-server-library, with signatures of a PrivySeal gateway. Add this file and
// PrivySealClient.swift to your target: its types hide those of `import AppStoreServerLibrary`.
//
// Types, methods and arguments have Apple's names and order. The private key is ignored: pass "". The gateway is that of
// PRIVYSEAL_URL and PRIVYSEAL_TOKEN_FILE, or of the argument `client`.

import Foundation

/// The gateway signed with another key, or for another issuer or app, than the arguments say.
public struct OtherSigner: Error, Sendable, CustomStringConvertible {
    public var description: String
}

/// A legacy signature, with what the gateway chose. The app needs these values, not others.
public struct PromotionalOfferSignature: Sendable {
    /// DER in Base64.
    public var signature: String
    public var keyId: String
    public var nonce: UUID
    /// Milliseconds since 1970.
    public var timestamp: Int64
}

public struct PromotionalOfferSignatureCreator: Sendable {
    private let client: PrivySealClient
    private let keyId: String
    private let bundleId: String

    public init(privateKey: String, keyId: String, bundleId: String, client: PrivySealClient? = nil) throws {
        self.client = try client ?? sharedClient.get()
        self.keyId = keyId
        self.bundleId = bundleId
    }

    /// Like Apple's library, this signs the user in lower case.
    public func createSignature(
        productIdentifier: String, subscriptionOfferID: String, appAccountToken: String
    ) async throws -> PromotionalOfferSignature {
        let fields = [
            "productId": productIdentifier, "offerIdentifier": subscriptionOfferID,
            "applicationUsername": appAccountToken.lowercased(),
        ]
        let offer = try await client.offer(bundleId: bundleId, feature: "legacy-promotional-offer", fields: fields)
        guard let signature = offer.signature, let nonce = offer.nonce.flatMap(UUID.init),
            let timestamp = offer.timestamp,
            let signer = offer.keyIdentifier
        else { throw PrivySealClient.InvalidAnswer(reason: "a member is missing") }
        try expect("key ID", signer, keyId)
        return PromotionalOfferSignature(signature: signature, keyId: signer, nonce: nonce, timestamp: timestamp)
    }

    @available(
        *, unavailable, message: "The gateway chooses nonce and timestamp: leave them out, and use those of the result."
    )
    public func createSignature(
        productIdentifier: String, subscriptionOfferID: String, appAccountToken: String, nonce: UUID, timestamp: Int64
    ) throws -> String {
        throw PrivySealClient.InvalidSetting(description: "the gateway chooses nonce and timestamp")
    }
}

public struct PromotionalOfferV2SignatureCreator: Sendable {
    private let creator: JWSCreator

    public init(
        signingKey: String, keyId: String, issuerId: String, bundleId: String, client: PrivySealClient? = nil
    ) throws {
        creator = try JWSCreator("promotional-offer", keyId, issuerId, bundleId, client)
    }

    public func createSignature(
        productId: String, offerIdentifier: String, transactionId: String? = nil
    ) async throws -> String {
        struct Fields: Encodable { var productId, offerIdentifier: String, transactionId: String? }
        return try await creator.create(
            Fields(productId: productId, offerIdentifier: offerIdentifier, transactionId: transactionId))
    }
}

public struct IntroductoryOfferEligibilitySignatureCreator: Sendable {
    private let creator: JWSCreator

    public init(
        signingKey: String, keyId: String, issuerId: String, bundleId: String, client: PrivySealClient? = nil
    ) throws {
        creator = try JWSCreator("introductory-offer-eligibility", keyId, issuerId, bundleId, client)
    }

    public func createSignature(
        productId: String, allowIntroductoryOffer: Bool, transactionId: String
    ) async throws -> String {
        struct Fields: Encodable { var productId: String, allowIntroductoryOffer: Bool, transactionId: String }
        return try await creator.create(
            Fields(productId: productId, allowIntroductoryOffer: allowIntroductoryOffer, transactionId: transactionId))
    }
}

public struct AdvancedCommerceInAppSignatureCreator: Sendable {
    private let creator: JWSCreator

    public init(
        signingKey: String, keyId: String, issuerId: String, bundleId: String, client: PrivySealClient? = nil
    ) throws {
        creator = try JWSCreator("advanced-commerce-api", keyId, issuerId, bundleId, client)
    }

    /// Takes the requests of Apple's library, and any other type that is encodable.
    public func createSignature(advancedCommerceInAppRequest: some Encodable) async throws -> String {
        let encoder = JSONEncoder()
        // Apple's library encodes dates as whole milliseconds since 1970.
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var value = encoder.singleValueContainer()
            try value.encode(Int64(date.timeIntervalSince1970 * 1000))
        }
        return try await creator.create(["requestData": encoder.encode(advancedCommerceInAppRequest)])
    }
}

private struct JWSCreator: Sendable {
    private struct Header: Decodable { var kid: String }
    private struct Claims: Decodable { var iss, bid, aud: String }

    private let audience, keyId, issuerId, bundleId: String
    private let client: PrivySealClient

    init(_ audience: String, _ keyId: String, _ issuerId: String, _ bundleId: String, _ client: PrivySealClient?) throws
    {
        self.audience = audience
        self.keyId = keyId
        self.issuerId = issuerId
        self.bundleId = bundleId
        self.client = try client ?? sharedClient.get()
    }

    func create(_ fields: some Encodable) async throws -> String {
        let jws = try await client.offer(bundleId: bundleId, feature: audience, fields: fields).jws ?? ""
        let parts = jws.split(separator: ".")
        guard parts.count == 3, let header = Self.read(Header.self, parts[0]),
            let claims = Self.read(Claims.self, parts[1])
        else { throw PrivySealClient.InvalidAnswer(reason: "header and claims of the JWS are not those of an offer") }
        try expect("key ID", header.kid, keyId)
        try expect("issuer ID", claims.iss, issuerId)
        try expect("bundle ID", claims.bid, bundleId)
        try expect("audience", claims.aud, audience)
        return jws
    }

    private static func read<Value: Decodable>(_: Value.Type, _ part: Substring) -> Value? {
        let text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text + padding).flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }
}

/// One client for all creators, because they share its connections.
private let sharedClient = Result { try PrivySealClient.fromEnvironment() }

/// `asked`: what the arguments say. An empty text says nothing.
private func expect(_ name: String, _ found: String, _ asked: String) throws {
    guard asked.isEmpty || found == asked else {
        throw OtherSigner(description: "the \(name) of the signature is \(found), not \(asked)")
    }
}
