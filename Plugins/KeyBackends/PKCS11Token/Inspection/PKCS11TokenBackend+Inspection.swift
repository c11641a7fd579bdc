public import SigningKit

extension PKCS11TokenBackend: KeyInspecting {
    /// On the keeper, beside signatures.
    public func inspect(_ selector: KeySelector) async throws(KeyError) -> KeyInspection {
        try await token.inspect(selector)
    }
}

extension LiveToken {
    func inspect(_ selector: KeySelector) async throws(KeyError) -> KeyInspection {
        try await onKeeper { [self] () throws(KeyError) in try TokenInspection(connection).inspect(selector) }
    }
}
