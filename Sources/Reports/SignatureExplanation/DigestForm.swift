import Crypto
import Encodings
import FoundationEssentials

/// A way from the bytes to the signed digest.
struct DigestForm: Sendable {
    /// The mistake; nil for the correct way.
    let finding: Finding?
    let apply: @Sendable ([UInt8]) -> RawDigest

    static let sha256 = DigestForm(finding: nil) { RawDigest(SHA256.hash(data: $0)) }

    /// The first two are common.
    static let wrong = [
        form(.digestTwice, "The signed digest is the SHA-256 of a SHA-256: the digest was hashed once more.") {
            SHA256.hash(data: Array(SHA256.hash(data: $0)))
        },
        form(.digestHex, inHexadecimal) { SHA256.hash(data: hexadecimal($0)) },
        form(.digestHex, inHexadecimal) { SHA256.hash(data: hexadecimal($0, uppercase: true)) },
        form(.digestHex, "The hexadecimal text of the SHA-256 was given to the key as if it were the digest.") {
            hexadecimal($0)
        },
        form(.digestBase64, "The SHA-256 was hashed and signed as Base64 text, not as bytes.") {
            SHA256.hash(data: Base64.standard.encode(Array(SHA256.hash(data: $0))))
        },
        form(.digestSHA384, "The bytes were hashed with SHA-384; Apple verifies with SHA-256.", SHA384.hash(data:)),
        form(.digestSHA512, "The bytes were hashed with SHA-512; Apple verifies with SHA-256.", SHA512.hash(data:)),
        form(.digestSHA1, "The bytes were hashed with SHA-1; Apple verifies with SHA-256.", Insecure.SHA1.hash(data:)),
        form(.digestMissing, "The bytes were signed without being hashed: their first 32 were used as the digest.") {
            $0
        },
    ]

    private static let inHexadecimal = "The SHA-256 was hashed and signed as hexadecimal text, not as bytes."

    private static func form<Bytes: Sequence<UInt8> & SendableMetatype>(
        _ code: FindingCode, _ message: String, _ digest: @escaping @Sendable ([UInt8]) -> Bytes
    ) -> DigestForm { DigestForm(finding: Finding(code, message)) { RawDigest(digest($0)) } }

    private static func hexadecimal(_ bytes: [UInt8], uppercase: Bool = false) -> [UInt8] {
        Array(Hexadecimal.encode(SHA256.hash(data: bytes), uppercase: uppercase).utf8)
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
