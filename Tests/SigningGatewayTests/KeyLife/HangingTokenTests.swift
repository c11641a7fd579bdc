import AuditKit
import Crypto
import SigningKit
import SigningKitTesting
import Testing

@testable import SigningGateway

/// The fake place keeps every signature waiting until `release()`, so each look that wants a proof hangs.
@Suite("Stops while a token hangs", .timeLimit(.minutes(1)))
struct HangingTokenTests {
    private static let success = KeyCeremonyEnd(isSuccess: true, fingerprint: nil, evidence: [:])

    /// An import whose key is in the token already.
    private func begun(_ house: KeyHouse, _ keyID: String = "NEW") async throws -> KeyCeremony {
        let key = P256.Signing.PrivateKey()
        house.gateway.plain.place.add(keyID.lowercased(), key)
        let order = KeyCeremonyOrder(
            .import, issuerID: "issuer", keyID: keyID, uri: house.uri(keyID.lowercased()),
            fingerprint: PublicKeyFingerprint(of: key.publicKey), reason: "The next key.")
        guard case .begun(let job) = try await house.office.begin(order, by: "alice") else { throw NotBegun() }
        return job
    }

    private struct NotBegun: Error {}

    @Test("A compromise is recorded while the gateway looks at a key for the end of a job")
    func end() async throws {
        let house = try await KeyHouse()
        let place = house.gateway.plain.place
        let job = try await begun(house)
        place.hold()
        let finish = Task { try await house.office.finish(job.id, Self.success, by: "alice") }
        await place.busy(with: 1)
        _ = try await house.change(.compromise, "OTHER")
        #expect(house.actions(of: "OTHER").last == "compromise")
        place.release()
        guard case .ended = try await finish.value else {
            Issue.record("It did not end.")
            return
        }
        await house.close()
    }

    @Test("A job that another administrator took over while the gateway looked does not end")
    func changed() async throws {
        let house = try await KeyHouse()
        let place = house.gateway.plain.place
        let job = try await begun(house)
        place.hold()
        let finish = Task { try await house.office.finish(job.id, Self.success, by: "alice") }
        await place.busy(with: 1)
        let failure = KeyCeremonyEnd(isSuccess: false, fingerprint: nil, evidence: [:])
        _ = try await house.office.finish(job.id, failure, by: "alice")
        place.release()
        await #expect(throws: KeyLifeRefusal.self) { try await finish.value }
        #expect(house.state("NEW") == nil)
        await house.close()
    }

    @Test("A compromise is recorded while a key signs the proof of an activation, a resumption or an administrator")
    func proofs() async throws {
        let house = try await KeyHouse()
        let place = house.gateway.plain.place
        _ = try await house.change(.suspend, "ACTIVE")
        let tasks: [@Sendable () async throws -> Void] = [
            { _ = try await house.office.prove("OTHER", by: "alice") },
            { _ = try await house.change(.resume, "ACTIVE") },
            { _ = try await house.change(.activate, "OTHER") },
        ]
        for (number, task) in tasks.enumerated() {
            place.hold()
            let running = Task { try await task() }
            await place.busy(with: 1)
            let reason = "Number \(number)"
            _ = try? await house.office.change(KeyChangeOrder(.compromise, "OTHER", reason: reason), by: "alice")
            #expect(house.state("OTHER") == .compromised)
            place.release()
            _ = try? await running.value
            await place.idle()
            _ = try await house.change(.restore, "OTHER")
            _ = try await house.change(.resume, "OTHER")
            _ = try? await house.change(.suspend, "ACTIVE")
        }
        await house.close()
    }

    @Test("Stops are recorded, also the last ones, while a token that hangs keeps reported jobs waiting")
    func reports() async throws {
        let house = try await KeyHouse()
        let place = house.gateway.plain.place
        let jobs = [try await begun(house, "NEW"), try await begun(house, "NEXT")]
        place.outage = .unavailable("The token is not there.")
        for job in jobs {
            guard case .waiting = try await house.office.finish(job.id, Self.success, by: "alice") else {
                Issue.record("It did not wait.")
                return
            }
        }
        (place.outage, _) = (nil, place.hold())
        let asked = place.counts.signatures
        let running = Task { try await house.office.run() }
        await place.busy(with: 1)
        _ = try await house.change(.compromise, "OTHER")
        house.gateway.store.fault = .full("No space is left.")
        await #expect(throws: KeyLifeRefusal.self) { try await house.change(.compromise, "ACTIVE") }
        await house.writable()
        running.cancel()
        _ = try? await running.value
        #expect(house.state("ACTIVE") == .compromised)
        #expect(place.counts.signatures == asked + 1)
        place.release()
        await house.close()
    }

    @Test("A stop passes before other changes that wait, and after stops that came before it")
    func order() async throws {
        let turnstile = Turnstile()
        let (door, opening) = AsyncStream<Void>.makeStream()
        let order = Order()
        let holder = Task { await turnstile.pass { for await _ in door { break } } }
        await until { turnstile.isTaken }
        var tasks: [Task<Void, Never>] = []
        for (count, (name, isUrgent)) in [("a", false), ("b", true), ("c", false), ("d", true)].enumerated() {
            tasks.append(Task { await turnstile.pass(isUrgent: isUrgent) { await order.note(name) } })
            await until { turnstile.waitingCount == count + 1 }
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
