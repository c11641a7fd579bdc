public import Crypto
import Encodings
import StrictJSON

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

    /// The same without a task, for a process that signs for others.
    ///
    /// - Parameter receive: gets the result once, on any thread, perhaps before this call returns. It returns at once.
    func sign(_ digest: SHA256Digest, receive: @escaping SignatureReceiver)

    /// Whether `sign` computes on the calling thread, without waiting.
    var signsInCaller: Bool { get }

    /// The key made a signature that does not verify, and that was not released.
    func madeWrongSignature()

    /// Ends the failure pause after an operator ordered a reload: the next signature tries the key again.
    func endFailurePause()
}

public typealias SignatureReceiver = @Sendable (Result<P256Signature, KeyError>) -> Void

extension SigningKey {
    /// For keys whose calls are asynchronous.
    public func sign(_ digest: SHA256Digest, receive: @escaping SignatureReceiver) {
        Task {
            let result: Result<P256Signature, KeyError>
            do throws(KeyError) { result = .success(try await sign(digest)) } catch { result = .failure(error) }
            receive(result)
        }
    }

    public var signsInCaller: Bool { false }
    public func madeWrongSignature() {}
    public var tokenSerial: String? { nil }
    public var proofSchedule: ProofSchedule { .unlimited }
    public func endFailurePause() {}
}

/// The holder of the private key.
public enum KeyCustody: String, Codable, Sendable {
    /// A process on this machine holds it in memory.
    case process
    /// A token holds it and does not reveal it.
    case token
    /// A remote service holds it and does not reveal it. Each signature is a call over the network.
    case service
}

/// How often a key proves that it can sign. Each proof costs a signature. For a key that sets a limit here, each verified
/// signature for a request counts as a proof, too.
public struct ProofSchedule: Hashable, Codable, Sendable {
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

/// The SHA-256 of a public key's SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7), which pins a key.
/// `openssl pkey -pubin -outform DER | sha256sum` prints the same digits.
public struct PublicKeyFingerprint: Hashable, Sendable {
    /// 32 bytes.
    public let bytes: [UInt8]

    public init(of key: P256.Signing.PublicKey) {
        bytes = Array(SHA256.hash(data: key.derRepresentation))
    }

    /// - Parameter subjectPublicKeyInfo: of any key type, in DER.
    public init(ofDER subjectPublicKeyInfo: [UInt8]) {
        bytes = Array(SHA256.hash(data: subjectPublicKeyInfo))
    }

    /// Reads `sha256:` and 64 hexadecimal digits of either case, with or without colons between the bytes.
    public init?(_ text: String) {
        let prefix = "sha256:"
        guard text.lowercased().hasPrefix(prefix) else { return nil }
        let digits = text.dropFirst(prefix.count).filter { $0 != ":" }
        guard digits.utf8.count == 64, let bytes = Hexadecimal.decode(digits.utf8) else { return nil }
        self.bytes = bytes
    }
}

extension PublicKeyFingerprint: CustomStringConvertible {
    /// `sha256:` and 64 lower-case digits.
    public var description: String { "sha256:" + Hexadecimal.encode(bytes) }
}

extension PublicKeyFingerprint: Codable {
    public init(from decoder: any Decoder) throws {
        guard let fingerprint = Self(try decoder.singleValueContainer().decode(String.self)) else {
            throw JSONReadError(.invalid("must be sha256: and 64 hexadecimal digits"))
        }
        self = fingerprint
    }

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension P256.Signing.PublicKey {
    /// Reads a SubjectPublicKeyInfo in DER (RFC 5480 §2), with the point uncompressed or compressed (SEC 1 §2.3.3).
    ///
    /// swift-crypto's own parser reads only the point, so it accepts a point under another curve's name.
    ///
    /// - Returns: nil unless the algorithm is `id-ecPublicKey`, the parameters name P-256 and the point is on it.
    public init?(subjectPublicKeyInfo der: [UInt8]) {
        // With this algorithm and a point of this length, all bytes before the point are fixed.
        let key: P256.Signing.PublicKey?
        if der.starts(with: [0x30, 0x59] + Self.algorithm + [0x03, 0x42, 0x00, 0x04]), der.count == 91 {
            key = try? P256.Signing.PublicKey(x963Representation: der.suffix(65))
        } else if der.starts(with: [0x30, 0x39] + Self.algorithm + [0x03, 0x22, 0x00]), der.count == 59 {
            key = try? P256.Signing.PublicKey(compressedRepresentation: der.suffix(33))
        } else {
            key = nil
        }
        guard let key else { return nil }
        self = key
    }

    /// AlgorithmIdentifier: id-ecPublicKey 1.2.840.10045.2.1, secp256r1 1.2.840.10045.3.1.7.
    private static let algorithm: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
}
