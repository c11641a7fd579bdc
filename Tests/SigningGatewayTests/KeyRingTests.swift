import Crypto
import SigningGateway
import SigningKit
import SigningKitTesting
import Testing

@Suite("The key ring")
struct KeyRingTests {
    @Test("Keys in one place share one backend, and with it one login")
    func sharedBackend() async throws {
        let gateway = try await TestGateway()
        #expect(gateway.ring.slots.allSatisfy { $0.state == .ready })
        #expect(gateway.place.counts.openings == 1)
        await gateway.ring.openMissing()
        #expect(gateway.place.counts.openings == 1)
    }

    @Test("A key that has not signed a proof is not ready")
    func unproved() async throws {
        let gateway = try await TestGateway(isOpen: false)
        #expect(gateway.active.state.canSign == false)
        await gateway.ring.openMissing()
        #expect(gateway.active.state.canSign == false)
        await gateway.ring.prove()
        #expect(gateway.active.state == .ready)
    }

    @Test("A key that is down when it is opened is asked again, and comes back")
    func comesBack() async throws {
        let gateway = try await TestGateway(isOpen: false)
        gateway.place.openingFault = .unavailable("The token is not there.")
        await gateway.ring.openMissing()
        #expect(gateway.active.state == .down(.unavailable("The token is not there.")))
        gateway.place.openingFault = nil
        await gateway.ring.openMissing()
        await gateway.ring.prove()
        #expect(gateway.active.state == .ready)
    }

    @Test(
        "What only a person can mend is not tried again",
        arguments: [
            KeyError.loginRefused("The token refused the PIN."), .unfit("wrong curve"), .secretUnavailable("no file"),
            .ambiguous("two"),
        ])
    func refused(_ fault: KeyError) async throws {
        let gateway = try await TestGateway(isOpen: false) { $0.accounts[0].keys.removeLast() }
        gateway.place.openingFault = fault
        for _ in 0..<3 { await gateway.ring.openMissing() }
        #expect(gateway.active.state == .refused(fault))
        #expect(gateway.place.counts.openings == 1)
    }

    @Test("A key with another fingerprint than the pinned one is refused, and both are told")
    func pinned() async throws {
        let other = PublicKeyFingerprint(of: P256.Signing.PrivateKey().publicKey)
        let gateway = try await TestGateway { $0.accounts[0].keys[0].pinned = other }
        guard case .refused(.unfit(let sentence)) = gateway.active.state else {
            Issue.record("the key is \(gateway.active.state)")
            return
        }
        #expect(sentence.contains(other.description))
        await #expect(throws: GatewayError.self) { try await gateway.sign() }
        #expect(gateway.ring.slots[1].state == .ready)
    }

    @Test("A key with the pinned fingerprint is used")
    func pinnedRight() async throws {
        let key = P256.Signing.PrivateKey()
        let gateway = try await TestGateway(isOpen: false) { plan in
            plan.accounts[0].keys[0].pinned = PublicKeyFingerprint(of: key.publicKey)
        }
        gateway.place.add("active", key)
        await gateway.ring.openMissing()
        await gateway.ring.prove()
        #expect(gateway.active.state == .ready)
        #expect(gateway.active.fingerprint == PublicKeyFingerprint(of: key.publicKey))
    }

    @Test("A scheme that no backend serves is refused, and the schemes are listed")
    func unknownScheme() async throws {
        let uri = try KeyURI("vault:somewhere")
        let gateway = try await TestGateway { $0.accounts[0].keys[0].uri = uri }
        guard case .refused(.invalidURI(let sentence)) = gateway.active.state else {
            Issue.record("the key is \(gateway.active.state)")
            return
        }
        #expect(!sentence.contains("vault") && sentence.contains("fake:"))
    }

    @Test("A key that stops signing is down after its next proof, and ready again after a good one")
    func outage() async throws {
        let gateway = try await TestGateway()
        gateway.place.outage = .unavailable("gone")
        await gateway.ring.prove()
        #expect(gateway.active.state == .down(.unavailable("gone")))
        gateway.place.outage = nil
        await gateway.ring.prove()
        #expect(gateway.active.state == .ready)
    }

    @Test("A request that finds the key unavailable takes its readiness away at once")
    func noticedByARequest() async throws {
        let gateway = try await TestGateway()
        gateway.place.failNext(.unavailable("gone"))
        await #expect(throws: GatewayError.self) { try await gateway.sign() }
        #expect(gateway.active.state == .down(.unavailable("gone")))
        await gateway.ring.prove()
        #expect(gateway.active.state == .ready)
    }

    @Test("A full queue is not a failure of the key")
    func busyProof() async throws {
        let gateway = try await TestGateway()
        gateway.place.failNext(.busy, .busy)
        await gateway.ring.prove()
        #expect(gateway.active.state == .ready)
    }

    @Test("What a backend complains of shows in its keys")
    func complaint() async throws {
        let gateway = try await TestGateway()
        gateway.place.health = .degraded("A lane is stuck.")
        await gateway.ring.prove()
        #expect(gateway.active.state == .degraded("A lane is stuck."))
        gateway.place.health = .ready
        await gateway.ring.prove()
        #expect(gateway.active.state == .ready)
    }

    @Test("Closing waits for signatures in flight, then nothing signs any more")
    func closing() async throws {
        let gateway = try await TestGateway()
        gateway.place.hold()
        async let answer = gateway.sign()
        await gateway.place.busy(with: 1)
        async let closing: Void = gateway.ring.close()
        gateway.place.release()
        #expect(try gateway.isValid(await answer, by: "active"))
        await closing
        await #expect(throws: GatewayError.key(.closed, keyID: "ACTIVE")) { try await gateway.sign() }
        await gateway.ring.close()
    }
}
