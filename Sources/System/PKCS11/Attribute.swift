import CP11Kit

/// An attribute of an object (`CK_ATTRIBUTE`).
public struct Attribute: Hashable, Sendable {
    /// `CK_ATTRIBUTE_TYPE`.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        public static let objectClass = Kind(rawValue: CKA_CLASS)
        public static let isToken = Kind(rawValue: CKA_TOKEN)
        public static let isPrivate = Kind(rawValue: CKA_PRIVATE)
        public static let label = Kind(rawValue: CKA_LABEL)
        public static let id = Kind(rawValue: CKA_ID)
        public static let value = Kind(rawValue: CKA_VALUE)
        public static let certificateType = Kind(rawValue: CKA_CERTIFICATE_TYPE)
        public static let subject = Kind(rawValue: CKA_SUBJECT)
        public static let keyType = Kind(rawValue: CKA_KEY_TYPE)
        public static let sensitive = Kind(rawValue: CKA_SENSITIVE)
        public static let extractable = Kind(rawValue: CKA_EXTRACTABLE)
        public static let sign = Kind(rawValue: CKA_SIGN)
        public static let verify = Kind(rawValue: CKA_VERIFY)
        public static let ecParameters = Kind(rawValue: CKA_EC_PARAMS)
        public static let ecPoint = Kind(rawValue: CKA_EC_POINT)
        public static let alwaysAuthenticate = Kind(rawValue: CKA_ALWAYS_AUTHENTICATE)
        public static let signRecover = Kind(rawValue: CKA_SIGN_RECOVER)
        public static let encrypt = Kind(rawValue: CKA_ENCRYPT)
        public static let decrypt = Kind(rawValue: CKA_DECRYPT)
        public static let wrap = Kind(rawValue: CKA_WRAP)
        public static let unwrap = Kind(rawValue: CKA_UNWRAP)
        public static let derive = Kind(rawValue: CKA_DERIVE)
        public static let isLocal = Kind(rawValue: CKA_LOCAL)
        public static let alwaysSensitive = Kind(rawValue: CKA_ALWAYS_SENSITIVE)
        public static let neverExtractable = Kind(rawValue: CKA_NEVER_EXTRACTABLE)
        public static let keyGenerationMechanism = Kind(rawValue: CKA_KEY_GEN_MECHANISM)
        public static let isModifiable = Kind(rawValue: CKA_MODIFIABLE)
        public static let isCopyable = Kind(rawValue: CKA_COPYABLE)
        public static let isDestroyable = Kind(rawValue: CKA_DESTROYABLE)
        public static let wrapWithTrusted = Kind(rawValue: CKA_WRAP_WITH_TRUSTED)
        public static let allowedMechanisms = Kind(rawValue: CKA_ALLOWED_MECHANISMS)
        public static let startDate = Kind(rawValue: CKA_START_DATE)
        public static let endDate = Kind(rawValue: CKA_END_DATE)
        public static let valueLength = Kind(rawValue: CKA_VALUE_LEN)
        public static let modulus = Kind(rawValue: CKA_MODULUS)
        public static let modulusBits = Kind(rawValue: CKA_MODULUS_BITS)
        public static let publicExponent = Kind(rawValue: CKA_PUBLIC_EXPONENT)
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
}

/// `CK_OBJECT_CLASS`.
public struct ObjectClass: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    public static let certificate = ObjectClass(rawValue: CKO_CERTIFICATE)
    public static let publicKey = ObjectClass(rawValue: CKO_PUBLIC_KEY)
    public static let privateKey = ObjectClass(rawValue: CKO_PRIVATE_KEY)
    public static let secretKey = ObjectClass(rawValue: CKO_SECRET_KEY)

    /// The standard's name, for messages.
    public var name: String {
        switch self {
        case .certificate: "CKO_CERTIFICATE"
        case .publicKey: "CKO_PUBLIC_KEY"
        case .privateKey: "CKO_PRIVATE_KEY"
        case .secretKey: "CKO_SECRET_KEY"
        default: "CKO 0x" + String(rawValue, radix: 16)
        }
    }
}

/// `CK_KEY_TYPE`.
public struct KeyType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    public static let rsa = KeyType(rawValue: CKK_RSA)
    public static let ec = KeyType(rawValue: CKK_EC)
    public static let aes = KeyType(rawValue: CKK_AES)

    /// The standard's name, for messages.
    public var name: String {
        switch self {
        case .rsa: "CKK_RSA"
        case .ec: "CKK_EC"
        case .aes: "CKK_AES"
        default: "CKK 0x" + String(rawValue, radix: 16)
        }
    }
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
