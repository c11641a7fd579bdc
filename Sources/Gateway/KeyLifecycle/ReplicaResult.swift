import SigningKit

/// The result of a provisioning job at one of several places.
public struct ReplicaResult: Codable, Sendable, Equatable {
    /// The place, without attributes that lead to a secret.
    public var uri: String
    /// What the administrator reported: always a success, because a failed place has no result.
    public var report: ProvisioningResult
    /// What the gateway saw of the key, by name; nil until it has looked.
    public var facts: [String: String]?
}

/// The places of a job, and the state of the work at each of them.
extension ProvisioningJob {
    /// All places, in order.
    public var uris: [String] { [uri] + replicas }

    /// The places as evidence, by name.
    var places: [String: String] {
        var places = ["uri": uri]
        for (number, replica) in replicas.enumerated() { places["replica.\(number + 1).uri"] = replica }
        return places
    }

    /// The places at which the gateway has verified the result.
    public var finishedURIs: [String] { results.filter { $0.facts != nil }.map(\.uri) }

    /// The reports that the gateway has not verified yet.
    var unverifiedReports: [(uri: String, report: ProvisioningResult)] {
        let single = report.map { [(uri: uri, report: $0)] } ?? []
        return single + results.filter { $0.facts == nil }.map { ($0.uri, $0.report) }
    }

    /// Whether this place is the only one without a verified result.
    func isLastPlace(_ uri: String) -> Bool {
        uris.allSatisfy { place in place.hasSameBytes(as: uri) || finishedURIs.containsExactly(place) }
    }

    mutating func set(_ result: ReplicaResult) {
        results.removeAll { $0.uri.hasSameBytes(as: result.uri) }
        results.append(result)
    }

    /// The report and the facts with which a job with several places ends; nil while a place has no verified result.
    ///
    /// Those of the first place are complete. The audit log has those of the others in entries of their own.
    var conclusion: (report: ProvisioningResult, facts: [String: String])? {
        let ordered = uris.compactMap { uri in results.first { $0.uri.hasSameBytes(as: uri) } }
        guard ordered.count == uris.count, var facts = ordered[0].facts else { return nil }
        for (number, result) in ordered.enumerated().dropFirst() {
            guard let seen = result.facts else { return nil }
            let reported = result.report.evidence
            facts["replica.\(number).uri"] = result.uri
            facts["replica.\(number).seenBy"] = seen["seenBy"]
            facts["replica.\(number).tokenSerial"] = seen["tokenSerial"] ?? reported["tokenSerial"]
            facts["replica.\(number).method"] = reported["method"]
        }
        return (ordered[0].report, facts)
    }
}
