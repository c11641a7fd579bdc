internal import Encodings
internal import PKCS11
internal import SigningKit

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

    let name: String
    let kind: Attribute.Kind
    let format: Format
    let asks: String
    let requirements: [Requirement]
    let expectation: Expectation
    /// The remedy for another value.
    let cure: String?

    private init(
        _ name: String, _ kind: Attribute.Kind, as format: Format = .flag, _ expectation: Expectation, _ asks: String,
        _ requirements: [Requirement], cure: String? = nil
    ) {
        self.name = name
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

    /// In display order.
    static let all: [KeyAttribute] = [
        .init("CKA_CLASS", .objectClass, as: .objectClass, .text("CKO_PRIVATE_KEY"), "Is it a private key?", use),
        .init(
            "CKA_KEY_TYPE", .keyType, as: .keyType, .text("CKK_EC"), "Is it an elliptic-curve key?", [.nist57("5.6")]),
        .init(
            "CKA_EC_PARAMS", .ecParameters, as: .curve, .text("P-256"), "Is it on P-256?",
            [.nist57("5.6"), .pci("3.7.1")]),
        .init("CKA_TOKEN", .isToken, .text("TRUE"), "Is it stored on the token?", storage, cure: again),
        .init("CKA_PRIVATE", .isPrivate, .text("TRUE"), "Does access to it require a login?", storage, cure: again),
        .init("CKA_SENSITIVE", .sensitive, .text("TRUE"), "Can it never leave in the clear?", storage, cure: again),
        .init(
            "CKA_EXTRACTABLE", .extractable, .text("FALSE"), "Can it never leave wrapped under another key?", storage,
            cure: "Assume that it was copied: create a new key at Apple, import that, and destroy this one."),
        .init(
            "CKA_ALWAYS_SENSITIVE", .alwaysSensitive, .byProvenance(generated: "TRUE", imported: "FALSE"),
            "Was it always sensitive?", storage),
        .init(
            "CKA_NEVER_EXTRACTABLE", .neverExtractable, .byProvenance(generated: "TRUE", imported: "FALSE"),
            "Was it never extractable?", storage),
        .init(
            "CKA_LOCAL", .isLocal, .byProvenance(generated: "TRUE", imported: "FALSE"),
            "Was it made where the record says?", [.pci("3.7.1")]),
        .init(
            "CKA_KEY_GEN_MECHANISM", .keyGenerationMechanism, as: .mechanism,
            .byProvenance(generated: "CKM_EC_KEY_PAIR_GEN", imported: "none known"),
            "How was it made?", [.pci("3.7.1")]),
        .init("CKA_SIGN", .sign, .text("TRUE"), "May it sign?", use),
        .init("CKA_SIGN_RECOVER", .signRecover, .text("FALSE"), "May it do nothing but sign?", use, cure: again),
        .init("CKA_DECRYPT", .decrypt, .text("FALSE"), "May it do nothing but sign?", use, cure: again),
        .init("CKA_UNWRAP", .unwrap, .text("FALSE"), "May it do nothing but sign?", use, cure: again),
        .init("CKA_DERIVE", .derive, .text("FALSE"), "May it do nothing but sign?", use, cure: again),
        .init(
            "CKA_MODIFIABLE", .isModifiable, .text("FALSE"), "Are its attributes unmodifiable?", storage, cure: again),
        .init(
            "CKA_COPYABLE", .isCopyable, .reported("FALSE is best; a copy is as protected as the key"),
            "Can it be copied within the token?", storage),
        .init(
            "CKA_DESTROYABLE", .isDestroyable, .reported("TRUE, to destroy it one day"), "Can it be destroyed?",
            [.pci("3.7.5")]),
        .init(
            "CKA_WRAP_WITH_TRUSTED", .wrapWithTrusted, .reported("of no weight for a key that is not extractable"),
            "Wrapped by whom?", []),
        .init(
            "CKA_ALWAYS_AUTHENTICATE", .alwaysAuthenticate, .reported("as configured"),
            "Does each signature require the PIN?", []),
        .init(
            "CKA_ALLOWED_MECHANISMS", .allowedMechanisms, as: .mechanisms,
            .ecdsaMechanisms, "Which mechanisms can use it?", use, cure: again),
        .init(
            "CKA_START_DATE", .startDate, as: .date, .reported("the register has the times"), "From when is it valid?",
            [.nist57("5.3.6")]),
        .init(
            "CKA_END_DATE", .endDate, as: .date, .reported("the register has the times"), "Until when is it valid?",
            [.nist57("5.3.6")]),
        .init("CKA_ID", .id, as: .bytes, .notEmpty, "Does it have an ID?", []),
        .init("CKA_LABEL", .label, as: .text, .notEmpty, "Does it have a label?", []),
    ]
}

extension KeyAttribute {
    /// A token may not know an attribute or may refuse to reveal it; this answer is a result, too.
    func read(_ object: ObjectHandle, in session: Session) throws(PKCS11Error) -> InspectedTokenKey.Attribute {
        do throws(PKCS11Error) {
            guard let bytes = try session.value(of: kind, in: object) else {
                return InspectedTokenKey.Attribute(name, nil, answer: "\(ReturnValue.attributeTypeInvalid)")
            }
            guard let value = text(bytes) else {
                return InspectedTokenKey.Attribute(name, nil, answer: "\(bytes.count) bytes, which is no value for it")
            }
            return InspectedTokenKey.Attribute(name, value)
        } catch {
            guard error.returnValue.recovery == .never else { throw error }
            return InspectedTokenKey.Attribute(name, nil, answer: "\(error.returnValue)")
        }
    }

    private func text(_ bytes: [UInt8]) -> String? {
        switch format {
        case .flag:
            guard bytes.count == 1 else { return nil }
            return bytes[0] == 0 ? "FALSE" : "TRUE"
        case .text: return String(decoding: bytes, as: UTF8.self)
        case .bytes: return Hexadecimal.encode(bytes)
        case .curve: return bytes.isEmpty ? nil : NamedCurve.name(bytes)
        case .date: return bytes.isEmpty ? "none" : String(decoding: bytes, as: UTF8.self)
        case .objectClass: return Self.numbers(bytes)?.first.map { ObjectClass(rawValue: $0).name }
        case .keyType: return Self.numbers(bytes)?.first.map { KeyType(rawValue: $0).name }
        case .mechanism:
            return Self.numbers(bytes)?.first.map { $0 == .max ? "none known" : Mechanism(rawValue: $0).name }
        case .mechanisms:
            return Self.numbers(bytes).map { numbers in
                numbers.isEmpty ? "any" : numbers.map { Mechanism(rawValue: $0).name }.joined(separator: ", ")
            }
        }
    }

    /// `CK_ULONG` values; nil if the length is not a multiple of their size.
    private static func numbers(_ bytes: [UInt8]) -> [UInt]? {
        let size = MemoryLayout<UInt>.size
        guard bytes.count.isMultiple(of: size) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: size).map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt.self) }
        }
    }
}
