import PKCS11
import SigningKit

extension WritableToken {
    /// Destroys private keys with this label that have no value.
    ///
    /// `C_UnwrapKey` and `C_GenerateKeyPair` of SoftHSM 2.6.1 store the object of a key before its value. If the process
    /// ends in between, the object stays, and each signature with it fails with `CKR_GENERAL_ERROR`.
    func removeUnfinishedKeys(_ label: String, tell: (String) -> Void) throws {
        let labeled = [Attribute(.privateKey), Attribute(.label, text: label)]
        for key in try session.objects(with: labeled) where try isUnfinished(key) {
            tell("The token has a private key without a value, from an interrupted run; it is removed.")
            try session.destroy(key)
        }
    }

    /// Whether the key has an empty `CKA_EC_PARAMS`, which is set together with the value, and does not sign, either: a
    /// token may hide the curve of a good key.
    private func isUnfinished(_ key: ObjectHandle) throws -> Bool {
        guard try session.value(of: .ecParameters, in: key) == [] else { return false }
        do {
            _ = try PossessionProof.sign(ProofOfPossession().digest, with: key, in: session)
            return false
        } catch let error as PKCS11Error where error.returnValue == .generalError {
            return true
        }
    }
}
