import PKCS11

/// Tries both ways to extract a private key. The behaviour of the token counts, not the attributes that it reports.
enum NegativeProbes {
    /// The result of an attempt to extract the private key.
    enum Answer: Equatable {
        /// The token refused, as it must.
        case refused(answer: String)
        /// The token revealed the key, which was then wiped.
        case given
        /// The attempt was not possible, for the reason in the text.
        case untried(String)
    }

    struct Answers: Equatable {
        /// `C_GetAttributeValue` of `CKA_VALUE`.
        var value: Answer
        /// `C_WrapKey` under an AES key made for this probe.
        var wrap: Answer
    }

    /// - Throws: when the session has become unusable.
    static func run(on object: ObjectHandle, in session: Session) throws(PKCS11Error) -> Answers {
        let value = try answer(refusals: []) { () throws(PKCS11Error) in
            let (isGiven, refusal) = try session.revealsValue(of: object)
            if let refusal { return .refused(answer: "\(refusal)") }
            return isGiven ? .given : .untried("the token gave an empty value")
        }
        return Answers(value: value, wrap: try wrap(object, in: session))
    }

    /// Wraps the key under an AES key that exists only in this session.
    private static func wrap(_ object: ObjectHandle, in session: Session) throws(PKCS11Error) -> Answer {
        let key: ObjectHandle
        do throws(PKCS11Error) {
            key = try session.generateKey(
                .aesKeyGeneration,
                [Attribute(.secretKey), Attribute(.valueLength, number: 32)]
                    + Attribute.flags(true: [.isPrivate, .sensitive, .wrap], false: [.isToken, .extractable]))
        } catch {
            guard error.returnValue.isOfSession else { return .untried("the token makes no AES key: \(error)") }
            throw error
        }
        defer { try? session.destroy(key) }
        var outcome = Answer.untried("the token has no mechanism to wrap with")
        for mechanism in [Mechanism.aesKeyWrapKWP, .aesKeyWrapPadded, .aesKeyWrap] {
            outcome = try answer(refusals: [.keyUnextractable, .keyNotWrappable]) { () throws(PKCS11Error) in
                try session.gives(object, under: key, by: mechanism)
                    ? .given : .untried("the token gave nothing under \(mechanism.name)")
            }
            guard case .untried = outcome else { break }
        }
        return outcome
    }

    private static func answer(
        refusals: [ReturnValue], _ probe: () throws(PKCS11Error) -> Answer
    ) throws(PKCS11Error) -> Answer {
        do throws(PKCS11Error) { return try probe() } catch {
            if refusals.contains(error.returnValue) { return .refused(answer: "\(error.returnValue)") }
            guard error.returnValue.isOfSession else { return .untried("\(error)") }
            throw error
        }
    }
}

extension ReturnValue {
    fileprivate static let keyNotWrappable = ReturnValue(rawValue: 0x69)

    /// Whether the value concerns the session or the token, not the arguments of the call.
    fileprivate var isOfSession: Bool {
        switch self {
        case .sessionClosed, .sessionHandleInvalid, .tokenNotPresent, .deviceRemoved, .cryptokiNotInitialized,
            .userNotLoggedIn:
            true
        default: false
        }
    }
}
