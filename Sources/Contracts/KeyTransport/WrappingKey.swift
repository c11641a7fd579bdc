import Crypto
import CryptoExtras
import Glibc
public import SigningKit

/// The public half of a token's wrapping key, on the machine that wraps a key.
public struct WrappingKey {
    private let key: _RSA.Encryption.PublicKey
    public let fingerprint: PublicKeyFingerprint
    /// The hash that the token accepts, as stated in the file; SHA-1 if the file states none.
    public let hash: WrappingHash

    /// - Parameter text: a SubjectPublicKeyInfo (`-----BEGIN PUBLIC KEY-----`) of 2048 bits or more. The hash line of
    ///   `file(_:)` may precede it.
    public init(pem text: String) throws(KeyTransportError) {
        let start = text.firstRange(of: "-----BEGIN ")?.lowerBound ?? text.startIndex
        do { key = try _RSA.Encryption.PublicKey(pemRepresentation: String(text[start...])) } catch {
            throw KeyTransportError("The wrapping key is not an RSA public key of 2048 bits or more in PEM.")
        }
        fingerprint = PublicKeyFingerprint(ofDER: Array(key.derRepresentation))
        let stated = text[..<start].split(whereSeparator: \.isNewline).first { $0.hasPrefix(Self.hashLine) }
        guard let stated else {
            hash = .sha1
            return
        }
        guard let hash = WrappingHash(rawValue: String(stated.dropFirst(Self.hashLine.count))) else {
            throw KeyTransportError("The wrapping key's file names an unsupported hash: \(stated).")
        }
        self.hash = hash
    }

    /// The file format: a line with the hash before the PEM, where PEM readers ignore it (RFC 7468 §2).
    public static func file(_ key: GeneratedWrappingKey) -> String {
        "\(hashLine)\(key.hash.rawValue)\n" + PEM.text("PUBLIC KEY", key.der)
    }

    private static let hashLine = "RSA-OAEP hash: "

    /// From the numbers that a token shows, both big-endian.
    public init(modulus: [UInt8], exponent: [UInt8]) throws(KeyTransportError) {
        do { key = try _RSA.Encryption.PublicKey(n: modulus, e: exponent) } catch {
            throw KeyTransportError("The token's wrapping key is not an RSA key of 2048 bits or more.")
        }
        hash = .sha1
        fingerprint = PublicKeyFingerprint(ofDER: Array(key.derRepresentation))
    }

    /// The SubjectPublicKeyInfo.
    public var der: [UInt8] { Array(key.derRepresentation) }

    /// Wraps a key under a new AES-256 key that is not kept.
    ///
    /// - Parameter hash: replaces the hash stated in the file.
    public func wrap(_ material: KeyMaterial, _ hash: WrappingHash? = nil) throws(KeyTransportError) -> WrappedKey {
        let hash = hash ?? self.hash
        let aes = SymmetricKey(size: .bits256)
        do {
            let wrapped = try material.pkcs8.withBytes { plain in
                try PaddedKeyWrap.wrap(plain) { block in
                    var bytes = UnsafeMutableRawBufferPointer(rebasing: block[...])
                    try AES.permute(&bytes, key: aes)
                }
            }
            guard let wrapped else { throw KeyTransportError("The key has a size that no key has.") }
            let encrypted = try aes.withUnsafeBytes { try key.encrypt($0, padding: hash.padding) }
            return WrappedKey(
                wrappingKey: fingerprint, publicKey: material.publicKey, hash: hash,
                encryptedAESKey: Array(encrypted), encryptedKey: wrapped)
        } catch let error as KeyTransportError {
            throw error
        } catch {
            throw KeyTransportError("The key could not be wrapped.")
        }
    }
}

extension WrappingHash {
    fileprivate var padding: _RSA.Encryption.Padding {
        switch self {
        case .sha1: .PKCS1_OAEP
        case .sha256: .PKCS1_OAEP_SHA256
        }
    }
}

/// Why a key cannot be transported, as a sentence.
public struct KeyTransportError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ sentence: String) {
        description = sentence
    }
}

/// AES Key Wrap with Padding (RFC 5649) over any block cipher call: the AES key may be in a token. Only tokens unwrap.
public enum PaddedKeyWrap {
    /// - Parameters:
    ///   - plain: 9 bytes or more. Shorter input uses another method (RFC 5649 §4.1), and no key is that short.
    ///   - encrypt: AES over one block of 16 bytes, in place.
    /// - Returns: up to 15 bytes more than `plain`; nil if the input is too short or too long.
    public static func wrap<Failure: Error>(
        _ plain: UnsafeRawBufferPointer, encrypt: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8]? {
        guard plain.count > 8, plain.count <= 1 << 16 else { return nil }
        let count = (plain.count + 7) / 8
        var output = [UInt8](repeating: 0, count: 8 * (count + 1))
        output.replaceSubrange(8..<8 + plain.count, with: plain)
        // The alternative initial value (§3): a constant and the length of the plain text.
        var integrity: [UInt8] = [0xA6, 0x59, 0x59, 0xA6] + bigEndian(UInt32(plain.count))
        do throws(Failure) {
            // W of RFC 3394 §2.2.1, index-based.
            for round in 0..<6 {
                for index in 1...count {
                    try step(&integrity, &output, index, counter: UInt32(count * round + index), encrypt)
                }
            }
        } catch {
            // The buffer still holds parts of the plain text.
            output.withUnsafeMutableBytes { bytes in
                if let address = bytes.baseAddress { explicit_bzero(address, bytes.count) }
            }
            throw error
        }
        output.replaceSubrange(0..<8, with: integrity)
        return output
    }

    private static func step<Failure: Error>(
        _ integrity: inout [UInt8], _ output: inout [UInt8], _ index: Int, counter: UInt32,
        _ encrypt: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        var block = InlineArray<16, UInt8>(repeating: 0)
        defer { for offset in 0..<16 { block[offset] = 0 } }
        for offset in 0..<8 {
            block[offset] = integrity[offset]
            block[8 + offset] = output[8 * index + offset]
        }
        var span = block.mutableSpan
        try span.withUnsafeMutableBytes { bytes throws(Failure) in try encrypt(bytes) }
        let mask = bigEndian(counter)
        for offset in 0..<8 {
            integrity[offset] = block[offset] ^ (offset < 4 ? 0 : mask[offset - 4])
            output[8 * index + offset] = block[8 + offset]
        }
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
