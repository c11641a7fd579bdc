import SigningKit

extension KeyExamination {
    /// The checks about the further places of the key, and their comparison. Empty for a key with one place.
    var replicaChecks: [ComplianceCheck] {
        guard !key.replicas.isEmpty else { return [] }
        let places = key.replicas.enumerated().flatMap { number, replica in
            KeyExamination(
                key: key.at(replica), hasDualControl: hasDualControl, acceptsSoftware: acceptsSoftware, now: now
            ).placeChecks.map { check in
                var check = check
                check.id = "replica.\(number + 1).\(check.id)"
                check.asks += " (at \(replica.uri))"
                return check
            }
        }
        return places + [agreement]
    }

    /// Whether the key is the same at all places, with the same attributes.
    private var agreement: ComplianceCheck {
        let inspections = [(key.uri, key.inspection)] + key.replicas.map { ($0.uri, $0.inspection) }
        let seen = inspections.compactMap { uri, inspection in
            if case .seen(let seen, _) = inspection { (uri: uri, seen: seen) } else { nil }
        }
        let verdict: ComplianceVerdict
        if let first = seen.first, seen.count == inspections.count {
            let differences = seen.dropFirst().flatMap { Self.differences(from: first, $0) }
            verdict =
                differences.isEmpty
                ? .pass("\(seen.count) places agree")
                : .fail("\(differences.count) differences", differences.joined(separator: " "))
        } else {
            let missing = inspections.count - seen.count
            verdict = .unavailable("\(missing) of \(inspections.count) places could not be examined.")
        }
        return ComplianceCheck(
            "replicas.agree", "Is it the same key with the same attributes at all of its places?",
            [.pci("3.7.7")], expected: "no difference", verdict, evidence: "read from each place")
    }

    private typealias SeenPlace = (uri: String, seen: KeyInspection)

    /// Attributes that name the object in its token. They may differ.
    private static let names: Set = ["attribute.CKA_ID", "attribute.CKA_LABEL"]

    /// A sentence for each difference. Attributes that only one of two places has are not compared: the places may be of
    /// different kinds.
    private static func differences(from first: SeenPlace, _ other: SeenPlace) -> [String] {
        var sentences: [String] = []
        if first.seen.fingerprint != other.seen.fingerprint {
            let (one, two) = (first.seen.fingerprint, other.seen.fingerprint)
            sentences.append(
                "The fingerprint is \(one?.description ?? "not known") at \(first.uri) and "
                    + "\(two?.description ?? "not known") at \(other.uri).")
        }
        for check in first.seen.checks where check.id.hasPrefix("attribute.") && !names.contains(check.id) {
            guard let value = check.value,
                let otherValue = other.seen.checks.first(where: { $0.id == check.id })?.value, value != otherValue
            else { continue }
            let name = check.id.dropFirst("attribute.".count)
            sentences.append("\(name) is \(value) at \(first.uri) and \(otherValue) at \(other.uri).")
        }
        return sentences
    }
}
