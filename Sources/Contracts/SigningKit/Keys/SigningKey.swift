public import Crypto

/// A key that can sign but cannot be read: there is no access to the private part.
public protocol SigningKey: Sendable {
    var publicKey: P256.Signing.PublicKey { get }
    var custody: KeyCustody { get }
    /// The serial number of the current token; nil for a key outside a token.
    var tokenSerial: String? { get }
    var proofSchedule: ProofSchedule { get }

    /// Signs a digest of 32 bytes as it is, without hashing it again.
    ///
    /// - Throws: `KeyError.busy` at once if the queue is full, `.cancelled` if the task is cancelled while it waits.
    func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature

    /// Ends the failure pause after an operator ordered a reload: the next signature tries the key again.
    func endFailurePause()
}

extension SigningKey {
    public var tokenSerial: String? { nil }
    public var proofSchedule: ProofSchedule { .unlimited }
    public func endFailurePause() {}
}
