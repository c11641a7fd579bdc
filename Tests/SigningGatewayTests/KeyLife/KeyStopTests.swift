import AuditKit
import SigningKit
import SigningKitTesting
import Testing

@testable import SigningGateway

@Suite("Stops of keys")
struct KeyStopTests {
    @Test("A compromise and a suspension that could not be recorded are both recorded, and the key stays compromised")
    func bothRecorded() async throws {
        for actions in [[KeyLifeAction.compromise, .suspend], [.suspend, .compromise]] {
            let house = try await KeyHouse()
            try await house.stopWithoutRecord(actions)
            #expect(house.overview("ACTIVE")?.life.state == .compromised)
            #expect(house.overview("ACTIVE")?.isRecorded == false)
            try await house.recover()
            #expect(house.state("ACTIVE") == .compromised)
            #expect(house.overview("ACTIVE")?.isRecorded == true)
            #expect(house.actions(of: "ACTIVE").suffix(2) == actions.map(\.rawValue))
            await #expect(throws: KeyLifeRefusal.self) { try await house.change(.resume, "ACTIVE") }
            await #expect(throws: GatewayError.noKeyInUse(app: TestGateway.app)) { try await house.sign() }
            await house.close()
        }
    }

    @Test("The first change after an outage is decided after the stops that were not recorded")
    func stopsComeFirst() async throws {
        let house = try await KeyHouse()
        try await house.stopWithoutRecord([.compromise])
        await house.writable()
        await #expect(throws: KeyLifeRefusal.self) { try await house.change(.resume, "ACTIVE") }
        #expect(house.state("ACTIVE") == .compromised)
        await house.close()
    }

    @Test("An order that is repeated while it cannot be recorded is recorded once")
    func repeated() async throws {
        let house = try await KeyHouse()
        try await house.stopWithoutRecord([.suspend, .suspend, .suspend])
        try await house.recover()
        #expect(house.actions(of: "ACTIVE") == ["adopt", "suspend"])
        _ = try await house.change(.resume, "ACTIVE")
        _ = try await house.sign()
        await house.close()
    }

    @Test("A flood of stops that cannot be recorded is limited, and does not displace a compromise")
    func flood() async throws {
        let house = try await KeyHouse()
        house.gateway.store.fault = .full("No space is left.")
        for number in 0..<100 {
            let order = KeyChangeOrder(.suspend, "ACTIVE", reason: "Number \(number)")
            await #expect(throws: KeyLifeRefusal.self) { try await house.office.change(order, by: "alice") }
        }
        await #expect(throws: KeyLifeRefusal.self) { try await house.change(.compromise, "ACTIVE") }
        try await house.recover()
        #expect(house.state("ACTIVE") == .compromised)
        #expect(house.actions(of: "ACTIVE").count == 18)
        #expect(house.actions(of: "ACTIVE").last == "compromise")
        await house.close()
    }

    @Test("A stop that is recorded does not lift the hold of another one that waits")
    func holdPerOrder() async throws {
        let house = try await KeyHouse()
        let store = house.gateway.store
        // The transaction of the suspension waits, and the two other orders wait for their turn.
        let begun = store.transactions
        store.hold()
        let suspension = Task { try await house.change(.suspend, "ACTIVE") }
        await store.begun(begun + 1)
        let resumption = Task { try await house.change(.resume, "ACTIVE") }
        await house.waiting(1)
        let compromise = Task { try await house.change(.compromise, "ACTIVE") }
        await house.waiting(2)
        let signing = Task {
            while !Task.isCancelled {
                _ = try? await house.sign()
                _ = try? await house.sign(keyID: "ACTIVE")
            }
        }
        store.release()
        _ = try await suspension.value
        // A stop passes before other changes, so the compromise refuses the resumption.
        await #expect(throws: KeyLifeRefusal.self) { try await resumption.value }
        guard case .done(let records) = try await compromise.value else { return }
        signing.cancel()
        await signing.value
        #expect(records.map(\.state) == [.compromised])
        #expect(house.actions(of: "ACTIVE") == ["adopt", "suspend", "compromise"])
        // The hold of the compromise began before the first of the requests.
        #expect(store.entries("signature").isEmpty)
        await house.close()
    }

    @Test("A key that is being stopped is not activated")
    func activation() async throws {
        let house = try await KeyHouse()
        let store = house.gateway.store
        let begun = store.transactions
        store.hold()
        let other = Task { try await house.change(.suspend, "ACTIVE") }
        await store.begun(begun + 1)
        let activation = Task { try await house.change(.activate, "OTHER") }
        await house.waiting(1)
        let compromise = Task { try await house.change(.compromise, "OTHER") }
        await house.waiting(2)
        store.release()
        _ = try await other.value
        await #expect(throws: KeyLifeRefusal.self) { try await activation.value }
        _ = try await compromise.value
        #expect(house.actions(of: "OTHER") == ["adopt", "compromise"])
        await house.close()
    }

    @Test("The time of a compromise is that of the first order, also if the order is recorded later or repeated")
    func compromisedAt() async throws {
        let clock = SteppedClock()
        let house = try await KeyHouse(clock: clock)
        let ordered = clock.now
        try await house.stopWithoutRecord([.compromise])
        clock.advance(by: .seconds(60))
        try await house.recover()
        #expect(house.overview("ACTIVE")?.life.compromisedAt == ordered)
        #expect(house.overview("ACTIVE")?.life.since == clock.now)
        for action in [KeyLifeAction.retire, .compromise] {
            clock.advance(by: .seconds(60))
            _ = try await house.change(action, "ACTIVE")
        }
        #expect(house.state("ACTIVE") == .compromised)
        #expect(house.overview("ACTIVE")?.life.compromisedAt == ordered)
        await house.close()
    }

    @Test("An order that is too many to be kept until it can be recorded is told so, and the key stays stopped")
    func tooMany() async throws {
        let house = try await KeyHouse()
        house.gateway.store.fault = .full("No space is left.")
        for number in 0...UnrecordedStops.limit {
            let order = KeyChangeOrder(.compromise, "ACTIVE", reason: "Number \(number)")
            let error = await #expect(throws: KeyLifeRefusal.self) { try await house.office.change(order, by: "alice") }
            let isKept = error?.description.contains("this order is not kept") == false
            #expect(isKept == (number < UnrecordedStops.limit))
        }
        try await house.recover()
        #expect(house.state("ACTIVE") == .compromised)
        await house.close()
    }

    @Test("A stop that is ordered before the audit log could be opened holds, and is recorded when it has been")
    func beforeTheLogIsOpen() async throws {
        let store = MemoryAuditStore()
        store.openingFault = .full("No space is left.")
        let house = try await KeyHouse(store: store)
        let stop = await #expect(throws: KeyLifeRefusal.self) { try await house.change(.compromise, "ACTIVE") }
        #expect(stop?.kind == .unrecorded)
        #expect(stop?.description.contains("The key ACTIVE is stopped") == true)
        for (action, keyID) in [(KeyLifeAction.compromise, "NONE"), (.retire, "OTHER"), (.activate, "OTHER")] {
            let other = await #expect(throws: KeyLifeRefusal.self) { try await house.change(action, keyID) }
            #expect(other?.kind == .unrecorded)
        }
        store.openingFault = nil
        await house.gateway.until { house.gateway.audit.state.isWritable }
        await #expect(throws: GatewayError.noKeyInUse(app: TestGateway.app)) { try await house.sign() }
        await house.office.keepUp()
        #expect(house.state("ACTIVE") == .compromised)
        #expect(house.actions(of: "ACTIVE") == ["adopt", "compromise"])
        await house.close()
    }

    @Test("No answer of a batch leaves after its key was stopped, also of those that were signed before")
    func batch() async throws {
        let house = try await KeyHouse()
        let place = house.gateway.plain.place
        place.hold(after: 1)
        let asked = place.counts.signatures
        let batch = Task { try await house.signBatch(of: 3) }
        await house.gateway.until { place.counts.signatures == asked + 2 }
        _ = try await house.change(.compromise, "ACTIVE")
        place.release()
        for answer in try await batch.value {
            #expect(throws: GatewayError.noKeyInUse(app: TestGateway.app)) { try answer.get() }
        }
        #expect(house.gateway.store.entries("signature").isEmpty)
        await house.close()
    }

    @Test("A stop that is refused leaves no hold")
    func refused() async throws {
        let house = try await KeyHouse()
        _ = try await house.change(.suspend, "ACTIVE")
        await #expect(throws: KeyLifeRefusal.self) { try await house.change(.suspend, "ACTIVE") }
        _ = try await house.change(.resume, "ACTIVE")
        _ = try await house.sign()
        await house.close()
    }
}

extension KeyHouse {
    func overview(_ keyID: String) -> KeyLifeOverview.Key? { try? office.overview(of: keyID) }

    /// What the entries say was done with a key, from the first to the last.
    func actions(of keyID: String) -> [String] {
        gateway.store.entries("life").filter { $0.text("key") == keyID }.compactMap { $0.text("action") }
    }

    /// Orders stops of ACTIVE that the log cannot record.
    func stopWithoutRecord(_ actions: [KeyLifeAction]) async throws {
        gateway.store.fault = .full("No space is left.")
        for action in actions {
            let error = await #expect(throws: KeyLifeRefusal.self) { try await change(action, "ACTIVE") }
            #expect(error?.kind == .unrecorded)
        }
    }

    /// Returns when the log can be written again.
    func writable() async {
        gateway.store.fault = nil
        await gateway.until { gateway.audit.state.isWritable }
    }

    /// The log can be written again, and the office records what waits.
    func recover() async throws {
        await writable()
        try await office.prepare()
    }

    /// Returns when so many orders wait for their turn.
    func waiting(_ count: Int) async { await gateway.until { office.turnstile.waitingCount >= count } }
}
