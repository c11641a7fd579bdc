internal import PKCS11
internal import SigningKit

/// A private key that is in the token and has not been checked yet.
struct NewPrivateKey {
    let object: ObjectHandle
    let method: ProvisionedKey.Method
    var warnings: [String]
}
