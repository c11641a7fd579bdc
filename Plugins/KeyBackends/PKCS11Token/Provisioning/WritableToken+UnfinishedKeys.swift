import Glibc
import PKCS11
import SigningKit

extension WritableToken {
    /// Destroys the private keys of an interrupted run that have no value.
    ///
    /// `C_UnwrapKey` and `C_GenerateKeyPair` of SoftHSM 2.6.1 store the object of a key before its value. If the process
    /// ends in between, the object stays, and each signature with it fails with `CKR_GENERAL_ERROR`.
    ///
    /// - Parameter attributes: the name of the key.
    func removeUnfinishedKeys(_ attributes: [Attribute], tell: (String) -> Void) throws {
        let keys = try session.objects(with: [Attribute(.privateKey), Attribute(KeyType.ec)] + attributes)
        for key in keys where try isUnfinished(key) {
            tell("The token has a private key without a value, from an interrupted run; it is removed.")
            try session.destroy(key)
        }
    }

    /// Whether the key has an empty `CKA_EC_PARAMS`, which is set together with the value, and does not sign in two
    /// attempts: a token may hide the curve of a good key, and `CKR_GENERAL_ERROR` may pass.
    private func isUnfinished(_ key: ObjectHandle) throws -> Bool {
        guard try session.value(of: .ecParameters, in: key) == [], !signs(with: key) else { return false }
        usleep(500_000)
        return try session.value(of: .ecParameters, in: key) == [] && !signs(with: key)
    }

    /// Whether a signature ends otherwise than with `CKR_GENERAL_ERROR`.
    private func signs(with key: ObjectHandle) -> Bool {
        do {
            _ = try PossessionProof.sign(ProofOfPossession().digest, with: key, in: session)
            return true
        } catch let error as PKCS11Error {
            return error.returnValue != .generalError
        } catch {
            return true
        }
    }
}
