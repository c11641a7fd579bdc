public import Crypto

/// A key that can sign, and cannot be read: there is no way to ask for the private part.
public protocol SigningKey: Sendable {
    var publicKey: P256.Signing.PublicKey { get }
    var custody: KeyCustody { get }
    /// Of the token that signs now; nil for a key that is not on one.
    var tokenSerial: String? { get }
    /// Whether each signature needs a login of its own, for which a person may have to type a PIN.
    var asksForEachSignature: Bool { get }

    /// Signs a digest of 32 bytes as it is: it is not hashed again.
    ///
    /// - Throws: `KeyError.busy` at once when the queue is full, `.cancelled` when the task is cancelled while it waits.
    func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature

    /// A person ordered a reload: a key that is left alone after failures is tried by the next signature.
    func tryAgain()
}

extension SigningKey {
    public var tokenSerial: String? { nil }
    public var asksForEachSignature: Bool { false }
    public func tryAgain() {}
}
