import Crypto
import Encodings
import FoundationEssentials

/// A way from the bytes to the signed digest.
struct DigestForm: Sendable {
    /// The mistake; nil for the correct way.
    let finding: Finding?
    let apply: @Sendable ([UInt8]) -> RawDigest

    private init(_ finding: Finding?, apply: @escaping @Sendable ([UInt8]) -> RawDigest) {
        self.finding = finding
        self.apply = apply
    }

    private init(_ code: FindingCode, _ message: String, apply: @escaping @Sendable ([UInt8]) -> RawDigest) {
        self.init(Finding(code, message), apply: apply)
    }

    static let sha256 = DigestForm(nil) { RawDigest(SHA256.hash(data: $0)) }

    /// The first two are common.
    static let wrong = [
        DigestForm(.digestTwice, "The signed digest is the SHA-256 of a SHA-256: the digest was hashed once more.") {
            again(Array(SHA256.hash(data: $0)))
        },
        DigestForm(.digestHexadecimal, "The SHA-256 was hashed and signed as hexadecimal text, not as bytes.") {
            again(hexadecimal($0))
        },
        DigestForm(.digestHexadecimal, "The SHA-256 was hashed and signed as hexadecimal text, not as bytes.") {
            again(Array(Hexadecimal.encode(SHA256.hash(data: $0), uppercase: true).utf8))
        },
        DigestForm(
            .digestHexadecimal, "The hexadecimal text of the SHA-256 was given to the key as if it were the digest."
        ) { RawDigest(hexadecimal($0)) },
        DigestForm(.digestBase64, "The SHA-256 was hashed and signed as Base64 text, not as bytes.") {
            again(Base64.standard.encode(Array(SHA256.hash(data: $0))))
        },
        DigestForm(.digestSHA384, "The bytes were hashed with SHA-384; Apple verifies with SHA-256.") {
            RawDigest(SHA384.hash(data: $0))
        },
        DigestForm(.digestSHA512, "The bytes were hashed with SHA-512; Apple verifies with SHA-256.") {
            RawDigest(SHA512.hash(data: $0))
        },
        DigestForm(.digestSHA1, "The bytes were hashed with SHA-1; Apple verifies with SHA-256.") {
            RawDigest(Insecure.SHA1.hash(data: $0))
        },
        DigestForm(
            .digestMissing, "The bytes were signed without being hashed: their first 32 were used as the digest."
        ) { RawDigest($0) },
    ]

    private static func again(_ digest: [UInt8]) -> RawDigest { RawDigest(SHA256.hash(data: digest)) }

    private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        Array(Hexadecimal.encode(SHA256.hash(data: bytes)).utf8)
    }
}

/// The 32-byte input of ECDSA over P-256. A longer digest is cut to its first 32 bytes, and a shorter one gets leading
/// zeros (FIPS 186-5 §6.4.2). The result of every hashing mistake therefore has 32 bytes, too.
///
/// FoundationEssentials is imported for `ContiguousBytes`, which `Digest` requires.
struct RawDigest: Digest {
    static let byteCount = 32
    let bytes: [UInt8]

    init(_ digest: some Sequence<UInt8>) {
        let bytes = Array(digest.prefix(Self.byteCount))
        self.bytes = Array(repeating: 0, count: Self.byteCount - bytes.count) + bytes
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    var description: String { Hexadecimal.encode(bytes) }
}
