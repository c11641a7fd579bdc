internal import Crypto
internal import PKCS11
internal import SigningKit

/// The attributes of keys that are made here: every one is set, because defaults differ from token to token, and read
/// back.
enum KeyTemplate {
    struct Wish: Sendable {
        let kind: Attribute.Kind
        let name: String
        let value: Bool
        /// Whether a key that is otherwise is refused; else it is told.
        let isNeeded: Bool
    }

    /// Of the private key.
    static let wishes = [
        Wish(kind: .isToken, name: "CKA_TOKEN", value: true, isNeeded: true),
        Wish(kind: .isPrivate, name: "CKA_PRIVATE", value: true, isNeeded: true),
        Wish(kind: .sensitive, name: "CKA_SENSITIVE", value: true, isNeeded: true),
        Wish(kind: .extractable, name: "CKA_EXTRACTABLE", value: false, isNeeded: true),
        Wish(kind: .sign, name: "CKA_SIGN", value: true, isNeeded: true),
        Wish(kind: .signRecover, name: "CKA_SIGN_RECOVER", value: false, isNeeded: true),
        Wish(kind: .decrypt, name: "CKA_DECRYPT", value: false, isNeeded: true),
        Wish(kind: .unwrap, name: "CKA_UNWRAP", value: false, isNeeded: true),
        Wish(kind: .derive, name: "CKA_DERIVE", value: false, isNeeded: true),
        Wish(kind: .isModifiable, name: "CKA_MODIFIABLE", value: false, isNeeded: false),
        Wish(kind: .isCopyable, name: "CKA_COPYABLE", value: false, isNeeded: false),
        Wish(kind: .isDestroyable, name: "CKA_DESTROYABLE", value: true, isNeeded: false),
    ]

    /// The fullest first. Some tokens do not know the attributes that PKCS #11 v2.40 brought, or do not let them be set.
    static func privateKey(_ name: KeyName) -> [[Attribute]] {
        let base = [Attribute(.privateKey), Attribute(.keyType, number: KeyType.ec.rawValue)] + name.attributes
        return [
            base + wishes.map { Attribute($0.kind, $0.value) },
            base
                + wishes.filter { $0.kind != .isCopyable && $0.kind != .isDestroyable }.map {
                    Attribute($0.kind, $0.value)
                },
            base + wishes.filter(\.isNeeded).map { Attribute($0.kind, $0.value) },
        ]
    }

    static func publicKey(_ name: KeyName, _ key: P256.Signing.PublicKey? = nil) -> [Attribute] {
        let common =
            [
                Attribute(.publicKey), Attribute(.keyType, number: KeyType.ec.rawValue), Attribute(.isToken, true),
                Attribute(.isPrivate, false), Attribute(.verify, true), Attribute(.encrypt, false),
                Attribute(.wrap, false), Attribute(.ecParameters, bytes: NamedCurve.p256),
            ] + name.attributes
        guard let key else { return common }
        return common + [Attribute(.ecPoint, bytes: encodedPoint(key))]
    }

    /// In a DER OCTET STRING.
    static func encodedPoint(_ key: P256.Signing.PublicKey) -> [UInt8] { [0x04, 0x41] + Array(key.x963Representation) }

    /// A secret key for the time of one import.
    static func transportKey(isGenerated: Bool) -> [Attribute] {
        [
            Attribute(.secretKey), Attribute(.keyType, number: KeyType.aes.rawValue), Attribute(.isToken, false),
            Attribute(.isPrivate, true), Attribute(.sensitive, true), Attribute(.extractable, false),
            Attribute(.encrypt, isGenerated), Attribute(.decrypt, false), Attribute(.wrap, false),
            Attribute(.unwrap, true), Attribute(.sign, false), Attribute(.verify, false), Attribute(.derive, false),
        ] + (isGenerated ? [Attribute(.valueLength, number: 32)] : [])
    }

    /// With the fullest template that the token takes. Which one that is, is tried with an object of the session: SoftHSM
    /// 2.6.1 leaves a nameless object in the token for each template that it refuses.
    static func ladder<Value>(
        _ templates: [[Attribute]], _ make: ([Attribute]) throws(PKCS11Error) -> Value,
        discard: (Value) throws(PKCS11Error) -> Void
    ) throws(PKCS11Error) -> Value {
        for template in templates.dropLast() {
            do throws(PKCS11Error) {
                try discard(try make(template.map { $0.kind == .isToken ? Attribute(.isToken, false) : $0 }))
            } catch {
                let complaints: [ReturnValue] = [
                    .templateInconsistent, .attributeTypeInvalid, .attributeValueInvalid, .attributeReadOnly,
                ]
                guard complaints.contains(error.returnValue) else { throw error }
                continue
            }
            return try make(template)
        }
        return try make(templates.last ?? [])
    }
}
