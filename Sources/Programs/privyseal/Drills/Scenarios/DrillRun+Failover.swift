import KeyDrills
import KeyLifecycle
import SigningKit

extension DrillRun {
    /// Each place of the active key is removed and returned in turn. No request may fail.
    func failover() async throws {
        let key = try await observe()
        let places = try await places(of: key)
        try await log.essential(
            "Look at the places of \(key)", expected: "It has several places, and it is ready at each of them."
        ) {
            let text = places.map { "\(Self.name($0)) is \($0.fitness)" }.joined(separator: ", ")
            return .when(
                places.count > 1 && places.allSatisfy { $0.fitness == "ready" },
                places.isEmpty ? "It has one place." : text + ".")
        }
        for number in places.indices { try await losePlace(number, of: key, among: places) }
        await serves(key, "See that it stays so")
    }

    /// The places of a key with several places; empty for a key with one.
    func places(of keyID: String) async throws -> [KeyLifecycleOverview.Replica] { try await key(keyID).replicas }

    /// The URI of a place without its query.
    private static func name(_ place: KeyLifecycleOverview.Replica) -> Substring { place.uri.prefix { $0 != "?" } }

    /// Removes one place of a key and returns it.
    ///
    /// - Parameters:
    ///   - wanted: the number of the place; nil for the one that a person chooses.
    ///   - places: the places before the removal.
    func losePlace(
        _ wanted: Int?, of key: String, among places: [KeyLifecycleOverview.Replica]
    ) async throws {
        let name = wanted.map { "the token of \(Self.name(places[$0]))" } ?? "one token of \(key)"
        let (lost, number) = try await removePlace(wanted, name, of: key)
        guard places.indices.contains(number) else {
            throw DrillError("The key \(key) got other places during the drill. Run it again.")
        }
        await log.step("Ask /readyz", expected: "It says yes: another token signs.") {
            let status = await load.readiness()
            return .when(status == 200, status == 200 ? "It says yes." : "It says no.")
        }
        await noFailure(since: lost, "Look at the requests since then")
        await otherTokensSigned(since: log.now(), than: places[number], key)
        try await returnPlace(number, name, of: key)
        await noFailure(since: lost, "Look at the requests since the removal")
    }

    /// - Returns: when the token was removed, and the number of the place.
    private func removePlace(
        _ wanted: Int?, _ name: String, of key: String
    ) async throws -> (lost: Timestamp, number: Int) {
        var (lost, found) = (log.now(), wanted ?? 0)
        try await log.essential(
            "Take \(name) away", expected: "The gateway reports the place as not ready, and the key as degraded."
        ) {
            if let throwAway = environment.throwAway {
                try throwAway.removeToken(found)
                lost = log.now()
            } else {
                environment.conditions.say("Take \(name) away now.")
            }
            let isSeen = try await wait(tokenLimit) {
                let places = try await self.places(of: key)
                guard let number = places.indices.first(where: { Self.isLost(places[$0], $0, wanted) }) else {
                    return false
                }
                found = number
                return true
            }
            guard isSeen else { return .not("The gateway reports all places as ready.") }
            // The moment at which a person removed the token is unknown.
            if environment.throwAway != nil { noteDetection(from: lost) }
            let seen = try await self.key(key)
            return .when(seen.fitness == "degraded", "The key is \(seen.fitness ?? "unknown"). \(seen.complaint ?? "")")
        }
        return (lost, found)
    }

    private static func isLost(_ place: KeyLifecycleOverview.Replica, _ number: Int, _ wanted: Int?) -> Bool {
        (wanted == nil || wanted == number) && place.fitness != "ready"
    }

    /// Records the longest detection.
    private func noteDetection(from lost: Timestamp) {
        let now = log.now()
        guard Int(now.milliseconds - lost.milliseconds) > log.record.timings.detection ?? -1 else { return }
        log.time(\.detection, from: lost, to: now)
    }

    private func noFailure(since begin: Timestamp, _ title: String) async {
        await log.step(title, expected: "Some were served, and none failed.") {
            try await Task.sleep(for: Self.baselineDuration)
            let answers = load.answers.filter { $0.ended >= begin }
            let (served, failed) = (answers.count { $0.isServed }, answers.count { $0.isFailed })
            return .when(served > 0 && failed == 0, "\(served) were served, \(failed) failed.")
        }
    }

    /// Checks that the audit log names other tokens than that of the lost place.
    private func otherTokensSigned(
        since begin: Timestamp, than place: KeyLifecycleOverview.Replica, _ key: String
    ) async {
        await log.step(
            "Look into the audit log",
            expected: "Its entries name the tokens that signed, and the lost one is not among them."
        ) {
            try await Task.sleep(for: Self.baselineDuration)
            let query = "key=\(key)&kind=signature&since=\(begin.text)"
            let serials = Set(try await environment.admin.auditEntries(query).compactMap { $0?.tokenSerial })
            guard let lost = place.tokenSerial else {
                return .asExpected("The lost place has no serial number; the entries name \(Self.list(serials)).")
            }
            return .when(!serials.contains(lost), "They name \(Self.list(serials)); the lost token is \(lost).")
        }
    }

    private static func list(_ serials: Set<String>) -> String {
        serials.isEmpty ? "no token" : serials.sorted().joined(separator: ", ")
    }

    private func returnPlace(_ number: Int, _ name: String, of key: String) async throws {
        try await log.essential(
            "Give \(name) back", expected: "The gateway finds it again, without a person, and the key is ready."
        ) {
            if let throwAway = environment.throwAway {
                try await Task.sleep(for: Self.absence)
                try throwAway.returnToken(number)
            } else {
                environment.conditions.say("Put it back now.")
            }
            let given = log.now()
            let isBack = try await wait(tokenLimit) { try await self.key(key).fitness == "ready" }
            let span = log.now().milliseconds - given.milliseconds
            let places = try await places(of: key)
            let fitness = places.indices.contains(number) ? places[number].fitness : "gone"
            return .when(isBack, isBack ? "It did, after \(span) ms." : "The place is \(fitness).")
        }
    }
}
