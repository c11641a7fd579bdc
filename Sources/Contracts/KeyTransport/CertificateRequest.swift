public import Crypto
import Foundation
public import SigningKit
import SwiftASN1
import X509

/// A certification request (PKCS #10, RFC 2986) for a P-256 key, in DER.
public struct CertificateRequest: Sendable {
    /// The `CertificationRequestInfo`, which the key signs.
    public let unsigned: [UInt8]

    /// - Parameter subject: such as `CN=example,O=Example GmbH,C=DE`; CN, O, OU, L, ST, C. A comma in a value is `\,`.
    public init(subject: String, publicKey: P256.Signing.PublicKey) throws(KeyTransportError) {
        let name = try Self.name(subject)
        unsigned = try Self.sequence { coder in
            try coder.serialize(0)
            try coder.serialize(name)
            coder.serializeRawBytes(publicKey.derRepresentation)
            // No attributes.
            coder.appendConstructedNode(identifier: ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)) { _ in
            }
        }
    }

    /// SHA-256 of `unsigned`, which the key signs.
    public var digest: SHA256Digest { SHA256.hash(data: unsigned) }

    public func signed(_ signature: P256Signature) throws(KeyTransportError) -> [UInt8] {
        try Self.sequence { coder in
            coder.serializeRawBytes(unsigned)
            // ecdsa-with-SHA256 (RFC 5758 §3.2), without parameters.
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize([1, 2, 840, 10045, 4, 3, 2] as ASN1ObjectIdentifier)
            }
            try coder.serialize(ASN1BitString(bytes: signature.derRepresentation[...]))
        }
    }

    private static func sequence(
        _ content: (inout DER.Serializer) throws -> Void
    ) throws(KeyTransportError) -> [UInt8] {
        var serializer = DER.Serializer()
        do { try serializer.appendConstructedNode(identifier: .sequence, content) } catch {
            throw KeyTransportError("The certification request cannot be encoded: \(error).")
        }
        return serializer.serializedBytes
    }

    private static let types: [String: ASN1ObjectIdentifier] = [
        "CN": .RDNAttributeType.commonName, "C": .RDNAttributeType.countryName, "L": .RDNAttributeType.localityName,
        "ST": .RDNAttributeType.stateOrProvinceName, "O": .RDNAttributeType.organizationName,
        "OU": .RDNAttributeType.organizationalUnitName,
    ]

    /// Reads a subset of the text form of RFC 4514: one attribute in each RDN.
    private static func name(_ text: String) throws(KeyTransportError) -> DistinguishedName {
        var names: [RelativeDistinguishedName] = []
        for part in parts(of: text) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let kind = pair[0].trimmingCharacters(in: .whitespaces).uppercased()
            let value = pair.count == 2 ? pair[1].trimmingCharacters(in: .whitespaces) : ""
            guard let type = types[kind], !value.isEmpty, value.utf8.count <= 64 else {
                throw KeyTransportError(
                    "The subject must be like CN=example,O=Example,C=DE, with CN, O, OU, L, ST and C, and 1 to 64 bytes "
                        + "for each.")
            }
            guard kind == "C" else {
                names.append(RelativeDistinguishedName(.init(type: type, utf8String: value)))
                continue
            }
            // A PrintableString, unlike the others (RFC 5280 appendix A).
            guard value.utf8.count == 2, value.allSatisfy({ $0.isASCII && $0.isLetter }),
                let country = try? RelativeDistinguishedName.Attribute(type: type, printableString: value)
            else { throw KeyTransportError("The subject's C must be a country code of two letters.") }
            names.append(RelativeDistinguishedName(country))
        }
        guard !names.isEmpty else { throw KeyTransportError("The subject is empty; give one like CN=example.") }
        return DistinguishedName(names)
    }

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

/// The textual encoding of DER (RFC 7468).
public enum PEM {
    public static func text(_ label: String, _ der: [UInt8]) -> String {
        PEMDocument(type: label, derBytes: der).pemString + "\n"
    }
}
