import AuditKit
import Crypto
import GatewayTesting
import Signing
import SigningKit
import SigningKitTesting
import Testing

@testable import KeyLifecycle

/// The fake backend holds every signature until `release()`, so each check that needs a possession proof hangs.
@Suite("Key stops while a token hangs", .timeLimit(.minutes(1)))
struct HangingTokenTests {
    private static let success = ProvisioningResult(isSuccess: true, fingerprint: nil, evidence: [:])

    /// Begins an import whose key is already in the token.
    private func begun(_ fixture: LifecycleTestGateway, _ keyID: String = "NEW") async throws -> ProvisioningJob {
        let key = P256.Signing.PrivateKey()
        fixture.gateway.plain.place.add(keyID.lowercased(), key)
        let order = ProvisioningOrder(
            .import, issuerID: "issuer", keyID: keyID, uri: fixture.uri(keyID.lowercased()),
            fingerprint: PublicKeyFingerprint(of: key.publicKey), reason: "The next key.")
        return try #require(try await fixture.lifecycle.begin(order, by: "alice").begun)
    }

    @Test("A compromise is recorded while the gateway checks the key of an ending job")
    func end() async throws {
        let fixture = try await LifecycleTestGateway()
        let place = fixture.gateway.plain.place
        let job = try await begun(fixture)
        place.hold()
        let finish = Task { try await fixture.lifecycle.finish(job.id, Self.success, by: "alice") }
        await place.busy(with: 1)
        _ = try await fixture.change(.compromise, "OTHER")
        #expect(fixture.actions(of: "OTHER").last == "compromise")
        place.release()
        _ = try #require(try await finish.value.ended)
        await fixture.close()
    }

    @Test("A job does not end if another administrator takes it over during the check")
    func changed() async throws {
        let fixture = try await LifecycleTestGateway()
        let place = fixture.gateway.plain.place
        let job = try await begun(fixture)
        place.hold()
        let finish = Task { try await fixture.lifecycle.finish(job.id, Self.success, by: "alice") }
        await place.busy(with: 1)
        let failure = ProvisioningResult(isSuccess: false, fingerprint: nil, evidence: [:])
        _ = try await fixture.lifecycle.finish(job.id, failure, by: "alice")
        place.release()
        await #expect(throws: KeyLifecycleRefusal.self) { try await finish.value }
        #expect(fixture.state("NEW") == nil)
        await fixture.close()
    }

    @Test("A compromise is recorded while a key signs a proof")
    func proofs() async throws {
        let fixture = try await LifecycleTestGateway()
        let place = fixture.gateway.plain.place
        _ = try await fixture.change(.suspend, "ACTIVE")
        let tasks: [@Sendable () async throws -> Void] = [
            { _ = try await fixture.lifecycle.prove("OTHER", by: "alice") },
            { _ = try await fixture.change(.resume, "ACTIVE") },
            { _ = try await fixture.change(.activate, "OTHER") },
        ]
        for (number, task) in tasks.enumerated() {
            place.hold()
            let running = Task { try await task() }
            await place.busy(with: 1)
            let reason = "Number \(number)"
            _ = try? await fixture.lifecycle.change(KeyChangeOrder(.compromise, "OTHER", reason: reason), by: "alice")
            #expect(fixture.state("OTHER") == .compromised)
            place.release()
            _ = try? await running.value
            await place.idle()
            _ = try await fixture.change(.restore, "OTHER")
            _ = try await fixture.change(.resume, "OTHER")
            _ = try? await fixture.change(.suspend, "ACTIVE")
        }
        await fixture.close()
    }

    @Test("Stops are recorded while a hanging token delays the end of jobs")
    func reports() async throws {
        let fixture = try await LifecycleTestGateway()
        let place = fixture.gateway.plain.place
        let jobs = [try await begun(fixture, "NEW"), try await begun(fixture, "NEXT")]
        place.outage = .unavailable("The token is not there.")
        for job in jobs {
            _ = try #require(try await fixture.lifecycle.finish(job.id, Self.success, by: "alice").waiting)
        }
        (place.outage, _) = (nil, place.hold())
        let asked = place.counts.signatures
        let running = Task { try await fixture.lifecycle.run() }
        await place.busy(with: 1)
        _ = try await fixture.change(.compromise, "OTHER")
        fixture.gateway.store.fault = .full("No space is left.")
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.compromise, "ACTIVE") }
        await fixture.writable()
        running.cancel()
        _ = try? await running.value
        #expect(fixture.state("ACTIVE") == .compromised)
        #expect(place.counts.signatures == asked + 1)
        place.release()
        await fixture.close()
    }

    @Test("A stop passes other waiting changes, but not earlier stops")
    func order() async throws {
        let mutex = AsyncMutex()
        let (door, opening) = AsyncStream<Void>.makeStream()
        let order = Order()
        let holder = Task { await mutex.pass { for await _ in door { break } } }
        await until { mutex.isTaken }
        var tasks: [Task<Void, Never>] = []
        for (count, (name, isUrgent)) in [("a", false), ("b", true), ("c", false), ("d", true)].enumerated() {
            tasks.append(Task { await mutex.pass(isUrgent: isUrgent) { await order.note(name) } })
            await until { mutex.waitingCount == count + 1 }
        }
        opening.yield()
        await holder.value
        for task in tasks { await task.value }
        #expect(await order.names == ["b", "d", "a", "c"])
    }

    private actor Order {
        var names: [String] = []
        func note(_ name: String) { names.append(name) }
    }

    private func until(_ isDone: () -> Bool) async { while !isDone() { await Task.yield() } }
}
