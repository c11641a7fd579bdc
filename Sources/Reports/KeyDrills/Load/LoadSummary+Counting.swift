public import SigningKit

extension LoadSummary {
    /// Lengths of an interval in milliseconds. The timeline uses the first with at most `mostIntervals` intervals.
    private static let lengths: [Int64] = [100, 250, 500, 1000, 5000, 15_000, 60_000, 300_000, 3_600_000]
    static let mostIntervals: Int64 = 400

    /// Counts answers on a timeline from `begin` to `end`, which includes intervals without answers.
    public init(_ answers: [LoadAnswer], rules: LoadRules, from begin: Timestamp, to end: Timestamp) {
        let span = max(0, end.milliseconds - begin.milliseconds)
        let length = Self.lengths.first { span / $0 < Self.mostIntervals } ?? 86_400_000
        self.init(
            served: 0, failed: 0, unexcused: 0, wronglySigned: 0, byKey: [:], byReason: [:],
            intervalLength: Int(length),
            intervals: (0...span / length).map {
                Interval(begin: Timestamp(milliseconds: begin.milliseconds + $0 * length))
            })
        for answer in answers {
            let index = Int((answer.ended.milliseconds - begin.milliseconds) / length)
            count(answer, rules, in: min(max(0, index), intervals.count - 1))
        }
    }

    private mutating func count(_ answer: LoadAnswer, _ rules: LoadRules, in index: Int) {
        if rules.fault(of: answer) != nil {
            wronglySigned += 1
            return
        }
        switch answer.outcome {
        case .served(let keyID):
            served += 1
            byKey[keyID, default: 0] += 1
            intervals[index].served += 1
            intervals[index].byKey[keyID, default: 0] += 1
        case .failed(let reason):
            failed += 1
            byReason[reason, default: 0] += 1
            intervals[index].failed += 1
            if !rules.excuses(answer) { unexcused += 1 }
        case .wronglySigned:
            wronglySigned += 1
        }
    }
}
