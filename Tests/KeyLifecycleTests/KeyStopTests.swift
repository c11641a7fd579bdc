import AuditKit
import AuditLog
import GatewayTesting
import SigningKit
import SigningKitTesting
import Testing

@testable import KeyLifecycle
@testable import Signing

@Suite("Key stops")
struct KeyStopTests {
    @Test("An unrecorded compromise and suspension are both recorded later, and the key stays compromised")
    func bothRecorded() async throws {
        for actions in [[KeyLifecycleAction.compromise, .suspend], [.suspend, .compromise]] {
            let fixture = try await LifecycleTestGateway()
            try await fixture.stopWithoutRecord(actions)
            #expect(fixture.overview("ACTIVE")?.life.state == .compromised)
            #expect(fixture.overview("ACTIVE")?.isRecorded == false)
            try await fixture.recover()
            #expect(fixture.state("ACTIVE") == .compromised)
            #expect(fixture.overview("ACTIVE")?.isRecorded == true)
            #expect(fixture.actions(of: "ACTIVE").suffix(2) == actions.map(\.rawValue))
            await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.resume, "ACTIVE") }
            await #expect(throws: GatewayError.noKeyInUse(app: TestGateway.app)) { try await fixture.sign() }
            await fixture.close()
        }
    }

    @Test("The first change after an outage is decided after the unrecorded stops")
    func stopsComeFirst() async throws {
        let fixture = try await LifecycleTestGateway()
        try await fixture.stopWithoutRecord([.compromise])
        await fixture.writable()
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.resume, "ACTIVE") }
        #expect(fixture.state("ACTIVE") == .compromised)
        await fixture.close()
    }

    @Test("A stop reaches requests that began before a reload removed the account")
    func removedAccount() async throws {
        let fixture = try await LifecycleTestGateway()
        let states = fixture.gateway.keyStates.account(fixture.gateway.plain.settings.accounts[0].issuerID)
        #expect(states.key("ACTIVE")?.state == .active)
        fixture.gateway.keyStates.declare([], at: Timestamp(milliseconds: 0))
        _ = try await fixture.change(.suspend, "ACTIVE")
        #expect(states.key("ACTIVE")?.state == .suspended)
        await fixture.close()
    }

    @Test("A repeated unrecorded order is recorded once")
    func repeated() async throws {
        let fixture = try await LifecycleTestGateway()
        try await fixture.stopWithoutRecord([.suspend, .suspend, .suspend])
        // The end of a repeated order does not end the hold of the first one.
        #expect(fixture.overview("ACTIVE")?.life.state == .suspended)
        try await fixture.recover()
        #expect(fixture.actions(of: "ACTIVE") == ["adopt", "suspend"])
        _ = try await fixture.change(.resume, "ACTIVE")
        _ = try await fixture.sign()
        await fixture.close()
    }

    @Test("An order is recorded after an outage, also if the same order was recorded when the clock was ahead")
    func sameOrderAgain() async throws {
        let clock = SteppedClock()
        let fixture = try await LifecycleTestGateway(clock: clock)
        clock.set(by: .seconds(3600))
        _ = try await fixture.change(.suspend, "ACTIVE")
        _ = try await fixture.change(.resume, "ACTIVE")
        clock.set(by: .seconds(-3600))
        try await fixture.stopWithoutRecord([.suspend])
        try await fixture.recover()
        #expect(fixture.actions(of: "ACTIVE") == ["adopt", "suspend", "resume", "suspend"])
        #expect(fixture.state("ACTIVE") == .suspended)
        await fixture.close()
    }

    @Test("A stop is recorded, also if the configuration lost the key before its adoption was recorded")
    func keyWithoutRecord() async throws {
        let fixture = try await LifecycleTestGateway()
        fixture.gateway.store.fault = .full("No space is left.")
        try fixture.declare("NEW", at: fixture.gateway.plain.place.add("new"))
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.compromise, "NEW") }
        fixture.reload { _ in }
        try await fixture.recover()
        #expect(fixture.state("NEW") == .compromised)
        #expect(fixture.actions(of: "NEW") == ["adopt", "compromise"])
        await fixture.close()
    }

    @Test("A change that was refused as overdue and is recorded later applies before the next signature")
    func overdueChange() async throws {
        let fixture = try await LifecycleTestGateway()
        _ = try await fixture.sign(keyID: "OTHER")
        let store = fixture.gateway.store
        let begun = store.transactions
        store.hold()
        let retirement = Task { try await fixture.change(.retire, "OTHER") }
        await store.begun(begun + 1)
        let error = await #expect(throws: KeyLifecycleRefusal.self) { try await retirement.value }
        #expect(error?.description.contains("may or may not be recorded") == true)
        store.release()
        await fixture.gateway.until { fixture.gateway.audit.state.isWritable }
        await #expect(throws: GatewayError.keyNotInUse("OTHER", .retired)) { try await fixture.sign(keyID: "OTHER") }
        await fixture.close()
    }

    @Test("A change that does not reach the log leaves the register unchanged, and says so")
    func unwritableLog() async throws {
        let fixture = try await LifecycleTestGateway()
        fixture.gateway.store.fault = .full("No space is left.")
        _ = try? await fixture.sign()
        let error = await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.retire, "OTHER") }
        #expect(error?.description.contains("so the register is unchanged") == true)
        await fixture.writable()
        #expect(fixture.state("OTHER") == .retiring)
        await fixture.close()
    }

    @Test("Unrecorded stops are limited and do not displace a compromise")
    func flood() async throws {
        let fixture = try await LifecycleTestGateway()
        fixture.gateway.store.fault = .full("No space is left.")
        for number in 0..<100 {
            let order = KeyChangeOrder(.suspend, "ACTIVE", reason: "Number \(number)")
            await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.lifecycle.change(order, by: "alice") }
        }
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.compromise, "ACTIVE") }
        try await fixture.recover()
        #expect(fixture.state("ACTIVE") == .compromised)
        #expect(fixture.actions(of: "ACTIVE").count == 18)
        #expect(fixture.actions(of: "ACTIVE").last == "compromise")
        await fixture.close()
    }

    @Test("Recording a stop does not lift the hold of another waiting stop")
    func holdPerOrder() async throws {
        let fixture = try await LifecycleTestGateway()
        let store = fixture.gateway.store
        // The transaction of the suspension waits in the store; the two other orders wait for the mutex.
        let begun = store.transactions
        store.hold()
        let suspension = Task { try await fixture.change(.suspend, "ACTIVE") }
        await store.begun(begun + 1)
        let resumption = Task { try await fixture.change(.resume, "ACTIVE") }
        await fixture.waiting(1)
        let compromise = Task { try await fixture.change(.compromise, "ACTIVE") }
        await fixture.waiting(2)
        let signing = Task {
            while !Task.isCancelled {
                _ = try? await fixture.sign()
                _ = try? await fixture.sign(keyID: "ACTIVE")
            }
        }
        store.release()
        _ = try await suspension.value
        // A stop precedes other changes, so the compromise refuses the resumption.
        await #expect(throws: KeyLifecycleRefusal.self) { try await resumption.value }
        let records = try #require(try await compromise.value.done)
        signing.cancel()
        await signing.value
        #expect(records.map(\.state) == [.compromised])
        #expect(fixture.actions(of: "ACTIVE") == ["adopt", "suspend", "compromise"])
        // The compromise stopped the key before the first request.
        #expect(store.entries("signature").isEmpty)
        await fixture.close()
    }

    @Test("A key with a stop in progress is not activated")
    func activation() async throws {
        let fixture = try await LifecycleTestGateway()
        let store = fixture.gateway.store
        let begun = store.transactions
        store.hold()
        let other = Task { try await fixture.change(.suspend, "ACTIVE") }
        await store.begun(begun + 1)
        let activation = Task { try await fixture.change(.activate, "OTHER") }
        await fixture.waiting(1)
        let compromise = Task { try await fixture.change(.compromise, "OTHER") }
        await fixture.waiting(2)
        store.release()
        _ = try await other.value
        await #expect(throws: KeyLifecycleRefusal.self) { try await activation.value }
        _ = try await compromise.value
        #expect(fixture.actions(of: "OTHER") == ["adopt", "compromise"])
        await fixture.close()
    }

    @Test("The time of a compromise is the time of its first order")
    func compromisedAt() async throws {
        let clock = SteppedClock()
        let fixture = try await LifecycleTestGateway(clock: clock)
        let ordered = clock.now
        try await fixture.stopWithoutRecord([.compromise])
        clock.advance(by: .seconds(60))
        try await fixture.recover()
        #expect(fixture.overview("ACTIVE")?.life.compromisedAt == ordered)
        #expect(fixture.overview("ACTIVE")?.life.since == clock.now)
        for action in [KeyLifecycleAction.retire, .compromise] {
            clock.advance(by: .seconds(60))
            _ = try await fixture.change(action, "ACTIVE")
        }
        #expect(fixture.state("ACTIVE") == .compromised)
        #expect(fixture.overview("ACTIVE")?.life.compromisedAt == ordered)
        await fixture.close()
    }

    @Test("An order beyond the limit of unrecorded stops says so, and the key stays stopped")
    func tooMany() async throws {
        let fixture = try await LifecycleTestGateway()
        fixture.gateway.store.fault = .full("No space is left.")
        for number in 0...KeyStop.limit {
            let order = KeyChangeOrder(.compromise, "ACTIVE", reason: "Number \(number)")
            let error = await #expect(throws: KeyLifecycleRefusal.self) {
                try await fixture.lifecycle.change(order, by: "alice")
            }
            let isKept = error?.description.contains("does not keep this order") == false
            #expect(isKept == (number < KeyStop.limit))
        }
        try await fixture.recover()
        #expect(fixture.state("ACTIVE") == .compromised)
        await fixture.close()
    }

    @Test("A stop before the audit log opens holds and is recorded afterwards")
    func beforeTheLogIsOpen() async throws {
        let store = MemoryAuditStore()
        store.openingFault = .full("No space is left.")
        let fixture = try await LifecycleTestGateway(store: store)
        let stop = await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.compromise, "ACTIVE") }
        #expect(stop?.kind == .unrecorded)
        #expect(stop?.description.contains("The key ACTIVE is stopped") == true)
        for (action, keyID) in [(KeyLifecycleAction.compromise, "NONE"), (.retire, "OTHER"), (.activate, "OTHER")] {
            let other = await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(action, keyID) }
            #expect(other?.kind == .unrecorded)
        }
        store.openingFault = nil
        await fixture.gateway.until { fixture.gateway.audit.state.isWritable }
        await #expect(throws: GatewayError.noKeyInUse(app: TestGateway.app)) { try await fixture.sign() }
        await fixture.lifecycle.processDeadlines()
        #expect(fixture.state("ACTIVE") == .compromised)
        #expect(fixture.actions(of: "ACTIVE") == ["adopt", "compromise"])
        await fixture.close()
    }

    @Test("No answer of a batch is released after its key is stopped")
    func batch() async throws {
        let fixture = try await LifecycleTestGateway()
        let place = fixture.gateway.plain.place
        place.hold(after: 1)
        let asked = place.counts.signatures
        let batch = Task { try await fixture.signBatch(of: 3) }
        await fixture.gateway.until { place.counts.signatures == asked + 2 }
        _ = try await fixture.change(.compromise, "ACTIVE")
        place.release()
        for answer in try await batch.value {
            #expect(throws: GatewayError.noKeyInUse(app: TestGateway.app)) { try answer.get() }
        }
        #expect(fixture.gateway.store.entries("signature").isEmpty)
        await fixture.close()
    }

    @Test("Only a suspended key has a state to which it returns")
    func suspendedFrom() async throws {
        let fixture = try await LifecycleTestGateway()
        for action in [KeyLifecycleAction.suspend, .compromise, .restore, .retire] {
            _ = try await fixture.change(action, "OTHER")
            let life = try #require(fixture.overview("OTHER")?.life)
            #expect((life.suspendedFrom != nil) == (life.state == .suspended))
        }
        await fixture.close()
    }

    @Test("A refused stop leaves no hold")
    func refused() async throws {
        let fixture = try await LifecycleTestGateway()
        _ = try await fixture.change(.suspend, "ACTIVE")
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.suspend, "ACTIVE") }
        _ = try await fixture.change(.resume, "ACTIVE")
        _ = try await fixture.sign()
        await fixture.close()
    }
}

extension LifecycleTestGateway {
    func overview(_ keyID: String) -> KeyLifecycleOverview.Key? { try? lifecycle.overview(of: keyID) }

    /// The actions on a key according to the entries, in order.
    func actions(of keyID: String) -> [String] {
        gateway.store.entries("life").filter { $0.text("key") == keyID }.compactMap { $0.text("action") }
    }

    /// Orders stops of ACTIVE that the log cannot record.
    func stopWithoutRecord(_ actions: [KeyLifecycleAction]) async throws {
        gateway.store.fault = .full("No space is left.")
        for action in actions {
            let error = await #expect(throws: KeyLifecycleRefusal.self) { try await change(action, "ACTIVE") }
            #expect(error?.kind == .unrecorded)
        }
    }

    /// Removes the fault and waits until the log is writable.
    func writable() async {
        gateway.store.fault = nil
        await gateway.until { gateway.audit.state.isWritable }
    }

    /// Makes the log writable; then the service records the pending stops.
    func recover() async throws {
        await writable()
        try await lifecycle.prepare()
    }

    /// Waits until `count` orders wait for the mutex.
    func waiting(_ count: Int) async { await gateway.until { lifecycle.mutex.waitingCount >= count } }
}
