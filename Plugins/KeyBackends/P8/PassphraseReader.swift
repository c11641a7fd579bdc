import SigningKit

/// Reads the passphrase of an encrypted key file, only when it is needed.
struct PassphraseReader {
    /// As in the URI's `passphrase-source`.
    let reference: String?
    let secrets: any SecretSource

    func read(for path: String) throws(KeyError) -> Secret {
        guard let reference else {
            throw .secretUnavailable(
                "The key file \(path) is encrypted; give the source of its passphrase with "
                    + "?passphrase-source=file:/path.")
        }
        return try secrets.secret(reference)
    }
}
