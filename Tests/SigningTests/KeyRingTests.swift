import Crypto
import GatewayTesting
import Signing
import SigningKit
import SigningKitTesting
import Testing

@Suite("The key ring")
struct KeyRingTests {
    @Test("Keys at one locator share one backend connection and one login")
    func sharedBackend() async throws {
        let gateway = try await TestGateway()
        #expect(gateway.ring.handles.allSatisfy { $0.state == .ready })
        #expect(gateway.place.counts.openings == 1)
        await gateway.ring.openMissing()
        #expect(gateway.place.counts.openings == 1)
    }

    @Test("A key is not ready before it signs a proof")
    func unproved() async throws {
        let gateway = try await TestGateway(isOpen: false)
        #expect(gateway.active.state.canSign == false)
        await gateway.ring.openMissing()
        #expect(gateway.active.state.canSign == false)
        await gateway.ring.prove()
        #expect(gateway.active.state == .ready)
    }

    @Test("A key that is unavailable when it is opened is tried again and recovers")
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
        "A failure that needs the operator is not retried",
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

    @Test("A key that differs from its pinned fingerprint is refused with both fingerprints")
    func pinned() async throws {
        let other = PublicKeyFingerprint(of: P256.Signing.PrivateKey().publicKey)
        let gateway = try await TestGateway { $0.accounts[0].keys[0].pinned = other }
        guard case .refused(.unfit(let sentence)) = gateway.active.state else {
            Issue.record("the key is \(gateway.active.state)")
            return
        }
        #expect(sentence.contains(other.description))
        await #expect(throws: GatewayError.self) { try await gateway.sign() }
        #expect(gateway.ring.handles[1].state == .ready)
    }

    @Test("A key with the pinned fingerprint is used")
    func pinnedRight() async throws {
        let key = P256.Signing.PrivateKey()
        let gateway = try await TestGateway(isOpen: false) { settings in
            settings.accounts[0].keys[0].pinned = PublicKeyFingerprint(of: key.publicKey)
        }
        gateway.place.add("active", key)
        await gateway.ring.openMissing()
        await gateway.ring.prove()
        #expect(gateway.active.state == .ready)
        #expect(gateway.active.fingerprint == PublicKeyFingerprint(of: key.publicKey))
    }

    @Test("A scheme without a backend is refused with a list of the schemes")
    func unknownScheme() async throws {
        let uri = try KeyURI("vault:somewhere")
        let gateway = try await TestGateway { $0.accounts[0].keys[0].uri = uri }
        guard case .refused(.invalidURI(let sentence)) = gateway.active.state else {
            Issue.record("the key is \(gateway.active.state)")
            return
        }
        #expect(!sentence.contains("vault") && sentence.contains("fake:"))
    }

    @Test("A key is down after a failed proof and ready after a good one")
    func outage() async throws {
        let gateway = try await TestGateway()
        gateway.place.outage = .unavailable("gone")
        await gateway.ring.prove()
        #expect(gateway.active.state == .down(.unavailable("gone")))
        gateway.place.outage = nil
        await gateway.ring.prove()
        #expect(gateway.active.state == .ready)
    }

    @Test("A failed request makes its key not ready at once")
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

    @Test("A degraded backend makes its keys degraded")
    func complaint() async throws {
        let gateway = try await TestGateway()
        gateway.place.health = .degraded("A lane is stuck.")
        await gateway.ring.prove()
        #expect(gateway.active.state == .degraded("A lane is stuck."))
        gateway.place.health = .ready
        await gateway.ring.prove()
        #expect(gateway.active.state == .ready)
    }

    @Test("close waits for signatures in flight and ends all signing")
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
