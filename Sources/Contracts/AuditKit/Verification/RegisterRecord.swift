import Encodings

/// An entry's record of a register.
struct RegisterRecord {
    let entry: Int
    /// Base64url of SHA-256.
    let digest: String
    /// The state of the register's key; nil if no entry stated it.
    var state: String?

    func isOf(_ register: AuditRegister) -> Bool {
        register.entry == entry
            && digest.utf8.elementsEqual(Base64.url.encode(Array(AuditRegister.digest(of: register.value))))
    }
}
