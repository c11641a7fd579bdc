import Encodings
import PKCS11
import SigningKit

/// A private key as the token shows it.
struct FoundKey: Sendable {
    let handle: ObjectHandle
    /// Text of any encoding: some programs do not write UTF-8.
    let label: [UInt8]
    let id: [UInt8]

    init(_ handle: ObjectHandle, in session: Session) throws(PKCS11Error) {
        self.handle = handle
        label = try session.value(of: .label, in: handle) ?? []
        id = try session.value(of: .id, in: handle) ?? []
    }

    /// For messages, with the ID as in a URI.
    var name: String { "the key \"\(shownLabel)\"" + (id.isEmpty ? "" : " (id=\(Self.escaped(id)))") }

    /// `name`, for the beginning of a sentence.
    var sentence: String { "T" + name.dropFirst() }

    /// The attributes that select this key in a URI.
    var attributes: String { "object=\(shownLabel), id=\(Self.escaped(id))" }

    /// Maximum characters of a label and bytes of an ID in a message: either may have 64 KiB in a token.
    private static let shownLength = 128

    private var shownLabel: String {
        let text = String(decoding: label, as: UTF8.self)
        return text.count > Self.shownLength ? text.prefix(Self.shownLength) + "…" : text
    }

    private static func escaped(_ id: [UInt8]) -> String {
        let shown = id.prefix(shownLength).map { "%" + Hexadecimal.encode([$0], uppercase: true) }
        return shown.joined() + (id.count > shownLength ? "…" : "")
    }
}

extension FoundKey {
    /// The maximum number of keys in an error message.
    private static let listLimit = 20

    /// Finds exactly one private key.
    ///
    /// - Throws: `notFound` or `ambiguous`, with a list of keys.
    static func find(_ selector: KeySelector, on token: TokenInfo, in session: Session) throws(KeyError) -> FoundKey {
        let wanted = try TokenURI(selector.uri).keyAttributes
        let found = try opening(token.name) { () throws(PKCS11Error) in try keys(wanted, session) }
        if found.count == 1 { return found[0] }
        let asked = selector.uri.path
        guard found.isEmpty else {
            throw .ambiguous(
                "\(found.count) private keys on the token \(token.name) match \(asked): \(list(found)). Name one "
                    + "of them by object and id.")
        }
        let all = try opening(token.name) { () throws(PKCS11Error) in try keys([], session) }
        throw .notFound(
            "No private key on the token \(token.name) matches \(asked). "
                + (all.isEmpty ? "It has none." : "It has \(list(all))."))
    }

    private static func keys(_ attributes: [Attribute], _ session: Session) throws(PKCS11Error) -> [FoundKey] {
        var keys: [FoundKey] = []
        for object in try session.objects(with: [Attribute(.privateKey)] + attributes) {
            keys.append(try FoundKey(object, in: session))
        }
        return keys
    }

    private static func list(_ keys: [FoundKey]) -> String {
        let shown = keys.prefix(listLimit).map { "(\($0.attributes))" }.joined(separator: ", ")
        return keys.count > listLimit ? "\(shown) and \(keys.count - listLimit) more" : shown
    }

    // MARK: Fitness

    /// Refuses a key unless it is on P-256, can sign, and cannot be extracted.
    func checkFitness(in session: Session, allowUnprotected: Bool) throws(KeyError) {
        let (type, curve, unprotected, signs) = try opening(name) { () throws(PKCS11Error) in
            (
                try session.number(.keyType, of: handle), try session.value(of: .ecParameters, in: handle),
                try faults(session), try session.flag(.sign, of: handle)
            )
        }
        guard type == KeyType.ec.rawValue else {
            throw .unfit("\(sentence) is not an EC key; App Store keys are on P-256.")
        }
        guard curve == NamedCurve.p256 else {
            throw .unfit("\(sentence) is on \(NamedCurve.name(curve)); App Store keys are on P-256.")
        }
        guard allowUnprotected || unprotected.isEmpty else {
            throw .unfit(
                "\(sentence) is not protected by its token: \(unprotected.joined(separator: ", ")). Import it again "
                    + "as sensitive and not extractable, or set allowUnprotectedKeys for a test.")
        }
        // A key that may not sign is useless, protected or not.
        guard signs == true else {
            throw .unfit("\(sentence) cannot sign: CKA_SIGN is \(Self.text(signs)). Import it again with CKA_SIGN.")
        }
    }

    private func faults(_ session: Session) throws(PKCS11Error) -> [String] {
        var faults: [String] = []
        let sensitive = try session.flag(.sensitive, of: handle)
        if sensitive != true { faults.append("CKA_SENSITIVE is \(Self.text(sensitive))") }
        let extractable = try session.flag(.extractable, of: handle)
        if extractable != false { faults.append("CKA_EXTRACTABLE is \(Self.text(extractable))") }
        if try session.revealsValue(of: handle).isGiven { faults.append("CKA_VALUE can be read") }
        return faults
    }

    private static func text(_ flag: Bool?) -> String { flag.map { $0 ? "true" : "false" } ?? "missing" }
}
