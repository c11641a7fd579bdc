public import Crypto
public import SigningKit

/// Who had what signed, with which key. No payload, no signature, and of the user a keyed hash only.
public struct SignatureRecord: Sendable {
    public var client: String
    public var app: String
    public var feature: String
    public var keyID: String
    /// Base64url of the SHA-256 of the key's SubjectPublicKeyInfo.
    public var fingerprint: [UInt8]
    /// Of the token that signed; nil for a key in a file.
    public var tokenSerial: String?
    public var subject: OfferSubject
    /// See `UserHash`; nil where the request names no user.
    public var user: [UInt8]?
    /// SHA-256 of the signing input.
    public var digest: SHA256Digest
    public var nonce: Nonce
    public var requestID: String
    /// Position in a batch, from 0; nil for a request of its own.
    public var item: Int?
    /// From asking the key to its verified signature, in microseconds.
    public var keyMicroseconds: Int
    /// From the request's arrival to handing the record over, in microseconds.
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
