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
        do throws(PKCS11Error) {
            type = try session.number(.keyType, of: key.handle)
            curve = try session.value(of: .ecParameters, in: key.handle)
            unprotected = try faults(of: key, session)
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
        try checkUse(key, session)
    }

    /// A key that may not sign is useless, protected or not.
    private static func checkUse(_ key: FoundKey, _ session: Session) throws(KeyError) {
        let signs: Bool?
        do throws(PKCS11Error) {
            signs = try session.flag(.sign, of: key.handle)
        } catch {
            throw error.whileOpening(key.name)
        }
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
        // The behaviour of the token counts, not the attributes that it reports.
        do throws(PKCS11Error) {
            if try session.gives(.value, of: key.handle) { faults.append("CKA_VALUE can be read") }
        } catch {
            let refusals: [ReturnValue] = [.attributeSensitive, .attributeTypeInvalid, .keyUnextractable]
            guard refusals.contains(error.returnValue) else { throw error }
        }
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
