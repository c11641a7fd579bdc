/// Where PINs and passphrases come from: files and credentials, never arguments.
public protocol SecretSource: Sendable {
    /// - Parameter reference: `file:/absolute/path`, or `credential:NAME` for a systemd credential.
    /// - Throws: `KeyError.secretUnavailable`, naming the place and never the content.
    func secret(_ reference: String) throws(KeyError) -> Secret
}
