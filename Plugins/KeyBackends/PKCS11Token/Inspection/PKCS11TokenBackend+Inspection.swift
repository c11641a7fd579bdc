public import SigningKit

extension PKCS11TokenBackend: KeyInspecting {
    /// Runs on the maintenance thread, in parallel with signatures.
    public func inspect(_ selector: KeySelector) async throws(KeyError) -> KeyInspection {
        try await token.inspect(selector)
    }
}

extension ActiveToken {
    func inspect(_ selector: KeySelector) async throws(KeyError) -> KeyInspection {
        try await onMaintenanceThread { [self] () throws(KeyError) in try TokenInspection(connection).inspect(selector)
        }
    }
}
