import AuditKit
import Crypto
import GatewayTesting
import SigningKit
import SigningKitTesting
import Testing

@testable import KeyLifecycle
@testable import Signing

@Suite("Provisioning jobs of a key with several places")
struct ReplicaJobTests {
    /// A gateway with the staged key LATE at two places, both of which hold the key.
    private struct Fixture {
        let gateway: LifecycleTestGateway
        let places: [FakeBackendLocation]
        let uris: [String]
        let fingerprint: PublicKeyFingerprint

        init(isPresent: Bool = true) async throws {
            gateway = try await LifecycleTestGateway()
            let key = P256.Signing.PrivateKey()
            fingerprint = PublicKeyFingerprint(of: key.publicKey)
            let name = gateway.gateway.plain.place.name
            places = ["a", "b"].map { FakeBackendLocation("\($0) \(name)") }
            uris = places.map { $0.add("late", key) }
            let settings = KeySettings(
                keyID: "LATE", uri: try KeyURI(uris[0]), replicas: [try KeyURI(uris[1])], origin: "here")
            gateway.reload { $0.accounts[0].keys.append(settings) }
            await ring.openMissing()
            await ring.prove()
            if !isPresent { for place in places { place.remove("late") } }
        }

        var ring: KeyRing { gateway.snapshots.current.ring }

        func order(_ action: KeyLifecycleAction, uris: [String]? = nil) -> ProvisioningOrder {
            let uris = uris ?? self.uris
            return ProvisioningOrder(
                action, issuerID: "issuer", keyID: "LATE", uri: uris[0], replicas: Array(uris.dropFirst()),
                fingerprint: action == .import ? fingerprint : nil, reason: "x")
        }

        func begin(_ order: ProvisioningOrder) async throws -> ProvisioningJob {
            try #require(try await gateway.lifecycle.begin(order, by: "alice").begun)
        }

        func result(at number: Int, isSuccess: Bool = true) -> ProvisioningResult {
            var result = ProvisioningResult(
                isSuccess: isSuccess, fingerprint: fingerprint,
                evidence: isSuccess ? ["method": "unwrapped", "tokenSerial": "s-\(number)"] : ["failure": "no"])
            result.uri = uris[number]
            return result
        }

        func finish(_ job: ProvisioningJob, _ result: ProvisioningResult) async throws -> KeyLifecycleAnswer {
            try await gateway.lifecycle.finish(job.id, result, by: "alice")
        }

        var open: [ProvisioningJob] { gateway.lifecycle.overview().jobs }
    }

    @Test("Reports of two places that arrive at the same time both count")
    func reportsAtTheSameTime() async throws {
        let fixture = try await Fixture()
        let job = try await fixture.begin(fixture.order(.import))
        for place in fixture.places { place.hold() }
        async let first = fixture.finish(job, fixture.result(at: 0))
        async let second = fixture.finish(job, fixture.result(at: 1))
        // The gateway looks at one place after the other, and either report may be the first.
        await withDiscardingTaskGroup { group in
            for place in fixture.places {
                group.addTask {
                    await place.busy(with: 1)
                    place.release()
                }
            }
        }
        _ = try await (first, second)
        #expect(fixture.open.isEmpty)
    }

    @Test("A report learns the result of a job that the gateway ends during the look")
    func endedDuringTheLook() async throws {
        let fixture = try await Fixture()
        let lifecycle = fixture.gateway.lifecycle
        let job = try await fixture.begin(fixture.order(.import))
        _ = try await fixture.finish(job, fixture.result(at: 0))
        let open = try #require(fixture.open.first)
        fixture.places[1].hold()
        async let answer = fixture.finish(job, fixture.result(at: 1))
        await fixture.places[1].busy(with: 1)
        _ = try await lifecycle.inTurn { () throws(KeyLifecycleRefusal) in
            try await lifecycle.accept(fixture.result(at: 1), [:], at: fixture.uris[1], of: open)
        }
        fixture.places[1].release()
        let record = try #require(try await answer.ended)
        #expect(record.history.filter { $0.action == .import }.count == 1)
    }

    @Test("An import ends with the last place, and the register has the result of each place")
    func importing() async throws {
        let fixture = try await Fixture()
        let job = try await fixture.begin(fixture.order(.import))
        _ = try #require(try await fixture.finish(job, fixture.result(at: 0)).begun)
        #expect(fixture.open.first?.finishedURIs == [fixture.uris[0]])
        let record = try #require(try await fixture.finish(job, fixture.result(at: 1)).ended)
        let evidence = try #require(record.history.last?.evidence)
        #expect(evidence["uri"] == fixture.uris[0] && evidence["replica.1.uri"] == fixture.uris[1])
        #expect(evidence["replica.1.tokenSerial"] == "s-1" && evidence["replica.1.seenBy"] == "the gateway")
        #expect(record.recordedURIs == fixture.uris)
        #expect(fixture.open.isEmpty)
        let entries = fixture.gateway.gateway.store.entries("life").filter { $0.text("action") == "import" }
        #expect(entries.compactMap { $0.text("event") } == ["begun", "reported", "changed", "changed"])
        await fixture.gateway.close()
    }

    @Test("A failure at the second place leaves the job open, and the same order continues it with the first result")
    func resumed() async throws {
        let fixture = try await Fixture()
        let job = try await fixture.begin(fixture.order(.import))
        _ = try await fixture.finish(job, fixture.result(at: 0))
        _ = try await fixture.finish(job, fixture.result(at: 1, isSuccess: false))
        let again = try await fixture.begin(fixture.order(.import))
        #expect(again.id == job.id && again.finishedURIs == [fixture.uris[0]])
        _ = try #require(try await fixture.finish(again, fixture.result(at: 1)).ended)
        await fixture.gateway.close()
    }

    @Test("A failure at the first place ends the job, because nothing was done")
    func failedFirst() async throws {
        let fixture = try await Fixture()
        let job = try await fixture.begin(fixture.order(.import))
        _ = try await fixture.finish(job, fixture.result(at: 0, isSuccess: false))
        #expect(fixture.open.isEmpty)
        await fixture.gateway.close()
    }

    @Test("A report that names no place of the job is refused")
    func wrongPlace() async throws {
        let fixture = try await Fixture()
        let job = try await fixture.begin(fixture.order(.import))
        for uri in [nil, "fake:elsewhere;key=late"] {
            var result = fixture.result(at: 0)
            result.uri = uri
            let error = await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.finish(job, result) }
            #expect(error?.description.contains("names none of them") == true)
        }
        await fixture.gateway.close()
    }

    @Test("A place with another key is not accepted, and the result of the other place stays")
    func anotherKey() async throws {
        let fixture = try await Fixture()
        let job = try await fixture.begin(fixture.order(.import))
        _ = try await fixture.finish(job, fixture.result(at: 0))
        fixture.places[1].add("late", P256.Signing.PrivateKey())
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.finish(job, fixture.result(at: 1))
        }
        #expect(error?.description.contains("is a different one") == true)
        #expect(fixture.open.first?.finishedURIs == [fixture.uris[0]])
        await fixture.gateway.close()
    }

    @Test("A place that does not answer waits, and the gateway ends the job when it answers")
    func waiting() async throws {
        let fixture = try await Fixture()
        let job = try await fixture.begin(fixture.order(.import))
        _ = try await fixture.finish(job, fixture.result(at: 0))
        fixture.places[1].outage = .unavailable("not there")
        _ = try #require(try await fixture.finish(job, fixture.result(at: 1)).waiting)
        #expect(fixture.open.first?.finishedURIs == [fixture.uris[0]])
        fixture.places[1].outage = nil
        _ = await fixture.gateway.lifecycle.concludeReports()
        #expect(fixture.open.isEmpty)
        await fixture.gateway.close()
    }

    @Test("A destruction must name every place of the configuration")
    func incomplete() async throws {
        let fixture = try await Fixture()
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.begin(fixture.order(.destroy, uris: [fixture.uris[0]]))
        }
        #expect(error?.description.contains("also at \(fixture.uris[1])") == true)
        await fixture.gateway.close()
    }

    @Test("A destruction ends only if the key is gone from every place")
    func destruction() async throws {
        let fixture = try await Fixture()
        let job = try await fixture.begin(fixture.order(.destroy))
        fixture.places[0].remove("late")
        _ = try await fixture.finish(job, fixture.result(at: 0))
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.finish(job, fixture.result(at: 1))
        }
        #expect(error?.description.contains("still sees a key at \(fixture.uris[1])") == true)
        fixture.places[1].remove("late")
        let record = try #require(try await fixture.finish(job, fixture.result(at: 1)).ended)
        #expect(record.state == .destroyed)
        await fixture.gateway.close()
    }

    @Test("A destruction whose first place got the key back does not end")
    func cameBack() async throws {
        let fixture = try await Fixture()
        let job = try await fixture.begin(fixture.order(.destroy))
        _ = fixture.places[0].copy("late", as: "kept")
        fixture.places[0].remove("late")
        _ = try await fixture.finish(job, fixture.result(at: 0))
        _ = fixture.places[0].copy("kept", as: "late")
        fixture.places[1].remove("late")
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.finish(job, fixture.result(at: 1)) }
        #expect(fixture.open.count == 1)
        await fixture.gateway.close()
    }

    @Test("A key with several places is not generated")
    func generation() async throws {
        let fixture = try await Fixture()
        for uris in [fixture.uris, [fixture.uris[0]]] {
            let error = await #expect(throws: KeyLifecycleRefusal.self) {
                try await fixture.begin(fixture.order(.generate, uris: uris))
            }
            #expect(error?.description.isEmpty == false)
        }
        await fixture.gateway.close()
    }

    @Test("One approval covers all places, and not an order with other places")
    func approval() async throws {
        let fixture = try await Fixture()
        fixture.gateway.reload { settings in
            settings.accounts[0].hasDualControl = true
            settings.accounts[0].keys.append(fixture.ring.handles.last?.settings ?? settings.accounts[0].keys[0])
        }
        let order = fixture.order(.import)
        let proposal = try #require(try await fixture.gateway.lifecycle.begin(order, by: "alice").proposed)
        #expect(proposal.details["replica.1"] == fixture.uris[1])
        _ = try await fixture.gateway.lifecycle.approve(proposal.id, digest: proposal.digest, by: "bob")
        let other = fixture.order(.import, uris: [fixture.uris[0]])
        _ = try #require(try await fixture.gateway.lifecycle.begin(other, by: "alice").proposed)
        let job = try await fixture.begin(order)
        _ = try await fixture.finish(job, fixture.result(at: 0))
        _ = try await fixture.finish(job, fixture.result(at: 1))
        #expect(fixture.open.isEmpty)
        await fixture.gateway.close()
    }

    @Test("A job survives a restart with its results")
    func restart() async throws {
        let fixture = try await Fixture()
        let job = try await fixture.begin(fixture.order(.import))
        _ = try await fixture.finish(job, fixture.result(at: 0))
        let again = KeyStateCache()
        try again.load(
            Dictionary(
                uniqueKeysWithValues: fixture.gateway.gateway.store.content.registers.map { ($0.name, $0) }),
            at: Timestamp(milliseconds: 0))
        #expect(again.jobs.first?.finishedURIs == [fixture.uris[0]])
        #expect(again.jobs.first?.uris == fixture.uris)
        await fixture.gateway.close()
    }

    @Test("The register's fingerprint refuses another key, even if that is opened first")
    func registerDecides() async throws {
        let fixture = try await Fixture()
        let job = try await fixture.begin(fixture.order(.import))
        _ = try await fixture.finish(job, fixture.result(at: 0))
        _ = try await fixture.finish(job, fixture.result(at: 1))
        let settings = try #require(fixture.ring.handles.last?.settings)
        // New connections, as after a restart, with another key at the first place.
        fixture.gateway.reload { _ in }
        await fixture.ring.close()
        fixture.places[0].add("late", P256.Signing.PrivateKey())
        fixture.gateway.reload { $0.accounts[0].keys.append(settings) }
        await fixture.ring.openMissing()
        await fixture.ring.prove()
        #expect(fixture.ring.handles.last?.replicas.map(\.state.name) == ["refused", "ready"])
        await fixture.gateway.close()
    }
}
