import Crypto
import SigningKit
import StrictJSON
import Synchronization

/// The keys of an issuer, and the tokens that they have verified: a caller sends one token many times.
final class KeySet: Sendable {
    let keys: [VerificationKey]
    private let verified = Mutex<[SHA256Digest: WorkloadIdentity]>([:])

    /// In bytes. The sets of large providers have about 10 KiB.
    static let maximumLength = 256 << 10
    private static let maximumKeys = 100
    /// Of remembered tokens, with the length of each in bytes.
    private static let (maximumTokens, maximumTokenLength) = (4096, 4096)

    /// Reads a JWK set (RFC 7517 §5). Keys of other kinds are ignored. A set without keys is valid: its issuer has revoked all.
    init(_ text: [UInt8]) throws(KeySetError) {
        guard text.count <= Self.maximumLength else { throw .tooLarge }
        let root: JSONValue
        do { root = try JSONDocument(parsing: text).root } catch { throw .notAKeySet(Self.reason(error)) }
        let elements: [JSONValue]
        do throws(JSONReadError) {
            elements = try root.anyObject().required("keys") { value throws(JSONReadError) in try value.elements() }
        } catch {
            throw .notAKeySet(Self.reason(error))
        }
        guard elements.count <= Self.maximumKeys else {
            throw .notAKeySet("it has \(elements.count) keys; \(Self.maximumKeys) are allowed")
        }
        keys = elements.compactMap { element in (try? element.anyObject()).flatMap(VerificationKey.init) }
    }

    /// A sentence without its period.
    private static func reason(_ error: some Error) -> String {
        let sentence = "\(error)"
        return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }

    /// The identity of a token that these keys have verified before.
    func identity(of token: SHA256Digest) -> WorkloadIdentity? { verified.withLock { $0[token] } }

    /// A long token is not remembered: anybody to whom the issuer gives tokens chooses some of its claims.
    func remember(_ identity: WorkloadIdentity, of token: SHA256Digest, length: Int, at now: Timestamp) {
        guard length <= Self.maximumTokenLength else { return }
        verified.withLock { verified in
            if verified.count >= Self.maximumTokens {
                verified = verified.filter { $0.value.expires > now }
                if verified.count >= Self.maximumTokens { verified.removeAll(keepingCapacity: true) }
            }
            verified[token] = identity
        }
    }
}
