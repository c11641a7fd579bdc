import SigningKit

/// A request that its feature has decoded.
struct PreparedRequest: Sendable {
    let subject: OfferSubject
    let compose: @Sendable (Grant) throws(FeatureError) -> ComposedRequest
}

/// The bytes to sign, and the function that makes the answer in JSON from their signature.
struct ComposedRequest: Sendable {
    let signingInput: [UInt8]
    let answer: @Sendable (P256Signature) -> [UInt8]
}
