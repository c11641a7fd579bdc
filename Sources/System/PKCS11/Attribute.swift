import CP11Kit

/// An attribute of an object (`CK_ATTRIBUTE`).
public struct Attribute: Hashable, Sendable {
    /// `CK_ATTRIBUTE_TYPE`.
    public struct Kind: Hashable, Sendable {
        let rawValue: UInt
        /// The standard's name, such as `CKA_LABEL`.
        public let name: String

        private init(_ rawValue: UInt, _ name: String) {
            (self.rawValue, self.name) = (rawValue, name)
        }

        public static let objectClass = Kind(CKA_CLASS, "CKA_CLASS")
        public static let isToken = Kind(CKA_TOKEN, "CKA_TOKEN")
        public static let isPrivate = Kind(CKA_PRIVATE, "CKA_PRIVATE")
        public static let label = Kind(CKA_LABEL, "CKA_LABEL")
        public static let id = Kind(CKA_ID, "CKA_ID")
        public static let value = Kind(CKA_VALUE, "CKA_VALUE")
        public static let certificateType = Kind(CKA_CERTIFICATE_TYPE, "CKA_CERTIFICATE_TYPE")
        public static let subject = Kind(CKA_SUBJECT, "CKA_SUBJECT")
        public static let keyType = Kind(CKA_KEY_TYPE, "CKA_KEY_TYPE")
        public static let sensitive = Kind(CKA_SENSITIVE, "CKA_SENSITIVE")
        public static let extractable = Kind(CKA_EXTRACTABLE, "CKA_EXTRACTABLE")
        public static let sign = Kind(CKA_SIGN, "CKA_SIGN")
        public static let verify = Kind(CKA_VERIFY, "CKA_VERIFY")
        public static let ecParameters = Kind(CKA_EC_PARAMS, "CKA_EC_PARAMS")
        public static let ecPoint = Kind(CKA_EC_POINT, "CKA_EC_POINT")
        public static let alwaysAuthenticate = Kind(CKA_ALWAYS_AUTHENTICATE, "CKA_ALWAYS_AUTHENTICATE")
        public static let signRecover = Kind(CKA_SIGN_RECOVER, "CKA_SIGN_RECOVER")
        public static let encrypt = Kind(CKA_ENCRYPT, "CKA_ENCRYPT")
        public static let decrypt = Kind(CKA_DECRYPT, "CKA_DECRYPT")
        public static let wrap = Kind(CKA_WRAP, "CKA_WRAP")
        public static let unwrap = Kind(CKA_UNWRAP, "CKA_UNWRAP")
        public static let derive = Kind(CKA_DERIVE, "CKA_DERIVE")
        public static let isLocal = Kind(CKA_LOCAL, "CKA_LOCAL")
        public static let alwaysSensitive = Kind(CKA_ALWAYS_SENSITIVE, "CKA_ALWAYS_SENSITIVE")
        public static let neverExtractable = Kind(CKA_NEVER_EXTRACTABLE, "CKA_NEVER_EXTRACTABLE")
        public static let keyGenerationMechanism = Kind(CKA_KEY_GEN_MECHANISM, "CKA_KEY_GEN_MECHANISM")
        public static let isModifiable = Kind(CKA_MODIFIABLE, "CKA_MODIFIABLE")
        public static let isCopyable = Kind(CKA_COPYABLE, "CKA_COPYABLE")
        public static let isDestroyable = Kind(CKA_DESTROYABLE, "CKA_DESTROYABLE")
        public static let wrapWithTrusted = Kind(CKA_WRAP_WITH_TRUSTED, "CKA_WRAP_WITH_TRUSTED")
        public static let allowedMechanisms = Kind(CKA_ALLOWED_MECHANISMS, "CKA_ALLOWED_MECHANISMS")
        public static let startDate = Kind(CKA_START_DATE, "CKA_START_DATE")
        public static let endDate = Kind(CKA_END_DATE, "CKA_END_DATE")
        public static let valueLength = Kind(CKA_VALUE_LEN, "CKA_VALUE_LEN")
        public static let modulus = Kind(CKA_MODULUS, "CKA_MODULUS")
        public static let modulusBits = Kind(CKA_MODULUS_BITS, "CKA_MODULUS_BITS")
        public static let publicExponent = Kind(CKA_PUBLIC_EXPONENT, "CKA_PUBLIC_EXPONENT")
    }

    public let kind: Kind
    /// In the representation of the C interface: numbers as `CK_ULONG`, Booleans as one byte.
    public let value: [UInt8]

    public init(_ kind: Kind, bytes: [UInt8]) {
        self.kind = kind
        value = bytes
    }

    public init(_ kind: Kind, _ flag: Bool) {
        self.init(kind, bytes: [flag ? 1 : 0])
    }

    public init(_ kind: Kind, number: UInt) {
        self.init(kind, bytes: withUnsafeBytes(of: number) { Array($0) })
    }

    public init(_ kind: Kind, text: String) {
        self.init(kind, bytes: Array(text.utf8))
    }

    public init(_ objectClass: ObjectClass) {
        self.init(.objectClass, number: objectClass.rawValue)
    }

    public init(_ keyType: KeyType) {
        self.init(.keyType, number: keyType.rawValue)
    }
}

/// `CK_OBJECT_CLASS`.
public enum ObjectClass: UInt, Sendable {
    case certificate = 1
    case publicKey = 2
    case privateKey = 3
    case secretKey = 4
}

/// `CK_KEY_TYPE`.
public enum KeyType: UInt, Sendable {
    case rsa = 0
    case ec = 3
    case aes = 0x1F
}

extension [Attribute] {
    /// Passes the attributes in the layout of the C interface, for one call.
    func withTemplate<Result>(_ body: (UnsafeMutablePointer<CK_ATTRIBUTE>?, UInt) -> Result) -> Result {
        // One buffer holds all values. It is wiped, because a value may be an imported private key.
        let size = reduce(0) { $0 + $1.value.count }
        return withUnsafeTemporaryAllocation(byteCount: Swift.max(size, 1), alignment: 16) { storage in
            defer { wipe(storage) }
            return withUnsafeTemporaryAllocation(of: CK_ATTRIBUTE.self, capacity: Swift.max(count, 1)) { list in
                var offset = 0
                for (index, attribute) in enumerated() {
                    let place = UnsafeMutableRawBufferPointer(
                        rebasing: storage[offset..<offset + attribute.value.count])
                    place.copyBytes(from: attribute.value)
                    offset += attribute.value.count
                    list.initializeElement(
                        at: index,
                        to: CK_ATTRIBUTE(
                            type: attribute.kind.rawValue,
                            pValue: place.baseAddress,
                            ulValueLen: UInt(attribute.value.count)))
                }
                return body(list.baseAddress, UInt(count))
            }
        }
    }
}
