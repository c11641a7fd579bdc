/// What a check found, its result, and the reason and the remedy.
package struct ComplianceVerdict {
    package let value: String?
    package let result: ComplianceCheck.Result
    package let detail: String?

    package static func pass(_ value: String, _ detail: String? = nil) -> Self {
        Self(value: value, result: .pass, detail: detail)
    }

    package static func fail(_ value: String, _ detail: String? = nil) -> Self {
        Self(value: value, result: .fail, detail: detail)
    }

    package static func unavailable(_ detail: String?, value: String? = nil) -> Self {
        Self(value: value, result: .unavailable, detail: detail)
    }

    package static func notApplicable(_ value: String?, _ detail: String? = nil) -> Self {
        Self(value: value, result: .notApplicable, detail: detail)
    }
}

extension ComplianceCheck {
    package init(
        _ id: String, _ asks: String, _ requirements: [Requirement] = [], expected: String,
        _ verdict: ComplianceVerdict,
        evidence: String
    ) {
        self.init(
            id, asks, requirements, value: verdict.value, expected: expected, verdict.result, detail: verdict.detail,
            evidence: evidence)
    }
}

/// A property that tells whether the location of a key made it.
extension KeyProvenance {
    /// For a report.
    package func expectation(generated: String, imported: String) -> String {
        switch self {
        case .generated: "\(generated) (generated)"
        case .imported: "\(imported) (imported)"
        case .unknown: "\(generated) if generated, \(imported) if imported"
        }
    }

    /// - Parameters:
    ///   - found: the value of the property.
    ///   - location: such as `the token`.
    ///   - detail: about an imported key whose property is as expected.
    package func verdict(
        on found: String, generated: String, imported: String, from location: String, imported detail: String
    ) -> ComplianceVerdict {
        switch self {
        case .generated where found == generated: .pass(found)
        case .imported where found == imported: .notApplicable(found, detail)
        case .generated: .fail(found, "The record says that \(location) made this key; \(location) says otherwise.")
        case .imported: .fail(found, "The record says that this key was imported; \(location) says otherwise.")
        case .unknown:
            .unavailable(
                "The origin of this key is not recorded. Set provenance: imported or provenance: generated.",
                value: found)
        }
    }
}
