import Signing
import SigningKit
import Testing

@testable import KeyLifecycle

@Suite("Joining a fleet")
struct JoiningFleetTests {
    /// The states of a key, in order, as its history has them.
    private func record(_ states: KeyLifecycleState...) -> KeyLifecycleRecord {
        let time = Timestamp(milliseconds: 0)
        var record = KeyLifecycleRecord(adopting: "KEY", of: "issuer", as: states[0], at: time)
        for state in states.dropFirst() {
            record.history.append(
                KeyLifecycleChange(
                    time: time, action: .suspend, from: record.state, to: state, actor: "ann", reason: "A test."))
            if state == .compromised { record.noteCompromise(at: time) }
            record.state = state
        }
        return record
    }

    @Test("A fleet that allows a key less or the same misses no order")
    func nothingMissing() {
        for own in [record(.staged), record(.active), record(.retiring), record(.staged, .suspended)] {
            for other in [
                record(.active, .suspended), record(.active, .compromised), record(.staged, .retired),
                record(.staged, .destroyed),
            ] {
                #expect(own.action(missingIn: other) == nil)
            }
        }
        #expect(record(.staged).action(missingIn: record(.active)) == nil)
        #expect(record(.staged, .retired).action(missingIn: record(.staged, .destroyed)) == nil)
        #expect(record(.staged, .destroyed).action(missingIn: record(.staged, .retired)) == nil)
        #expect(record(.staged, .destroyed).action(missingIn: record(.staged, .destroyed, .compromised)) == nil)
        #expect(record(.staged, .compromised).action(missingIn: record(.staged, .compromised, .retired)) == nil)
    }

    @Test("A fleet that allows a key more misses the order that its rules accept next")
    func missing() {
        for other in [record(.staged), record(.active), record(.retiring)] {
            #expect(record(.staged, .suspended).action(missingIn: other) == .suspend)
            #expect(record(.staged, .compromised).action(missingIn: other) == .compromise)
        }
        #expect(record(.staged, .compromised).action(missingIn: record(.staged, .suspended)) == .compromise)
        #expect(record(.staged, .compromised, .retired).action(missingIn: record(.staged, .retired)) == .compromise)
        #expect(record(.staged, .compromised, .retired).action(missingIn: record(.staged, .compromised)) == .retire)
        #expect(record(.staged, .retired).action(missingIn: record(.staged, .suspended)) == .retire)
        #expect(record(.staged, .retired).action(missingIn: record(.active)) == .suspend)
        #expect(record(.staged, .destroyed).action(missingIn: record(.staged)) == .retire)
    }
}
