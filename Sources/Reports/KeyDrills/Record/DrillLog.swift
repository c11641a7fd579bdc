public import SigningKit

/// Why a drill cannot continue: a sentence with the remedy.
public struct DrillError: Error, CustomStringConvertible, Sendable {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}

/// Collects the results of a running drill in its record. Only the task that runs the drill may use it.
public final class DrillLog {
    /// The result of a step.
    public struct Finding {
        public var isAsExpected: Bool
        public var actual: String

        public static func asExpected(_ actual: String) -> Finding { .when(true, actual) }
        public static func not(_ actual: String) -> Finding { .when(false, actual) }

        public static func when(_ isAsExpected: Bool, _ actual: String) -> Finding {
            Finding(isAsExpected: isAsExpected, actual: actual)
        }
    }

    public var record: DrillRecord
    public var rules = LoadRules()
    /// The time for which the drill kept the token away, in milliseconds.
    public var absence = 0
    public let now: @Sendable () -> Timestamp
    private let progress: @Sendable (String) -> Void

    /// - Parameters:
    ///   - record: A record without steps.
    ///   - progress: Receives a line at the start and at the end of a step, and for each deviation.
    public init(
        _ record: DrillRecord, clock: @escaping @Sendable () -> Timestamp,
        progress: @escaping @Sendable (String) -> Void
    ) {
        (self.record, now, self.progress) = (record, clock, progress)
    }

    /// Runs a step and records its result. An error from `body` is a failed result.
    ///
    /// - Returns: Whether the result was as expected.
    @discardableResult
    public func step(_ title: String, expected: String, _ body: () async throws -> Finding) async -> Bool {
        progress("\(record.steps.count + 1). \(title) …")
        let begun = now()
        var finding: Finding
        do { finding = try await body() } catch { finding = .not("\(error)") }
        record.steps.append(
            DrillStep(
                title: title, expected: expected, actual: finding.actual, begun: begun, ended: now(),
                verdict: finding.isAsExpected ? .passed : .failed))
        progress("   \(finding.isAsExpected ? "as expected" : "NOT AS EXPECTED"): \(finding.actual)")
        return finding.isAsExpected
    }

    /// Runs a step that the later steps need. Throws if its result is not as expected.
    public func essential(_ title: String, expected: String, _ body: () async throws -> Finding) async throws {
        guard await step(title, expected: expected, body) else {
            throw DrillError("The drill ended early, because the step \"\(title)\" was not as expected.")
        }
    }

    /// - Returns: The recorded duration in milliseconds.
    @discardableResult
    public func time(
        _ timing: WritableKeyPath<DrillTimings, Int?>, from begin: Timestamp, to end: Timestamp
    ) -> Int {
        let span = Int(max(0, end.milliseconds - begin.milliseconds))
        record.timings[keyPath: timing] = span
        return span
    }

    /// Records a deviation for each timing above its limit, and for too long an outage.
    ///
    /// - Parameters:
    ///   - outages: The outages of the whole drill.
    ///   - isInFleet: Whether other gateways had to agree on a change of the active key.
    public func judgeSpans(_ outages: [Range<Timestamp>], isInFleet: Bool) {
        for timing in DrillTiming.all {
            guard let span = record.timings[keyPath: timing.value],
                let limit = isInFleet ? timing.limitInFleet ?? timing.limit : timing.limit, span > limit
            else { continue }
            deviate("\(timing.title) took \(span) ms, \(timing.meaning); at most \(limit) ms are expected.")
        }
        let longest = outages.map { Int($0.upperBound.milliseconds - $0.lowerBound.milliseconds) }.max() ?? 0
        let limit = Int(ServiceOutages.longest) + absence
        guard longest > limit else { return }
        deviate("No request was served for \(longest) ms; at most \(limit) ms are expected.")
    }

    public func prove(_ kind: String, _ subject: String, _ detail: String) {
        record.proofs.append(DrillRecord.Proof(kind: kind, subject: subject, detail: detail, at: now()))
    }

    public func deviate(_ sentence: String) {
        record.deviations.append(sentence)
        progress("   deviation: \(sentence)")
    }
}
