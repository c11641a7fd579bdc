import Crypto
import Foundation
import PromotionalOffer
import SigningGateway
import SigningKit
import SigningKitTesting
import Synchronization
import Testing

@Suite("One generation follows another", .timeLimit(.minutes(1)))
struct GenerationTests {
    @Test("A place that both configurations have stays open, with its login and its state")
    func inherits() async throws {
        let gateway = try await TestGateway()
        let next = TestGateway.generation(gateway.plan, inheriting: gateway.live.current)
        await next.ring.openMissing()
        #expect(gateway.place.counts.openings == 1)
        #expect(next.ring.slots.allSatisfy { $0.state == .ready && !$0.mustSign })
        await gateway.ring.close(except: next.ring)
        gateway.live.replace(with: next)
        #expect(try gateway.isValid(try await gateway.sign(), by: "active"))
    }

    @Test("Another setting of the backend means another opening")
    func settings() async throws {
        let gateway = try await TestGateway()
        var plan = gateway.plan
        plan.backendSettings["fake"] = try KeyBackendSettings(["queueLimit": .integer(7)], for: FakeKeyBackend.settings)
        let next = TestGateway.generation(plan, inheriting: gateway.live.current)
        await next.ring.openMissing()
        #expect(gateway.place.counts.openings == 2)
        #expect(next.ring.slots.allSatisfy { $0.mustSign })
    }

    @Test("A key that goes is closed once the last request has let go of it, and not before")
    func retires() async throws {
        let gateway = try await TestGateway()
        let other = try await TestGateway(isOpen: false)
        let next = TestGateway.generation(other.plan, inheriting: gateway.live.current)
        await next.ring.openMissing()
        await next.ring.prove()
        let closing = Task { try await gateway.live.run() }
        gateway.place.hold()
        let first = Task { try await gateway.sign() }
        await gateway.place.busy(with: 1)
        gateway.live.replace(with: next)
        let second = try await gateway.sign()
        #expect(try other.isValid(second, by: "active"), "new requests have the new key")
        #expect(gateway.place.isOpen)
        gateway.place.release()
        let answer = try await first.value
        #expect(try gateway.isValid(answer, by: "active"), "a request ends on what it began with")
        while gateway.place.isOpen { await Task.yield() }
        closing.cancel()
        _ = await closing.result
    }

    @Test("A refused PIN is not tried again by another configuration, for whichever key of the place")
    func refusedPIN() async throws {
        let secrets = SecretShelf("wrong")
        let gateway = try await TestGateway(isOpen: false)
        gateway.place.openingFault = .loginRefused("The token refused the PIN.")
        gateway.place.secretReference = "file:/pin"
        var generation = TestGateway.generation(gateway.plan, secrets: secrets)
        for _ in 0..<3 {
            await generation.ring.openMissing()
            #expect(
                generation.ring.slots.allSatisfy { $0.state == .refused(.loginRefused("The token refused the PIN.")) })
            generation = TestGateway.generation(gateway.plan, secrets: secrets, inheriting: generation)
        }
        #expect(gateway.place.counts.openings == 1)
        secrets.put("right")
        gateway.place.openingFault = nil
        generation = TestGateway.generation(gateway.plan, secrets: secrets, inheriting: generation)
        await generation.ring.openMissing()
        #expect(gateway.place.counts.openings == 2)
        #expect(generation.ring.slots.allSatisfy { $0.publicKey != nil })
    }

    @Test("A PIN that was refused in a configuration that never served is not tried again either")
    func rejectedConfiguration() async throws {
        let secrets = SecretShelf("wrong")
        let gateway = try await TestGateway()
        let other = try await TestGateway(isOpen: false)
        other.place.openingFault = .loginRefused("The token refused the PIN.")
        other.place.secretReference = "file:/pin"
        var rejected: KeyRing?
        for _ in 0..<3 {
            let next = TestGateway.generation(
                other.plan, secrets: secrets, inheriting: gateway.live.current, rejected: rejected)
            await next.ring.openMissing()
            #expect(next.ring.slots.allSatisfy { $0.state == .refused(.loginRefused("The token refused the PIN.")) })
            await next.ring.close(except: gateway.ring)
            rejected = next.ring
        }
        #expect(other.place.counts.openings == 1)
        #expect(try gateway.isValid(try await gateway.sign(), by: "active"), "what serves goes on")
    }

    @Test("A login that is blocked is tried once more at each reload, with the same PIN")
    func blockedLogin() async throws {
        let secrets = SecretShelf("right")
        let gateway = try await TestGateway(isOpen: false)
        gateway.place.openingFault = .loginBlocked("The token is locked.")
        gateway.place.secretReference = "file:/pin"
        var generation = TestGateway.generation(gateway.plan, secrets: secrets)
        for attempt in 1...3 {
            await generation.ring.openMissing()
            await generation.ring.openMissing()
            #expect(generation.ring.slots.allSatisfy { $0.state == .refused(.loginBlocked("The token is locked.")) })
            #expect(gateway.place.counts.openings == attempt)
            generation = TestGateway.generation(gateway.plan, secrets: secrets, inheriting: generation)
        }
        gateway.place.openingFault = nil
        await generation.ring.openMissing()
        #expect(generation.ring.slots.allSatisfy { $0.publicKey != nil })
    }

    @Test("A configuration with one more client is taken up while a login is blocked, at the cost of one more login")
    func blockedLoginOfAnother() async throws {
        let gateway = try await TestGateway(isOpen: false)
        gateway.place.openingFault = .loginBlocked("The token is locked.")
        await gateway.ring.openMissing()
        var plan = gateway.plan
        plan.clients = [ClientPlan(name: "shop", rules: [])]
        let next = TestGateway.generation(plan, inheriting: gateway.live.current)
        await next.ring.openMissing()
        #expect(gateway.place.counts.openings == 2)
        #expect(next.ring.slots.allSatisfy { !$0.mustSign && !$0.state.canSign })
    }

    @Test("A key that signs must go on signing when its place is opened anew for another key's blocked login")
    func blockedLoginOfNeighbour() async throws {
        let gateway = try await TestGateway()
        gateway.place.outage = .loginBlocked("The token is locked.")
        await gateway.ring.prove { $0.plan.keyID == "ACTIVE" }
        gateway.place.outage = nil
        let next = TestGateway.generation(gateway.plan, inheriting: gateway.live.current)
        #expect(next.ring.slots.map(\.mustSign) == [false, true])
    }

    @Test("A login that is blocked while the token serves is tried once more at a reload, and the others stay open")
    func blockedLoginWhileServing() async throws {
        let gateway = try await TestGateway()
        gateway.place.outage = .loginBlocked("The token is locked.")
        await gateway.ring.prove()
        #expect(gateway.active.state == .refused(.loginBlocked("The token is locked.")))
        gateway.place.outage = nil
        let next = TestGateway.generation(gateway.plan, inheriting: gateway.live.current)
        await next.ring.openMissing()
        await next.ring.prove()
        #expect(gateway.place.counts.openings == 2)
        #expect(next.ring.slots.allSatisfy { $0.state == .ready })
    }

    @Test("A client goes on with what it has used up")
    func usage() async throws {
        let rule = RulePlan(
            apps: [Pattern("*")], features: [Pattern("*")], products: [Pattern("*")], offers: [Pattern("*")])
        let gateway = try await TestGateway { plan in
            plan.clients = [ClientPlan(name: "shop", rules: [rule], dailyQuota: 2)]
        }
        let feature = "promotional-offer"
        let client = try #require(gateway.live.current.clients.client(named: "shop"))
        try gateway.dispatcher.admit(client, feature: feature)
        gateway.live.replace(with: TestGateway.generation(gateway.plan, inheriting: gateway.live.current))
        let same = try #require(gateway.live.current.clients.client(named: "shop"))
        try gateway.dispatcher.admit(same, feature: feature)
        #expect(throws: GatewayError.self) { try gateway.dispatcher.admit(same, feature: feature) }
    }
}

/// One secret that can be replaced.
private final class SecretShelf: SecretSource {
    private let text: Mutex<String>

    init(_ text: String) { self.text = Mutex(text) }

    func put(_ text: String) { self.text.withLock { $0 = text } }

    func secret(_ reference: String) throws(KeyError) -> Secret {
        Array(text.withLock { $0 }.utf8).withUnsafeBytes { Secret($0) }
    }
}
