internal import PKCS11
public import SigningKit

extension PKCS11TokenBackend: KeyInspecting {
    /// Runs on the maintenance thread, in parallel with signatures.
    public func inspect(
        _ selector: KeySelector, provenance: KeyProvenance
    ) async throws(KeyError) -> KeyInspection {
        try await inspectedKey(selector).inspection(provenance)
    }

    public static func checks(provenance: KeyProvenance, uninspected error: KeyError) -> [ComplianceCheck] {
        TokenKeyChecks(provenance: provenance, inspected: .failure(error)).all
    }

    func inspectedKey(_ selector: KeySelector) async throws(KeyError) -> InspectedTokenKey {
        let wanted = try TokenURI(selector.uri).keyAttributes
        return try await onMaintenanceThread { [self] () throws(KeyError) in
            try opening(connection.info.name) { () throws(PKCS11Error) in
                try InspectedTokenKey(selector, wanted, connection)
            }
        }
    }
}
