import KeyDrills
import SigningKit

extension DrillRun {
    /// How long a token is away. If its directory returns at once, SoftHSM has the token without its objects until a
    /// process writes to it.
    static let absence = Duration.seconds(5)

    /// The token is removed and returned. If the key has another token, no request may fail.
    func tokenLoss() async throws {
        let key = try await observe()
        let places = try await places(of: key)
        guard places.count < 2 else {
            try await losePlace(environment.throwAway == nil ? nil : 0, of: key, among: places)
            return await serves(key, "See that it stays so")
        }
        let lost = try await loseToken("Take the token away")
        await log.step("Ask /readyz", expected: "It says no, with 503.") {
            let isUnready = try await waitForReadiness(503)
            return .when(isUnready, isUnready ? "It says no." : "It still says yes.")
        }
        // The time of the return, or of the request for it to a person.
        var given = log.now()
        try await log.essential("Give the token back", expected: "It is there again.") {
            if let throwAway = environment.throwAway {
                try await Task.sleep(for: Self.absence)
                try throwAway.returnToken()
            } else {
                environment.conditions.say("Put the token back now.")
            }
            given = log.now()
            return .asExpected(environment.throwAway == nil ? "A person was asked to." : "It is, after some seconds.")
        }
        await recover(
            "Wait until service is back", expected: "The gateway recovers by itself, with the same key.", with: key,
            since: given, lost: lost, within: tokenLimit
        ) { first in
            let back = environment.throwAway == nil ? try await foundAgain(key, given) : given
            log.absence = Int((back ?? given).milliseconds - lost.milliseconds)
            guard let back else {
                return "\(first.ended.milliseconds - given.milliseconds) ms after a person was asked for the token"
            }
            return "\(log.time(\.restoration, from: back, to: first.ended)) ms after the token"
        }
        await serves(key, "See that it stays so")
    }

    /// - Returns: the first time after `begin` at which the audit log reports the token as back or the key as ready; nil
    ///   if there is none. For a token that is a directory, the library reports only the key as missing.
    private func foundAgain(_ key: String, _ begin: Timestamp) async throws -> Timestamp? {
        var back: Timestamp?
        // The entry may be written after the first signature.
        _ = try await wait {
            let tokens = try await environment.admin.auditEntries("kind=token&since=\(begin.text)")
            let keys = try await environment.admin.auditEntries("kind=key&since=\(begin.text)")
            back = (tokens + keys).compactMap(\.self)
                .filter { $0.event == "back" || $0.key == key && $0.state == "ready" }.map(\.time).min()
            return back != nil
        }
        if back == nil {
            log.deviate("The audit log does not say when the token was back, so that the restoration is not measured.")
        }
        return back
    }
}
