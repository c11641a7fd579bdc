import Crypto
import Foundation
import GatewayTesting
import PromotionalOffer
import Signing
import SigningKit
import SigningKitTesting
import Synchronization
import Testing

@Suite("Configuration snapshots", .timeLimit(.minutes(1)))
struct GenerationTests {
    @Test("A backend connection of both snapshots stays open with its login and state")
    func inherits() async throws {
        let gateway = try await TestGateway()
        let next = TestGateway.snapshot(gateway.settings, inheriting: gateway.snapshots.current)
        await next.ring.openMissing()
        #expect(gateway.place.counts.openings == 1)
        #expect(next.ring.handles.allSatisfy { $0.state == .ready && !$0.mustSign })
        await gateway.ring.close(except: next.ring)
        gateway.snapshots.replace(with: next)
        #expect(try gateway.isValid(try await gateway.sign(), by: "active"))
    }

    @Test("A changed backend setting opens a new backend connection")
    func settings() async throws {
        let gateway = try await TestGateway()
        var settings = gateway.settings
        settings.backendSettings["fake"] = try PluginSettings(
            ["queueLimit": .integer(7)], for: FakeKeyBackend.settings)
        let next = TestGateway.snapshot(settings, inheriting: gateway.snapshots.current)
        await next.ring.openMissing()
        #expect(gateway.place.counts.openings == 2)
        #expect(next.ring.handles.allSatisfy { $0.mustSign })
    }

    @Test("A removed key closes after its last request")
    func retires() async throws {
        let gateway = try await TestGateway()
        let other = try await TestGateway(isOpen: false)
        let next = TestGateway.snapshot(other.settings, inheriting: gateway.snapshots.current)
        await next.ring.openMissing()
        await next.ring.prove()
        let closing = Task { try await gateway.snapshots.run() }
        gateway.place.hold()
        let first = Task { try await gateway.sign() }
        await gateway.place.busy(with: 1)
        gateway.snapshots.replace(with: next)
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

    @Test("A new snapshot does not repeat a refused PIN, for any key of the connection")
    func refusedPIN() async throws {
        let secrets = ReplaceableSecret("wrong")
        let gateway = try await TestGateway(isOpen: false)
        gateway.place.openingFault = .loginRefused("The token refused the PIN.")
        gateway.place.secretReference = "file:/pin"
        var snapshot = TestGateway.snapshot(gateway.settings, secrets: secrets)
        for _ in 0..<3 {
            await snapshot.ring.openMissing()
            #expect(
                snapshot.ring.handles.allSatisfy { $0.state == .refused(.loginRefused("The token refused the PIN.")) })
            snapshot = TestGateway.snapshot(gateway.settings, secrets: secrets, inheriting: snapshot)
        }
        #expect(gateway.place.counts.openings == 1)
        secrets.put("right")
        gateway.place.openingFault = nil
        snapshot = TestGateway.snapshot(gateway.settings, secrets: secrets, inheriting: snapshot)
        await snapshot.ring.openMissing()
        #expect(gateway.place.counts.openings == 2)
        #expect(snapshot.ring.handles.allSatisfy { $0.publicKey != nil })
    }

    @Test("A PIN that was refused in a rejected configuration is not tried again")
    func rejectedConfiguration() async throws {
        let secrets = ReplaceableSecret("wrong")
        let gateway = try await TestGateway()
        let other = try await TestGateway(isOpen: false)
        other.place.openingFault = .loginRefused("The token refused the PIN.")
        other.place.secretReference = "file:/pin"
        var rejected: KeyRing?
        for _ in 0..<3 {
            let next = TestGateway.snapshot(
                other.settings, secrets: secrets, inheriting: gateway.snapshots.current, rejected: rejected)
            await next.ring.openMissing()
            #expect(next.ring.handles.allSatisfy { $0.state == .refused(.loginRefused("The token refused the PIN.")) })
            await next.ring.close(except: gateway.ring)
            rejected = next.ring
        }
        #expect(other.place.counts.openings == 1)
        #expect(try gateway.isValid(try await gateway.sign(), by: "active"), "what serves goes on")
    }

    @Test("Each reload repeats a blocked login once with the same PIN")
    func blockedLogin() async throws {
        let secrets = ReplaceableSecret("right")
        let gateway = try await TestGateway(isOpen: false)
        gateway.place.openingFault = .loginBlocked("The token is locked.")
        gateway.place.secretReference = "file:/pin"
        var snapshot = TestGateway.snapshot(gateway.settings, secrets: secrets)
        for attempt in 1...3 {
            await snapshot.ring.openMissing()
            await snapshot.ring.openMissing()
            #expect(snapshot.ring.handles.allSatisfy { $0.state == .refused(.loginBlocked("The token is locked.")) })
            #expect(gateway.place.counts.openings == attempt)
            snapshot = TestGateway.snapshot(gateway.settings, secrets: secrets, inheriting: snapshot)
        }
        gateway.place.openingFault = nil
        await snapshot.ring.openMissing()
        #expect(snapshot.ring.handles.allSatisfy { $0.publicKey != nil })
    }

    @Test("A reload with one more client succeeds while a login is blocked and repeats the login once")
    func blockedLoginOfAnother() async throws {
        let gateway = try await TestGateway(isOpen: false)
        gateway.place.openingFault = .loginBlocked("The token is locked.")
        await gateway.ring.openMissing()
        var settings = gateway.settings
        settings.clients = [ClientSettings(name: "shop", rules: [])]
        let next = TestGateway.snapshot(settings, inheriting: gateway.snapshots.current)
        await next.ring.openMissing()
        #expect(gateway.place.counts.openings == 2)
        #expect(next.ring.handles.allSatisfy { !$0.mustSign && !$0.state.canSign })
    }

    @Test("A key that signs must sign again after a reload reopens its backend connection")
    func blockedLoginOfNeighbour() async throws {
        let gateway = try await TestGateway()
        gateway.place.outage = .loginBlocked("The token is locked.")
        await gateway.ring.prove { $0.settings.keyID == "ACTIVE" }
        gateway.place.outage = nil
        let next = TestGateway.snapshot(gateway.settings, inheriting: gateway.snapshots.current)
        #expect(next.ring.handles.map(\.mustSign) == [false, true])
    }

    @Test("A reload repeats a login once that became blocked while the token serves")
    func blockedLoginWhileServing() async throws {
        let gateway = try await TestGateway()
        gateway.place.outage = .loginBlocked("The token is locked.")
        await gateway.ring.prove()
        #expect(gateway.active.state == .refused(.loginBlocked("The token is locked.")))
        gateway.place.outage = nil
        let next = TestGateway.snapshot(gateway.settings, inheriting: gateway.snapshots.current)
        await next.ring.openMissing()
        await next.ring.prove()
        #expect(gateway.place.counts.openings == 2)
        #expect(next.ring.handles.allSatisfy { $0.state == .ready })
    }

    @Test("A client keeps its used quota across snapshots")
    func usage() async throws {
        let rule = RuleSettings(
            apps: [Pattern("*")], features: [Pattern("*")], products: [Pattern("*")], offers: [Pattern("*")])
        let gateway = try await TestGateway { settings in
            settings.clients = [ClientSettings(name: "shop", rules: [rule], dailyQuota: 2)]
        }
        let feature = "promotional-offer"
        let client = try #require(gateway.snapshots.current.clients.client(named: "shop"))
        try gateway.dispatcher.admit(client, feature: feature)
        gateway.snapshots.replace(with: TestGateway.snapshot(gateway.settings, inheriting: gateway.snapshots.current))
        let same = try #require(gateway.snapshots.current.clients.client(named: "shop"))
        try gateway.dispatcher.admit(same, feature: feature)
        #expect(throws: GatewayError.self) { try gateway.dispatcher.admit(same, feature: feature) }
    }
}

private final class ReplaceableSecret: SecretSource {
    private let text: Mutex<String>

    init(_ text: String) { self.text = Mutex(text) }

    func put(_ text: String) { self.text.withLock { $0 = text } }

    func secret(_ reference: String) throws(KeyError) -> Secret {
        Array(text.withLock { $0 }.utf8).withUnsafeBytes { Secret($0) }
    }
}
