import Encodings
public import SigningKit
public import StrictJSON

/// The values that the app passes to StoreKit: `keyIdentifier`, `nonce`, `timestamp` (milliseconds, a number),
/// `signature` (DER in padded Base64).
public struct LegacyPromotionalOfferAnswer: JSONWritable, Sendable {
    public let signature: P256Signature
    public let grant: Grant

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("keyIdentifier", grant.app.keyID)
            writer.member("nonce", unescaped: grant.nonce.text)
            writer.member("timestamp", grant.issuedAt.milliseconds)
            writer.member("signature", unescaped: Base64.standard.encode(signature.derRepresentation))
        }
    }
}
