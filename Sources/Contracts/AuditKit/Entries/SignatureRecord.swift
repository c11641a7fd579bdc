public import Crypto
public import SigningKit

/// A released signature. It holds no payload, no signature, and only a keyed hash of the user.
public struct SignatureRecord: Sendable {
    public var client: String
    public var app: String
    public var feature: String
    public var keyID: String
    /// Base64url of the SHA-256 of the key's SubjectPublicKeyInfo.
    public var fingerprint: [UInt8]
    /// The serial number of the token that signed; nil for a key in a file.
    public var tokenSerial: String?
    public var subject: OfferSubject
    /// A keyed hash, see `UserHash`; nil if the request names no user.
    public var user: [UInt8]?
    /// SHA-256 of the signing input.
    public var digest: SHA256Digest
    public var nonce: Nonce
    public var requestID: String
    /// Position in a batch, from 0; nil for a single request.
    public var item: Int?
    /// Microseconds from the call of the key to the verified signature.
    public var keyMicroseconds: Int
    /// Microseconds from the request's arrival to the creation of this record.
    public var requestMicroseconds: Int

    public init(
        client: String, app: String, feature: String, keyID: String, fingerprint: [UInt8], tokenSerial: String?,
        subject: OfferSubject, user: [UInt8]?, digest: SHA256Digest, nonce: Nonce, requestID: String, item: Int?,
        keyMicroseconds: Int, requestMicroseconds: Int
    ) {
        self.client = client
        self.app = app
        self.feature = feature
        self.keyID = keyID
        self.fingerprint = fingerprint
        self.tokenSerial = tokenSerial
        self.subject = subject
        self.user = user
        self.digest = digest
        self.nonce = nonce
        self.requestID = requestID
        self.item = item
        self.keyMicroseconds = keyMicroseconds
        self.requestMicroseconds = requestMicroseconds
    }
}
