/// A backend whose keys can be inspected, to report how they are protected.
public protocol KeyInspecting: KeyBackend {
    /// All visible properties of a key, even if `key` refuses it as unfit. It also tries to extract the private key,
    /// and wipes any result. If no key or several keys match, `objects.uri` counts them and `attributes` is empty.
    ///
    /// - Throws: `unavailable` and `closed`, like `key`.
    func inspect(_ selector: KeySelector) async throws(KeyError) -> KeyInspection
}
