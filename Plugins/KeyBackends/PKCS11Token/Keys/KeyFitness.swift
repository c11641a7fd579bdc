internal import PKCS11
internal import SigningKit

/// Refuses a key unless it is on P-256, can sign, and cannot be extracted.
enum KeyFitness {
    static func check(
        _ key: FoundKey, in session: Session, allowUnprotected: Bool
    ) throws(KeyError) {
        let type: UInt?
        let curve: [UInt8]?
        let unprotected: [String]
        let signs: Bool?
        do throws(PKCS11Error) {
            type = try session.number(.keyType, of: key.handle)
            curve = try session.value(of: .ecParameters, in: key.handle)
            unprotected = try faults(of: key, session)
            signs = try session.flag(.sign, of: key.handle)
        } catch {
            throw error.whileOpening(key.name)
        }
        guard type == KeyType.ec.rawValue else {
            throw .unfit("\(key.sentence) is not an EC key; App Store keys are on P-256.")
        }
        guard curve == NamedCurve.p256 else {
            throw .unfit("\(key.sentence) is on \(NamedCurve.name(curve)); App Store keys are on P-256.")
        }
        guard allowUnprotected || unprotected.isEmpty else {
            throw .unfit(
                "\(key.sentence) is not protected by its token: \(unprotected.joined(separator: ", ")). Import it again "
                    + "as sensitive and not extractable, or set allowUnprotectedKeys for a test.")
        }
        // A key that may not sign is useless, protected or not.
        guard signs == true else {
            throw .unfit("\(key.sentence) cannot sign: CKA_SIGN is \(text(signs)). Import it again with CKA_SIGN.")
        }
    }

    private static func faults(of key: FoundKey, _ session: Session) throws(PKCS11Error) -> [String] {
        var faults: [String] = []
        let sensitive = try session.flag(.sensitive, of: key.handle)
        if sensitive != true { faults.append("CKA_SENSITIVE is \(text(sensitive))") }
        let extractable = try session.flag(.extractable, of: key.handle)
        if extractable != false { faults.append("CKA_EXTRACTABLE is \(text(extractable))") }
        if try session.revealsValue(of: key.handle).isGiven { faults.append("CKA_VALUE can be read") }
        return faults
    }

    private static func text(_ flag: Bool?) -> String {
        flag.map { $0 ? "true" : "false" } ?? "missing"
    }
}

extension FoundKey {
    /// `name`, for the beginning of a sentence.
    var sentence: String { "T" + name.dropFirst() }
}
