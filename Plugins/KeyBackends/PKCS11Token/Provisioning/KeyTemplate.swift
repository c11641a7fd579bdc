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

    /// What tokens do not take in a template: each with what was left out before it.
    private static let needless: [[Attribute.Kind]] = [[.isCopyable, .isDestroyable], [.isModifiable]]
    /// Rights: as few are left out as the token allows, because the default of some tokens is true.
    private static let rights: [Attribute.Kind] = [.signRecover, .derive, .decrypt, .unwrap]

    /// The fullest first.
    static func privateKey(_ name: KeyName) -> [[Attribute]] {
        let base = [Attribute(.privateKey), Attribute(.keyType, number: KeyType.ec.rawValue)] + name.attributes
        return omissions.map { omitted in
            base + wishes.filter { !omitted.contains($0.kind) }.map { Attribute($0.kind, $0.value) }
        }
    }

    private static let omissions: [[Attribute.Kind]] = {
        var lists: [[Attribute.Kind]] = [[]]
        for kinds in needless { lists.append((lists.last ?? []) + kinds) }
        let common = lists.last ?? []
        let choices = (1..<(1 << rights.count)).sorted { ($0.nonzeroBitCount, $0) < ($1.nonzeroBitCount, $1) }
        for choice in choices {
            lists.append(common + rights.indices.filter { choice & (1 << $0) != 0 }.map { rights[$0] })
        }
        return lists
    }()

    /// What a person should know of a key that was made with `template`. `KeyReadback` tells what the token made of the
    /// attributes that no caller needs.
    static func warnings(_ template: [Attribute]) -> [String] {
        let omitted = wishes.filter { wish in wish.isNeeded && !template.contains { $0.kind == wish.kind } }
        guard !omitted.isEmpty else { return [] }
        let names = omitted.map(\.name).joined(separator: ", ")
        return ["The token does not take \(names) in a template, so the key was made without."]
    }

    static func publicKey(_ name: KeyName) -> [Attribute] {
        [
            Attribute(.publicKey), Attribute(.keyType, number: KeyType.ec.rawValue), Attribute(.isToken, true),
            Attribute(.isPrivate, false), Attribute(.verify, true), Attribute(.encrypt, false),
            Attribute(.wrap, false), Attribute(.ecParameters, bytes: NamedCurve.p256),
        ] + name.attributes
    }

    /// The fullest first.
    static func publicKey(_ name: KeyName, _ key: P256.Signing.PublicKey) -> [[Attribute]] {
        let full = publicKey(name) + [Attribute(.ecPoint, bytes: encodedPoint(key))]
        let needless: [Attribute.Kind] = [.isPrivate, .verify, .encrypt, .wrap]
        return [full, full.filter { !needless.contains($0.kind) }]
    }

    /// In a DER OCTET STRING.
    static func encodedPoint(_ key: P256.Signing.PublicKey) -> [UInt8] { [0x04, 0x41] + Array(key.x963Representation) }

    /// A secret key for the time of one import; the fullest first.
    static func transportKey(isGenerated: Bool) -> [[Attribute]] {
        let base =
            [
                Attribute(.secretKey), Attribute(.keyType, number: KeyType.aes.rawValue), Attribute(.isToken, false),
                Attribute(.sensitive, true), Attribute(.extractable, false), Attribute(.unwrap, true),
            ]
            + (isGenerated ? [Attribute(.encrypt, true), Attribute(.valueLength, number: 32)] : [])
        let more =
            [
                Attribute(.isPrivate, true), Attribute(.decrypt, false), Attribute(.wrap, false),
                Attribute(.sign, false), Attribute(.verify, false), Attribute(.derive, false),
            ] + (isGenerated ? [] : [Attribute(.encrypt, false)])
        return [base + more, base]
    }

    /// Whether a token refuses a template, or an object of this kind, rather than fails.
    static func isRefusal(_ answer: ReturnValue) -> Bool {
        switch answer {
        case .templateInconsistent, .attributeTypeInvalid, .attributeValueInvalid, .attributeReadOnly: true
        default: false
        }
    }

    /// With the first template that the token takes.
    static func firstAccepted<Value>(
        _ templates: [[Attribute]], _ make: ([Attribute]) throws(PKCS11Error) -> Value
    ) throws(PKCS11Error) -> (made: Value, template: [Attribute]) {
        for template in templates.dropLast() {
            do throws(PKCS11Error) { return (try make(template), template) } catch {
                guard isRefusal(error.returnValue) else { throw error }
            }
        }
        let last = templates.last ?? []
        return (try make(last), last)
    }

    /// With the fullest template that the token takes. Which one that is, is tried with an object of the session: SoftHSM
    /// 2.6.1 leaves a nameless object in the token for each template that it refuses. A token that has no such objects
    /// refuses every trial, and is asked without.
    ///
    /// - Parameter discard: destroys the trial if the token can; what is left of it ends with the session.
    static func ladder<Value>(
        _ templates: [[Attribute]], _ make: ([Attribute]) throws(PKCS11Error) -> Value,
        discard: (Value) -> Void
    ) throws(PKCS11Error) -> (made: Value, template: [Attribute]) {
        for template in templates {
            do throws(PKCS11Error) {
                discard(try make(trial(template)))
            } catch {
                guard isRefusal(error.returnValue) else { throw error }
                continue
            }
            return (try make(template), template)
        }
        return try firstAccepted(templates, make)
    }

    /// The same as an object of the session, with a label of its own: one that the token does not destroy must not be taken
    /// for the key.
    static func trial(_ template: [Attribute]) -> [Attribute] {
        template.map { attribute in
            switch attribute.kind {
            case .isToken: Attribute(.isToken, false)
            case .label: Attribute(.label, text: KeyName.transient.label)
            default: attribute
            }
        }
    }
}
