internal import PKCS11
internal import SigningKit

/// A private key that is in the token now and was not looked at yet.
struct ArrivedKey {
    let object: ObjectHandle
    let method: PlacedKey.Method
    var warnings: [String]
}
