internal import PKCS11
internal import SigningKit

/// Reads and formats one attribute of a private key. `CKA_VALUE` is not among them.
struct AttributeReading: Sendable {
    enum Kind: Sendable {
        case flag, text, bytes, objectClass, keyType, mechanism, mechanisms, curve, date
    }

    let name: String
    let attribute: Attribute.Kind
    let kind: Kind

    private init(_ name: String, _ attribute: Attribute.Kind, _ kind: Kind = .flag) {
        self.name = name
        self.attribute = attribute
        self.kind = kind
    }

    /// In display order.
    static let all: [AttributeReading] = [
        AttributeReading("CKA_CLASS", .objectClass, .objectClass),
        AttributeReading("CKA_KEY_TYPE", .keyType, .keyType),
        AttributeReading("CKA_EC_PARAMS", .ecParameters, .curve),
        AttributeReading("CKA_TOKEN", .isToken), AttributeReading("CKA_PRIVATE", .isPrivate),
        AttributeReading("CKA_SENSITIVE", .sensitive), AttributeReading("CKA_EXTRACTABLE", .extractable),
        AttributeReading("CKA_ALWAYS_SENSITIVE", .alwaysSensitive),
        AttributeReading("CKA_NEVER_EXTRACTABLE", .neverExtractable), AttributeReading("CKA_LOCAL", .isLocal),
        AttributeReading("CKA_KEY_GEN_MECHANISM", .keyGenerationMechanism, .mechanism),
        AttributeReading("CKA_SIGN", .sign), AttributeReading("CKA_SIGN_RECOVER", .signRecover),
        AttributeReading("CKA_DECRYPT", .decrypt), AttributeReading("CKA_UNWRAP", .unwrap),
        AttributeReading("CKA_DERIVE", .derive), AttributeReading("CKA_MODIFIABLE", .isModifiable),
        AttributeReading("CKA_COPYABLE", .isCopyable), AttributeReading("CKA_DESTROYABLE", .isDestroyable),
        AttributeReading("CKA_WRAP_WITH_TRUSTED", .wrapWithTrusted),
        AttributeReading("CKA_ALWAYS_AUTHENTICATE", .alwaysAuthenticate),
        AttributeReading("CKA_ALLOWED_MECHANISMS", .allowedMechanisms, .mechanisms),
        AttributeReading("CKA_START_DATE", .startDate, .date), AttributeReading("CKA_END_DATE", .endDate, .date),
        AttributeReading("CKA_ID", .id, .bytes), AttributeReading("CKA_LABEL", .label, .text),
    ]

    /// A token may not know an attribute or may refuse to reveal it; this answer is a result, too.
    func read(_ object: ObjectHandle, in session: Session) throws(PKCS11Error) -> KeyInspection.Attribute {
        do throws(PKCS11Error) {
            guard let bytes = try session.value(of: attribute, in: object) else {
                return KeyInspection.Attribute(name, nil, answer: "\(ReturnValue.attributeTypeInvalid)")
            }
            guard let value = text(bytes) else {
                return KeyInspection.Attribute(name, nil, answer: "\(bytes.count) bytes, which is no value for it")
            }
            return KeyInspection.Attribute(name, value)
        } catch {
            guard error.returnValue.recovery == .never else { throw error }
            return KeyInspection.Attribute(name, nil, answer: "\(error.returnValue)")
        }
    }

    private func text(_ bytes: [UInt8]) -> String? {
        switch kind {
        case .flag:
            guard bytes.count == 1 else { return nil }
            return bytes[0] == 0 ? "FALSE" : "TRUE"
        case .text: return String(decoding: bytes, as: UTF8.self)
        case .bytes: return Self.hexadecimal(bytes)
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

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
