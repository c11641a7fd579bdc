import SigningKit
import Testing

@testable import KeyDrills

@Suite("Load summaries")
struct SummaryTests {
    private func summary(_ answers: [LoadAnswer], _ rules: LoadRules = LoadRules(), to end: Int64 = 1000) -> LoadSummary
    {
        LoadSummary(answers, rules: rules, from: Samples.time(0), to: Samples.time(end))
    }

    @Test("Answers are counted by key, by reason and by interval")
    func counts() {
        let load = summary([
            Samples.answer(0, .served(keyID: "OLDKEY")), Samples.answer(10, .served(keyID: "OLDKEY")),
            Samples.answer(210, .served(keyID: "NEWKEY")), Samples.answer(220, .failed("503")),
            Samples.answer(230, .wronglySigned("It was.")),
        ])
        #expect((load.served, load.failed, load.wronglySigned) == (3, 1, 1))
        #expect(load.byKey == ["OLDKEY": 2, "NEWKEY": 1])
        #expect(load.byReason == ["503": 1])
        #expect(load.intervalMs == 100)
        #expect(load.intervals.count == 11)
        #expect(load.intervals[0].byKey == ["OLDKEY": 2])
        #expect((load.intervals[2].served, load.intervals[2].failed) == (1, 1))
        #expect(load.intervals[3] == .init(at: Samples.time(300)))
    }

    @Test("A signature is wrong only if its request began after the key was banned")
    func bans() {
        var rules = LoadRules()
        rules.ban("OLDKEY", from: Samples.time(100))
        let load = summary(
            [
                Samples.answer(99, .served(keyID: "OLDKEY"), lasting: 50),
                Samples.answer(100, .served(keyID: "OLDKEY")),
                Samples.answer(101, .served(keyID: "NEWKEY")),
            ], rules)
        #expect((load.served, load.wronglySigned) == (2, 1))
    }

    @Test("An outage excuses the failures that overlap it and no others")
    func outages() {
        var rules = LoadRules()
        rules.beginOutage(Samples.time(100))
        rules.endOutage(Samples.time(200))
        let load = summary(
            [
                Samples.answer(50, .failed("503")), Samples.answer(98, .failed("503"), lasting: 4),
                Samples.answer(150, .failed("503")), Samples.answer(200, .failed("503")),
                Samples.answer(201, .failed("503")),
            ], rules)
        #expect((load.failed, load.failedUnexcused) == (5, 2))
    }

    @Test("An outage does not excuse a wrong signature")
    func wrongInOutage() {
        var rules = LoadRules()
        rules.beginOutage(Samples.time(0))
        #expect(summary([Samples.answer(50, .wronglySigned("It was."))], rules).wronglySigned == 1)
    }

    @Test("Long drills have longer intervals, so that the record stays small", arguments: [1, 60, 3600, 86_400])
    func length(_ seconds: Int64) {
        let load = summary([Samples.answer(seconds * 1000, .served(keyID: "OLDKEY"))], to: seconds * 1000)
        #expect(load.intervals.count <= 400)
        #expect(load.intervals.last?.served == 1)
    }
}
