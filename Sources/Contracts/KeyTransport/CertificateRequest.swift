public import Crypto
import Encodings
import Foundation
public import SigningKit

/// A certification request (PKCS #10, RFC 2986) for a P-256 key, in DER.
public struct CertificateRequest: Sendable {
    /// The `CertificationRequestInfo`, which the key signs.
    public let unsigned: [UInt8]

    /// - Parameter subject: such as `CN=example,O=Example GmbH,C=DE`; CN, O, OU, L, ST, C. A comma in a value is `\,`.
    public init(subject: String, publicKey: P256.Signing.PublicKey) throws(KeyTransportError) {
        let version: [UInt8] = [0x02, 0x01, 0x00]
        unsigned = DER.sequence(
            version + (try DistinguishedName(subject).der) + Array(publicKey.derRepresentation) + [0xA0, 0x00])
    }

    /// SHA-256 of `unsigned`, which the key signs.
    public var digest: SHA256Digest { SHA256.hash(data: unsigned) }

    public func signed(_ signature: P256Signature) throws(KeyTransportError) -> [UInt8] {
        guard let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature.bytes) else {
            throw KeyTransportError("The token's signature is not one of P-256.")
        }
        return DER.sequence(unsigned + Self.ecdsaWithSHA256 + DER.element(0x03, [0x00] + parsed.derRepresentation))
    }

    /// 1.2.840.10045.4.3.2 (RFC 5758 §3.2), without parameters.
    private static let ecdsaWithSHA256 = DER.sequence([0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02])
}

/// A `Name` (RFC 5280 §4.1.2.4) from a subset of the text form of RFC 4514: one attribute in each RDN.
struct DistinguishedName {
    let der: [UInt8]

    init(_ text: String) throws(KeyTransportError) {
        var names: [UInt8] = []
        for part in Self.parts(of: text) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let kind = pair[0].trimmingCharacters(in: .whitespaces).uppercased()
            let value = pair.count == 2 ? pair[1].trimmingCharacters(in: .whitespaces) : ""
            guard let type = Self.types[kind], !value.isEmpty, value.utf8.count <= 64 else {
                throw KeyTransportError(
                    "The subject must be like CN=example,O=Example,C=DE, with CN, O, OU, L, ST and C, and 1 to 64 bytes "
                        + "for each.")
            }
            guard kind != "C" || (value.utf8.count == 2 && value.allSatisfy { $0.isASCII && $0.isLetter }) else {
                throw KeyTransportError("The subject's C must be a country code of two letters.")
            }
            // C is a PrintableString, all others are UTF8String (RFC 5280 appendix A).
            let encoded = DER.element(kind == "C" ? 0x13 : 0x0C, Array(value.utf8))
            names += DER.element(0x31, DER.sequence([0x06, 0x03, 0x55, 0x04, type] + encoded))
        }
        guard !names.isEmpty else { throw KeyTransportError("The subject is empty; give one like CN=example.") }
        der = DER.sequence(names)
    }

    /// The last arc of the OID, below 2.5.4.
    private static let types: [String: UInt8] = ["CN": 3, "C": 6, "L": 7, "ST": 8, "O": 10, "OU": 11]

    private static func parts(of text: String) -> [String] {
        var parts = [""]
        var isEscaped = false
        for character in text {
            if isEscaped {
                parts[parts.count - 1].append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "," {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts
    }
}

/// A writer for the subset of DER (X.690 §8.1) used here.
enum DER {
    static func sequence(_ content: [UInt8]) -> [UInt8] { element(0x30, content) }

    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        switch count {
        case ..<0x80: return [tag, UInt8(count)] + content
        case ..<0x100: return [tag, 0x81, UInt8(count)] + content
        default: return [tag, 0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)] + content
        }
    }
}

/// The textual encoding of DER (RFC 7468).
public enum PEM {
    public static func text(_ label: String, _ der: [UInt8]) -> String {
        var lines = ["-----BEGIN \(label)-----"]
        var rest = Base64.standard.encode(der)[...]
        while !rest.isEmpty {
            lines.append(String(decoding: rest.prefix(64), as: UTF8.self))
            rest = rest.dropFirst(64)
        }
        return (lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }
}
