internal import Encodings
internal import PKCS11

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
