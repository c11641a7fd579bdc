/// A backend whose keys can be inspected, to report how they are protected.
public protocol KeyInspecting: KeyBackend {
    /// All visible properties of a key, even if `key` refuses it as unfit. It also tries to extract the private key, if
    /// the backend has a way, and wipes any result.
    ///
    /// - Parameter provenance: the recorded origin of the key, on which some expected values depend.
    /// - Throws: `unavailable` and `closed`, like `key`.
    func inspect(_ selector: KeySelector, provenance: KeyProvenance) async throws(KeyError) -> KeyInspection

    /// The checks of `KeyInspection.checks` for a key that could not be inspected: none has passed.
    static func checks(provenance: KeyProvenance, uninspected error: KeyError) -> [ComplianceCheck]
}

extension KeyInspecting {
    public func inspect(_ selector: KeySelector) async throws(KeyError) -> KeyInspection {
        try await inspect(selector, provenance: .unknown)
    }
}

/// Where a key was made.
public enum KeyProvenance: String, Codable, Sendable {
    /// By the holder of the key, which never revealed it.
    case generated
    /// Elsewhere: a copy of the key may exist.
    case imported
    case unknown
}
