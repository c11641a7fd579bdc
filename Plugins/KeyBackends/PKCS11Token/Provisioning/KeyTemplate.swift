import Crypto
import PKCS11
import SigningKit

/// The attributes of new keys. Every attribute is set, because defaults differ between tokens, and is read back.
enum KeyTemplate {
    /// The attributes of a private key that must have these values.
    static let needed = [
        Attribute(.isToken, true), Attribute(.isPrivate, true), Attribute(.sensitive, true),
        Attribute(.extractable, false), Attribute(.sign, true), Attribute(.signRecover, false),
        Attribute(.decrypt, false), Attribute(.unwrap, false), Attribute(.derive, false),
    ]
    /// The attributes of a private key for which another value causes a warning.
    static let desired = [
        Attribute(.isModifiable, false), Attribute(.isCopyable, false), Attribute(.isDestroyable, true),
    ]
    /// All are true for a key that the token generated, and only for such a key.
    static let origin: [Attribute.Kind] = [.isLocal, .alwaysSensitive, .neverExtractable]

    /// Attributes that some tokens refuse in a template. Each group is left out together with the groups before it.
    private static let omittable: [[Attribute.Kind]] = [[.isCopyable, .isDestroyable], [.isModifiable]]
    /// Rights. As few as possible are left out, because some tokens grant them by default.
    private static let rights: [Attribute.Kind] = [.signRecover, .derive, .decrypt, .unwrap]

    /// The most complete template first.
    static func privateKey(_ name: KeyName) -> [[Attribute]] {
        let base = [Attribute(.privateKey), Attribute(KeyType.ec)] + name.attributes
        return omissions.map { omitted in base + (needed + desired).filter { !omitted.contains($0.kind) } }
    }

    private static let omissions: [[Attribute.Kind]] = {
        var lists: [[Attribute.Kind]] = [[]]
        for kinds in omittable { lists.append((lists.last ?? []) + kinds) }
        let common = lists.last ?? []
        let choices = (1..<(1 << rights.count)).sorted { ($0.nonzeroBitCount, $0) < ($1.nonzeroBitCount, $1) }
        for choice in choices {
            lists.append(common + rights.indices.filter { choice & (1 << $0) != 0 }.map { rights[$0] })
        }
        return lists
    }()

    /// Warnings about a key made with `template`. `CreatedKeyCheck` reports the attributes that are not needed.
    static func warnings(_ template: [Attribute]) -> [String] {
        let omitted = needed.map(\.kind).filter { kind in !template.contains { $0.kind == kind } }
        guard !omitted.isEmpty else { return [] }
        let names = omitted.map(\.name).joined(separator: ", ")
        return ["The token does not accept \(names) in a template, so the key was made without them."]
    }

    static func publicKey(_ name: KeyName) -> [Attribute] {
        [Attribute(.publicKey), Attribute(KeyType.ec), Attribute(.ecParameters, bytes: NamedCurve.p256)]
            + Attribute.flags(true: [.isToken, .verify], false: [.isPrivate, .encrypt, .wrap]) + name.attributes
    }

    /// The most complete template first.
    static func publicKey(_ name: KeyName, _ key: P256.Signing.PublicKey) -> [[Attribute]] {
        let full = publicKey(name) + [Attribute(.ecPoint, bytes: encodedPoint(key))]
        let omittable: [Attribute.Kind] = [.isPrivate, .verify, .encrypt, .wrap]
        return [full, full.filter { !omittable.contains($0.kind) }]
    }

    /// As a DER OCTET STRING.
    static func encodedPoint(_ key: P256.Signing.PublicKey) -> [UInt8] { [0x04, 0x41] + Array(key.x963Representation) }

    /// Templates of a secret key for one import, the most complete one first.
    static func transportKey(isGenerated: Bool) -> [[Attribute]] {
        let base =
            [Attribute(.secretKey), Attribute(KeyType.aes)]
            + Attribute.flags(true: [.sensitive, .unwrap], false: [.isToken, .extractable])
            + (isGenerated ? [Attribute(.encrypt, true), Attribute(.valueLength, number: 32)] : [])
        let more =
            Attribute.flags(true: [.isPrivate], false: [.decrypt, .wrap, .sign, .verify, .derive])
            + (isGenerated ? [] : [Attribute(.encrypt, false)])
        return [base + more, base]
    }

    /// Whether the token refuses the template or this kind of object, instead of failing.
    static func isRefusal(_ answer: ReturnValue) -> Bool {
        switch answer {
        case .templateInconsistent, .attributeTypeInvalid, .attributeValueInvalid, .attributeReadOnly: true
        default: false
        }
    }

    static func firstAccepted<Value>(
        _ templates: [[Attribute]], _ make: ([Attribute]) throws -> Value
    ) throws -> (made: Value, template: [Attribute]) {
        for template in templates.dropLast() {
            do {
                return (try make(template), template)
            } catch let error as PKCS11Error where isRefusal(error.returnValue) {
                continue
            }
        }
        let last = templates.last ?? []
        return (try make(last), last)
    }

    /// Calls `make` with the most complete template that the token accepts. Each template is tried with a session
    /// object: SoftHSM 2.6.1 leaves an unnamed token object for each template that it refuses. A token without such
    /// session objects refuses every trial, and gets the templates without a trial.
    ///
    /// - Parameter discard: destroys the trial object if the token can; otherwise the object ends with the session.
    static func mostCompleteAccepted<Value>(
        _ templates: [[Attribute]], _ make: ([Attribute]) throws -> Value, discard: (Value) -> Void
    ) throws -> (made: Value, template: [Attribute]) {
        for template in templates {
            do {
                discard(try make(trial(template)))
            } catch let error as PKCS11Error where isRefusal(error.returnValue) {
                continue
            }
            return (try make(template), template)
        }
        return try firstAccepted(templates, make)
    }

    /// A session object with its own label: if the token does not destroy it, it is not taken for the key.
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

extension Attribute {
    /// For a flag.
    var isTrue: Bool { value == [1] }

    static func flags(true granted: [Kind] = [], false denied: [Kind] = []) -> [Attribute] {
        granted.map { Attribute($0, true) } + denied.map { Attribute($0, false) }
    }
}

/// The label and the ID of a new key.
struct KeyName: Sendable {
    let label: String
    let id: [UInt8]
    /// Whether the ID is random or derived from the public key, so that no other object has it by chance.
    let isDerived: Bool

    /// - Parameter publicKey: the source of the ID if the URI names none: the SHA-1 of its point (RFC 5280 §4.2.1.2,
    ///   method 1). Nil for a key that does not exist yet; its ID is random.
    init(_ selector: KeySelector, publicKey: P256.Signing.PublicKey?) throws(KeyError) {
        let attributes = try TokenURI(selector.uri).keyAttributes
        guard let label = attributes.first(where: { $0.kind == .label }), !label.value.isEmpty else {
            throw .invalidURI("it must give the new key a label with object=…")
        }
        guard let text = String(validating: label.value, as: UTF8.self) else {
            throw .invalidURI("the label of a new key (object=…) must be UTF-8")
        }
        self.label = text
        if let id = attributes.first(where: { $0.kind == .id })?.value, !id.isEmpty {
            (self.id, isDerived) = (id, false)
        } else if let publicKey {
            (id, isDerived) = (Array(Insecure.SHA1.hash(data: publicKey.x963Representation)), true)
        } else {
            (id, isDerived) = (Self.randomID(), true)
        }
    }

    private init(label: String, id: [UInt8]) {
        (self.label, self.id, isDerived) = (label, id, true)
    }

    /// For a session object that no search has to find.
    static var transient: KeyName { KeyName(label: "privyseal-transient", id: randomID()) }

    private static func randomID() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<20).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    var attributes: [Attribute] { [Attribute(.label, text: label), Attribute(.id, bytes: id)] }
}

/// Curves by `CKA_EC_PARAMS`: an object identifier in DER (RFC 3279 §2.3.5, RFC 5480 §2.1.1).
enum NamedCurve {
    static let p256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

    /// For error messages.
    static func name(_ parameters: [UInt8]?) -> String {
        switch parameters {
        case p256: "P-256"
        case [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A]: "secp256k1"
        case [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x21]: "P-224"
        case [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]: "P-384"
        case [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]: "P-521"
        case [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x01]: "P-192"
        case [0x06, 0x09, 0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07]: "brainpoolP256r1"
        case nil: "a curve that the token does not name"
        default: "an unknown curve"
        }
    }
}

/// Checks the attributes of a new key against `KeyTemplate`.
struct CreatedKeyCheck {
    /// By the standard's names.
    var attributes: [KeyInspection.Fact] = []
    /// Attributes that differ from a necessary value.
    var faults: [String] = []
    var warnings: [String] = []

    init(_ key: ObjectHandle, in session: Session) throws(PKCS11Error) {
        let type = try session.number(.keyType, of: key)
        attributes.append(.init("CKA_KEY_TYPE", type == KeyType.ec.rawValue ? "CKK_EC" : "\(type ?? 0)"))
        if type != KeyType.ec.rawValue { faults.append("it is not an EC key") }
        let curve = NamedCurve.name(try session.value(of: .ecParameters, in: key))
        attributes.append(.init("CKA_EC_PARAMS", curve))
        if curve != "P-256" { faults.append("it is on \(curve) and not on P-256") }
        for wanted in KeyTemplate.needed + KeyTemplate.desired {
            let (name, value) = (wanted.kind.name, try session.flag(wanted.kind, of: key))
            attributes.append(.init(name, Self.text(value)))
            // If the token does not know a right, the key does not have it. A protection must be reported.
            let isUnknownRight = value == nil && !wanted.isTrue && wanted.kind != .extractable
            if value == wanted.isTrue || isUnknownRight { continue }
            let sentence = "\(name) is \(Self.text(value)) and not \(wanted.isTrue)"
            if KeyTemplate.needed.contains(wanted) {
                faults.append(sentence)
            } else {
                warnings.append("The token ignored the template: \(sentence).")
            }
        }
        for kind in KeyTemplate.origin {
            attributes.append(.init(kind.name, Self.text(try session.flag(kind, of: key))))
        }
        let (isGiven, refusal) = try session.revealsValue(of: key)
        if isGiven { faults.append("CKA_VALUE can be read") }
        if let refusal { attributes.append(.init("CKA_VALUE", "refused: \(refusal)")) }
    }

    private static func text(_ flag: Bool?) -> String { flag.map { $0 ? "true" : "false" } ?? "not there" }
}

/// A signature that proves that a private key belongs to a public key.
enum PossessionProof {
    /// - Returns: false if the signature belongs to another key.
    static func holds(_ key: ObjectHandle, _ publicKey: P256.Signing.PublicKey, in session: Session) throws -> Bool {
        let digest = ProofOfPossession().digest
        let bytes = try sign(digest, with: key, in: session)
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes) else { return false }
        return publicKey.isValidSignature(signature, for: digest)
    }

    /// - Returns: r ‖ s, if the module keeps to the standard.
    static func sign(_ digest: SHA256Digest, with key: ObjectHandle, in session: Session) throws -> [UInt8] {
        let signer = Signer(session, .ecdsa)
        return try digest.withUnsafeBytes { Array(try signer.sign($0, with: key)) }
    }
}
