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

/// The holder of the private key.
public enum KeyCustody: String, Codable, Sendable {
    /// This process holds it in memory.
    case process
    /// A token holds it and does not reveal it.
    case token
    /// A remote service holds it and does not reveal it. Each signature is a call over the network.
    case service
}

/// How often a key proves that it can sign. Each proof costs a signature. For a key that sets a limit here, each verified
/// signature for a request counts as a proof, too.
public struct ProofSchedule: Hashable, Sendable {
    /// The minimum age of a proof before the next one; nil if a proof counts until a signature fails.
    public var interval: Duration?
    /// The minimum time between two attempts while the key does not sign.
    public var retryInterval: Duration

    public init(interval: Duration?, retryInterval: Duration = .zero) {
        self.interval = interval
        self.retryInterval = retryInterval
    }

    /// Whenever the gateway wants one: at its `proofInterval`, for `/readyz`, and each second while the key is down.
    public static let unlimited = ProofSchedule(interval: .zero)
    /// One proof when the key is opened, and then only after a failure.
    public static let onDemand = ProofSchedule(interval: nil)
}

/// A message that proves that a key can sign, and has no other use.
///
/// It starts with a fixed text and a NUL. So it is neither a JWS signing input (ASCII that starts with Base64url of
/// `{`) nor a legacy one (fields without control characters). A random nonce makes each message unique.
public struct ProofOfPossession {
    public static let prefix = Array("PrivySeal proof of possession v1\0".utf8)

    public let digest: SHA256Digest

    public init() {
        var random = SystemRandomNumberGenerator()
        var hash = SHA256()
        hash.update(data: Self.prefix)
        hash.update(data: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        digest = hash.finalize()
    }
}

extension P256.Signing.PublicKey {
    /// Verifies with swift-crypto. No key signs with this implementation, so one defect cannot be in both.
    public func verifies(_ signature: P256Signature, of digest: SHA256Digest) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature.bytes) else { return false }
        return isValidSignature(signature, for: digest)
    }
}
