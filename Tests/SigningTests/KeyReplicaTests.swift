import AuditKit
import Crypto
import Foundation
import GatewayTesting
import Signing
import SigningKit
import SigningKitTesting
import Testing

@Suite("A key with several places", .timeLimit(.minutes(1)))
struct KeyReplicaTests {
    @Test("With inOrder, the first place signs every request, and the audit entry has the serial number of its token")
    func inOrder() async throws {
        let gateway = try await ReplicatedGateway()
        #expect(gateway.handle.state == .ready)
        for _ in 0..<3 { try await gateway.sign() }
        #expect(gateway.signers == ["serial-0", "serial-0", "serial-0"])
    }

    @Test(
        "If a place fails during a request, the next place signs it, and the entry has the serial number of that token",
        arguments: [
            KeyError.unavailable("gone"), .failed("CKR_GENERAL_ERROR"), .busy, .notFound("no key"),
            .loginRefused("wrong PIN"), .loginBlocked("locked"), .closed,
        ])
    func failover(_ fault: KeyError) async throws {
        let gateway = try await ReplicatedGateway()
        gateway.places[0].failNext(fault)
        try await gateway.sign()
        #expect(gateway.signers == ["serial-1"])
        #expect(gateway.handle.state.canSign)
    }

    @Test("A place that failed signs no request until it has signed a proof again")
    func outage() async throws {
        let gateway = try await ReplicatedGateway()
        gateway.places[0].outage = .unavailable("gone")
        try await gateway.sign()
        #expect(gateway.states == ["down", "ready"])
        let before = gateway.places[0].counts.signatures
        for _ in 0..<3 { try await gateway.sign() }
        #expect(gateway.places[0].counts.signatures == before)
        gateway.places[0].outage = nil
        await gateway.ring.prove()
        #expect(gateway.handle.state == .ready)
        try await gateway.sign()
        #expect(gateway.signers.map { $0 == "serial-0" } == [false, false, false, false, true])
    }

    @Test("A full queue does not take a place out")
    func busy() async throws {
        let gateway = try await ReplicatedGateway()
        gateway.places[0].failNext(.busy)
        try await gateway.sign()
        try await gateway.sign()
        #expect(gateway.states == ["ready", "ready"])
        #expect(gateway.signers == ["serial-1", "serial-0"])
    }

    @Test("A request is tried at two places at most, and fails with the error of the first")
    func onlyOnce() async throws {
        let gateway = try await ReplicatedGateway(count: 3)
        gateway.places[0].failNext(.unavailable("first"))
        gateway.places[1].failNext(.failed("second"))
        let third = gateway.places[2].counts.signatures
        await #expect(throws: GatewayError.key(.unavailable("first"), keyID: "ACTIVE")) { try await gateway.sign() }
        #expect(gateway.places[2].counts.signatures == third)
        try await gateway.sign()
        #expect(gateway.signers == ["serial-2"])
    }

    @Test("A cancelled request is not tried at the next place")
    func cancelled() async throws {
        let gateway = try await ReplicatedGateway()
        gateway.places[0].hold()
        let second = gateway.places[1].counts.signatures
        let request = Task { try await gateway.sign() }
        await gateway.places[0].busy(with: 1)
        request.cancel()
        _ = await request.result
        #expect(gateway.places[1].counts.signatures == second)
        #expect(gateway.states == ["ready", "ready"])
    }

    @Test("A signature that does not verify is never released: the next place signs, and the first is taken out")
    func badSignature() async throws {
        let gateway = try await ReplicatedGateway()
        gateway.places[0].corruptNext()
        let answer = try await gateway.audited.sign()
        #expect(try isValid(answer, gateway))
        #expect(gateway.signers == ["serial-1"])
        #expect(gateway.states == ["down", "ready"])
        gateway.places[0].corruptNext()
        await gateway.ring.prove()
        #expect(gateway.states == ["down", "ready"])
        await gateway.ring.prove()
        #expect(gateway.states == ["degraded", "ready"])
    }

    private func isValid(_ answer: [UInt8], _ gateway: ReplicatedGateway) throws -> Bool {
        let text = String(decoding: answer, as: UTF8.self)
        let jws = try #require(text.firstMatch(of: /eyJ[\w-]+\.[\w-]+\.[\w-]+/)).0
        let parts = jws.split(separator: ".")
        let encoded = parts[2].replacing("-", with: "+").replacing("_", with: "/") + "=="
        let raw = try #require(Data(base64Encoded: String(encoded)))
        return gateway.key.publicKey.isValidSignature(
            try P256.Signing.ECDSASignature(rawRepresentation: raw), for: Data("\(parts[0]).\(parts[1])".utf8))
    }

    @Test("With leastBusy, concurrent requests are divided among the places")
    func leastBusy() async throws {
        let gateway = try await ReplicatedGateway(count: 3, selection: .leastBusy)
        for place in gateway.places { place.hold() }
        // One after the other: two requests that choose at the same time may choose the same place.
        var requests: [Task<Void, any Error>] = []
        for number in 0..<6 {
            requests.append(Task { try await gateway.sign() })
            await gateway.places[number % 3].busy(with: number / 3 + 1)
        }
        for place in gateway.places { place.release() }
        for request in requests { try await request.value }
        let signers = gateway.signers.compactMap(\.self).sorted()
        #expect(signers == ["serial-0", "serial-0", "serial-1", "serial-1", "serial-2", "serial-2"])
    }

    @Test("With leastBusy, a place without requests signs the next one")
    func leastBusyAvoidsWaiting() async throws {
        let gateway = try await ReplicatedGateway(selection: .leastBusy)
        gateway.places[0].hold()
        let waiting = Task { try await gateway.sign() }
        await gateway.places[0].busy(with: 1)
        try await gateway.sign()
        #expect(gateway.signers == ["serial-1"])
        gateway.places[0].release()
        try await waiting.value
        try await gateway.sign()
        #expect(gateway.signers == ["serial-1", "serial-0", "serial-0"])
    }

    // MARK: State

    @Test("The key is degraded while one place is down, and names that place")
    func degraded() async throws {
        let gateway = try await ReplicatedGateway()
        gateway.places[1].outage = .unavailable("The token is not there.")
        await gateway.ring.prove()
        guard case .degraded(let sentence) = gateway.handle.state else {
            Issue.record("the key is \(gateway.handle.state)")
            return
        }
        #expect(sentence.contains(gateway.places[1].name) && sentence.contains("The token is not there."))
        #expect(!sentence.contains(gateway.places[0].name))
    }

    @Test("The key is down only if all places are down")
    func allDown() async throws {
        let gateway = try await ReplicatedGateway()
        for place in gateway.places { place.outage = .unavailable("gone") }
        await gateway.ring.prove()
        guard case .down = gateway.handle.state else {
            Issue.record("the key is \(gateway.handle.state)")
            return
        }
        await #expect(throws: GatewayError.self) { try await gateway.sign() }
        gateway.places[1].outage = nil
        await gateway.ring.prove()
        #expect(gateway.states == ["down", "ready"])
        try await gateway.sign()
    }

    @Test("A refused login at all places is reported as such, so that no restart tries the PIN again")
    func allRefused() async throws {
        let gateway = try await ReplicatedGateway { places in
            places[0].openingFault = .unfit("wrong curve")
            places[1].openingFault = .loginRefused("wrong PIN")
        }
        #expect(gateway.handle.state == .refused(.loginRefused("wrong PIN")))
    }

    @Test("A place that is missing at the start is opened later, and the other place signs meanwhile")
    func missingAtStart() async throws {
        let gateway = try await ReplicatedGateway(isPinned: true) { $0[0].openingFault = .unavailable("not there") }
        #expect(gateway.states == ["down", "ready"])
        try await gateway.sign()
        gateway.places[0].openingFault = nil
        await gateway.ring.openMissing()
        // It has signed no proof yet.
        try await gateway.sign()
        await gateway.ring.prove()
        try await gateway.sign()
        #expect(gateway.signers == ["serial-1", "serial-1", "serial-0"])
    }

    @Test("A place that has never signed a proof signs no request")
    func unproven() async throws {
        let gateway = try await ReplicatedGateway { $0[0].outage = .unavailable("gone") }
        gateway.places[0].outage = nil
        gateway.places[1].outage = .unavailable("gone")
        await #expect(throws: GatewayError.self) { try await gateway.sign() }
        #expect(gateway.signers.isEmpty)
    }

    // MARK: Another key

    @Test("Another key at a place is refused and recorded with the place's name, and the right key signs")
    func anotherKey() async throws {
        let gateway = try await ReplicatedGateway { $0[1].add("active", P256.Signing.PrivateKey()) }
        #expect(gateway.states == ["ready", "refused"])
        try await gateway.sign()
        gateway.places[0].outage = .unavailable("gone")
        await #expect(throws: GatewayError.self) { try await gateway.sign() }
        #expect(gateway.signers == ["serial-0"])
        let events = gateway.audited.store.entries("key").filter { $0.text("state") == "degraded" }
        #expect(events.count == 1)
        #expect(events.first?.text("reason")?.contains(gateway.places[1].name) == true)
        #expect(events.first?.text("reason")?.contains("another key") == true)
        #expect(events.first?.text("tokenSerial") == "serial-1")
    }

    @Test("With a pinned fingerprint, another key at the first place is refused, and the second place signs")
    func anotherKeyFirst() async throws {
        let gateway = try await ReplicatedGateway(isPinned: true) { $0[0].add("active", P256.Signing.PrivateKey()) }
        #expect(gateway.states == ["refused", "ready"])
        try await gateway.sign()
        #expect(gateway.signers == ["serial-1"])
    }

    @Test("Without a pinned fingerprint, the first place that is opened decides which key it is")
    func firstDecides() async throws {
        let other = P256.Signing.PrivateKey()
        let gateway = try await ReplicatedGateway { places in
            places[0].openingFault = .unavailable("not there")
            places[1].add("active", other)
        }
        #expect(gateway.handle.fingerprint == PublicKeyFingerprint(of: other.publicKey))
        gateway.places[0].openingFault = nil
        await gateway.ring.openMissing()
        await gateway.ring.prove()
        #expect(gateway.states == ["refused", "ready"])
        #expect(gateway.handle.fingerprint == PublicKeyFingerprint(of: other.publicKey))
    }

    @Test("A refused login at one place is not tried again, and the other place signs")
    func refusedLogin() async throws {
        let gateway = try await ReplicatedGateway { $0[0].openingFault = .loginRefused("wrong PIN") }
        for _ in 0..<3 {
            await gateway.ring.openMissing()
            await gateway.ring.prove()
        }
        #expect(gateway.places[0].counts.openings == 1)
        try await gateway.sign()
        #expect(gateway.signers == ["serial-1"])
    }

    @Test("A place with a proof schedule signs no more proofs than it allows")
    func proofSchedule() async throws {
        let gateway = try await ReplicatedGateway { $0[1].proofSchedule = .onDemand }
        let (first, second) = (gateway.places[0].counts.signatures, gateway.places[1].counts.signatures)
        for _ in 0..<3 { await gateway.ring.prove(olderThan: .nanoseconds(1)) }
        #expect(gateway.places[0].counts.signatures == first + 3)
        #expect(gateway.places[1].counts.signatures == second)
    }
}
