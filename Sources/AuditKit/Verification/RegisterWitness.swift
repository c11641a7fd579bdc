import Base64

/// What an entry says of a register.
struct RegisterWitness {
    let entry: Int
    /// Base64url of SHA-256.
    let digest: String
    /// Of the key that it is about; nil where no entry said.
    var state: String?

    func isOf(_ register: AuditRegister) -> Bool {
        register.entry == entry
            && digest.utf8.elementsEqual(Base64.url.encode(Array(AuditRegister.digest(of: register.value))))
    }
}
