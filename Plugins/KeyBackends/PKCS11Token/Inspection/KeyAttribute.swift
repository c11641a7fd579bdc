import Encodings
import PKCS11
import SigningKit

/// An attribute of a private key: how to read it, and what the compliance report expects. `CKA_VALUE` is not one of
/// them.
struct KeyAttribute: Sendable {
    enum Format: Sendable {
        case flag, text, bytes, objectClass, keyType, mechanism, mechanisms, curve, date
    }

    enum Expectation: Sendable {
        case text(String)
        /// `CKM_ECDSA`, alone or with mechanisms that hash first, or `any` if the token does not restrict the key.
        case ecdsaMechanisms
        /// Reported without a verdict.
        case reported(String)
        /// The expected value depends on the key's provenance.
        case byProvenance(generated: String, imported: String)
        case notEmpty
    }

    let kind: Attribute.Kind
    let format: Format
    let asks: String
    let requirements: [Requirement]
    let expectation: Expectation
    /// The remedy for another value.
    let cure: String?

    private init(
        _ kind: Attribute.Kind, as format: Format = .flag, _ expectation: Expectation, _ asks: String,
        _ requirements: [Requirement], cure: String? = nil
    ) {
        self.kind = kind
        self.format = format
        self.asks = asks
        self.requirements = requirements
        self.expectation = expectation
        self.cure = cure
    }

    private static let storage: [Requirement] = [.pci("3.6.1.2"), .pci("3.7.3"), .nist57("6")]
    private static let use: [Requirement] = [.nist57("5.2")]
    private static let again = "Import the key again with privyseal keys import."

    private static let onlySigns = "May it do nothing but sign?"
    private static let origin = Expectation.byProvenance(generated: "TRUE", imported: "FALSE")

    /// In display order.
    static let all: [KeyAttribute] = [
        .init(.objectClass, as: .objectClass, .text("CKO_PRIVATE_KEY"), "Is it a private key?", use),
        .init(.keyType, as: .keyType, .text("CKK_EC"), "Is it an elliptic-curve key?", [.nist57("5.6")]),
        .init(.ecParameters, as: .curve, .text("P-256"), "Is it on P-256?", [.nist57("5.6"), .pci("3.7.1")]),
        .init(.isToken, .text("TRUE"), "Is it stored on the token?", storage, cure: again),
        .init(.isPrivate, .text("TRUE"), "Does access to it require a login?", storage, cure: again),
        .init(.sensitive, .text("TRUE"), "Can it never leave in the clear?", storage, cure: again),
        .init(
            .extractable, .text("FALSE"), "Can it never leave wrapped under another key?", storage,
            cure: "Assume that it was copied: create a new key at Apple, import that, and destroy this one."),
        .init(.alwaysSensitive, origin, "Was it always sensitive?", storage),
        .init(.neverExtractable, origin, "Was it never extractable?", storage),
        .init(.isLocal, origin, "Was it made where the record says?", [.pci("3.7.1")]),
        .init(
            .keyGenerationMechanism, as: .mechanism,
            .byProvenance(generated: "CKM_EC_KEY_PAIR_GEN", imported: "none known"), "How was it made?",
            [.pci("3.7.1")]),
        .init(.sign, .text("TRUE"), "May it sign?", use),
        .init(.signRecover, .text("FALSE"), onlySigns, use, cure: again),
        .init(.decrypt, .text("FALSE"), onlySigns, use, cure: again),
        .init(.unwrap, .text("FALSE"), onlySigns, use, cure: again),
        .init(.derive, .text("FALSE"), onlySigns, use, cure: again),
        .init(.isModifiable, .text("FALSE"), "Are its attributes unmodifiable?", storage, cure: again),
        .init(
            .isCopyable, .reported("FALSE is best; a copy is as protected as the key"),
            "Can it be copied within the token?", storage),
        .init(.isDestroyable, .reported("TRUE, to destroy it one day"), "Can it be destroyed?", [.pci("3.7.5")]),
        .init(.wrapWithTrusted, .reported("of no weight for a key that is not extractable"), "Wrapped by whom?", []),
        .init(.alwaysAuthenticate, .reported("as configured"), "Does each signature require the PIN?", []),
        .init(
            .allowedMechanisms, as: .mechanisms, .ecdsaMechanisms, "Which mechanisms can use it?", use, cure: again),
        .init(.startDate, as: .date, registerHasTimes, "From when is it valid?", [.nist57("5.3.6")]),
        .init(.endDate, as: .date, registerHasTimes, "Until when is it valid?", [.nist57("5.3.6")]),
        .init(.id, as: .bytes, .notEmpty, "Does it have an ID?", []),
        .init(.label, as: .text, .notEmpty, "Does it have a label?", []),
    ]
    private static let registerHasTimes = Expectation.reported("the register has the times")
}

extension KeyAttribute {
    /// A token may not know an attribute or may refuse to reveal it; this answer is a result, too.
    func read(_ object: ObjectHandle, in session: Session) throws(PKCS11Error) -> InspectedTokenKey.Attribute {
        var attribute = InspectedTokenKey.Attribute(name: kind.name)
        do throws(PKCS11Error) {
            if let bytes = try session.value(of: kind, in: object) {
                attribute.value = text(bytes)
                if attribute.value == nil { attribute.answer = "\(bytes.count) bytes, which is no value for it" }
            } else {
                attribute.answer = "\(ReturnValue.attributeTypeInvalid)"
            }
        } catch {
            guard error.returnValue.recovery == .never else { throw error }
            attribute.answer = "\(error.returnValue)"
        }
        return attribute
    }

    private func text(_ bytes: [UInt8]) -> String? {
        switch format {
        case .flag: bytes.count == 1 ? (bytes[0] == 0 ? "FALSE" : "TRUE") : nil
        case .text: String(decoding: bytes, as: UTF8.self)
        case .bytes: Hexadecimal.encode(bytes)
        case .curve: bytes.isEmpty ? nil : NamedCurve.name(bytes)
        case .date: bytes.isEmpty ? "none" : String(decoding: bytes, as: UTF8.self)
        case .objectClass:
            Self.numbers(bytes)?.first.map { Self.objectClasses[$0] ?? "CKO 0x" + String($0, radix: 16) }
        case .keyType: Self.numbers(bytes)?.first.map { Self.keyTypes[$0] ?? "CKK 0x" + String($0, radix: 16) }
        case .mechanism:
            Self.numbers(bytes)?.first.map { $0 == .max ? "none known" : Mechanism(rawValue: $0).name }
        case .mechanisms:
            Self.numbers(bytes).map { numbers in
                numbers.isEmpty ? "any" : numbers.map { Mechanism(rawValue: $0).name }.joined(separator: ", ")
            }
        }
    }

    private static let objectClasses: [UInt: String] = [
        ObjectClass.certificate.rawValue: "CKO_CERTIFICATE", ObjectClass.publicKey.rawValue: "CKO_PUBLIC_KEY",
        ObjectClass.privateKey.rawValue: "CKO_PRIVATE_KEY", ObjectClass.secretKey.rawValue: "CKO_SECRET_KEY",
    ]
    private static let keyTypes: [UInt: String] = [
        KeyType.rsa.rawValue: "CKK_RSA", KeyType.ec.rawValue: "CKK_EC", KeyType.aes.rawValue: "CKK_AES",
    ]

    /// `CK_ULONG` values; nil if the length is not a multiple of their size.
    private static func numbers(_ bytes: [UInt8]) -> [UInt]? {
        let size = MemoryLayout<UInt>.size
        guard bytes.count.isMultiple(of: size) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: size).map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt.self) }
        }
    }
}
