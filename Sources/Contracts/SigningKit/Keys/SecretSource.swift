/// Reads PINs and passphrases from files and credentials, never from arguments.
public protocol SecretSource: Sendable {
    /// - Parameter reference: `file:/absolute/path`, or `credential:NAME` for a systemd credential.
    /// - Throws: `KeyError.secretUnavailable`, which names the location, never the content.
    func secret(_ reference: String) throws(KeyError) -> Secret
}
