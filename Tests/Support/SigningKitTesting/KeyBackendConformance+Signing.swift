import Crypto
import SigningKit
import Testing

extension KeyBackendConformance {
    /// 2,048 signatures are valid, and in some of them r or s begins with a zero byte.
    public func signsManyDigests() async throws {
        try await withKey { key in
            var short = 0
            for index in 0..<2048 {
                let digest = SHA256.hash(data: Array("message \(index)".utf8))
                let signature = try await key.sign(digest)
                #expect(Self.isValid(signature, digest, key))
                #expect(P256Signature(derRepresentation: signature.derRepresentation) == signature)
                if signature.rawRepresentation[0] == 0 || signature.rawRepresentation[32] == 0 { short += 1 }
            }
            // One signature in 128 is short. The chance that none of 2,048 is short is one in nine million.
            #expect(short > 0)
        }
    }

    /// Extreme digests are signed unchanged: the backend does not hash, truncate or reduce them again.
    public func signsExtremeDigests() async throws {
        try await withKey { key in
            for bytes in ExtremeDigest.all {
                let digest = ExtremeDigest.digest(bytes)
                let signature = try await key.sign(digest)
                #expect(Self.isValid(signature, digest, key), "\(bytes)")
            }
        }
    }

    /// 32 tasks sign 32 digests each, and each gets the signature of its own digest.
    public func signsForManyAtOnce() async throws {
        try await withKey { key in
            let valid = try await withThrowingTaskGroup(of: Int.self) { group in
                for task in 0..<32 {
                    group.addTask {
                        var valid = 0
                        for index in 0..<32 {
                            let digest = SHA256.hash(data: Array("\(task)/\(index)".utf8))
                            if Self.isValid(try await key.sign(digest), digest, key) { valid += 1 }
                        }
                        return valid
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(valid == 32 * 32)
        }
    }

    static func isValid(_ signature: P256Signature, _ digest: SHA256Digest, _ key: any SigningKey) -> Bool {
        key.publicKey.verifies(signature, of: digest)
    }
}

/// Extreme 32-byte values as digests; no message with such a digest is known.
enum ExtremeDigest {
    /// The order n of P-256 (SEC 2 §2.4.2).
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// 0, 1, n − 1, n, n + 1, a high bit alone, all ones.
    static let all: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32),
        [UInt8](repeating: 0, count: 31) + [1],
        order.dropLast() + [0x50],
        order,
        order.dropLast() + [0x52],
        [0x80] + [UInt8](repeating: 0, count: 31),
        [UInt8](repeating: 0xFF, count: 32),
    ]

    /// swift-crypto creates a digest only by hashing, so this function overwrites the bytes of one.
    static func digest(_ bytes: [UInt8]) -> SHA256Digest {
        var digest = SHA256.hash(data: [UInt8]())
        precondition(MemoryLayout<SHA256Digest>.size == 32 && bytes.count == 32)
        withUnsafeMutableBytes(of: &digest) { $0.copyBytes(from: bytes) }
        precondition(Array(digest) == bytes, "swift-crypto lays out a digest in another way")
        return digest
    }
}
