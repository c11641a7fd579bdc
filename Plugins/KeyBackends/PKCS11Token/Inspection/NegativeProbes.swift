internal import PKCS11

/// Tries both ways to extract a private key. The behaviour of the token counts, not the attributes that it reports.
struct NegativeProbes {
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

    private let session: Session

    init(_ session: Session) {
        self.session = session
    }

    /// - Throws: when the session has become unusable.
    func `try`(on object: ObjectHandle) throws(PKCS11Error) -> Answers {
        Answers(value: try value(object), wrap: try wrap(object))
    }

    private func value(_ object: ObjectHandle) throws(PKCS11Error) -> Answer {
        do throws(PKCS11Error) {
            let (isGiven, refusal) = try session.revealsValue(of: object)
            if let refusal { return .refused(answer: "\(refusal)") }
            return isGiven ? .given : .untried("the token gave an empty value")
        } catch {
            return try classify(error, refusals: [])
        }
    }

    /// Wraps the key under an AES key that exists only in this session.
    private func wrap(_ object: ObjectHandle) throws(PKCS11Error) -> Answer {
        let key: ObjectHandle
        do throws(PKCS11Error) {
            key = try session.generateKey(
                .aesKeyGeneration,
                [
                    Attribute(.secretKey), Attribute(.isToken, false), Attribute(.isPrivate, true),
                    Attribute(.valueLength, number: 32), Attribute(.sensitive, true), Attribute(.extractable, false),
                    Attribute(.wrap, true),
                ])
        } catch {
            guard error.returnValue.isOfSession else { return .untried("the token makes no AES key: \(error)") }
            throw error
        }
        defer { try? session.destroy(key) }
        var outcome = Answer.untried("the token has no mechanism to wrap with")
        for mechanism in [Mechanism.aesKeyWrapKWP, .aesKeyWrapPadded, .aesKeyWrap] {
            do throws(PKCS11Error) {
                outcome =
                    try session.gives(object, under: key, by: mechanism)
                    ? .given : .untried("the token gave nothing under \(mechanism.name)")
            } catch {
                outcome = try classify(error, refusals: [.keyUnextractable, .keyNotWrappable])
            }
            if case .untried = outcome { continue }
            break
        }
        return outcome
    }

    private func classify(
        _ error: PKCS11Error, refusals: [ReturnValue]
    ) throws(PKCS11Error) -> Answer {
        if refusals.contains(error.returnValue) { return .refused(answer: "\(error.returnValue)") }
        guard error.returnValue.isOfSession else { return .untried("\(error)") }
        throw error
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
