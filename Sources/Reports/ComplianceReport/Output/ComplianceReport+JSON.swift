import KeyLifecycle
import SigningKit
import StrictJSON

/// The order of the members is fixed. Equal reports have equal bytes, which the signature covers.
extension ComplianceReport: Encodable {
    public static let version = 1

    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers = [
            "version": Self.version,
            "id": id,
            "made": made,
            "verdict": tally,
            "installation": Self.members(of: installation),
            // Null without an audit log.
            "anchor": .some(anchor as any Encodable),
            "sections": sections.map { section -> JSONMembers in
                [
                    "id": section.id, "title": section.title, "checks": section.checks,
                    // An array of strings, because several facts may have the same name.
                    "facts": section.facts.map { "\($0.name): \($0.value)" },
                ]
            },
            "keys": keys.map { key -> JSONMembers in
                let history = key.history.map { change -> JSONMembers in
                    [
                        "at": change.time, "action": change.action, "change": change.states, "actor": change.actor,
                        "approver": change.approver, "reason": change.reason,
                    ]
                }
                return [
                    "issuerId": key.issuerID, "keyId": key.keyID, "verdict": key.tally,
                    "facts": Self.members(of: key.facts), "history": history, "checks": key.checks,
                ]
            },
        ]
        try members.encode(to: encoder)
    }

    private static func members(of facts: [Fact]) -> JSONMembers { JSONMembers(facts.map { ($0.name, $0.value) }) }
}

extension ComplianceTally: Encodable {
    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers = [
            "result": verdict, "passed": passed, "failed": failed, "unavailable": unavailable,
            "notApplicable": notApplicable,
        ]
        try members.encode(to: encoder)
    }
}
