import AuditKit
import AuditLog
import Crypto
import Foundation
import GatewayTesting
import KeyLifecycle
import Signing
import SigningKit
import SigningKitTesting
import Testing

@Suite("KeyLifecycleService")
struct KeyLifecycleServiceTests {
    @Test("The service adopts existing keys with their current use")
    func adoption() async throws {
        let fixture = try await LifecycleTestGateway()
        #expect(fixture.state("ACTIVE") == .active)
        #expect(fixture.state("OTHER") == .retiring)
        #expect(fixture.gateway.store.entries("life").map { $0.text("action") } == ["adopt", "adopt"])
        _ = try await fixture.sign(keyID: "OTHER")
        await fixture.close()
    }

    @Test("Requests without a key name use the new key from the activation on")
    func changeOver() async throws {
        let fixture = try await LifecycleTestGateway()
        let signing = Task {
            var count = 0
            while !Task.isCancelled {
                _ = try await fixture.sign()
                count += 1
            }
            return count
        }
        await fixture.gateway.until { fixture.gateway.store.entries("signature").count > 50 }
        let change = KeyChangeOrder(
            .activate, "OTHER", reason: "Its time has come.", retiring: "ACTIVE", overlap: 3600, watch: 0)
        let records = try #require(try await fixture.lifecycle.change(change, by: "alice").done)
        let since = fixture.gateway.store.entries("signature").count
        await fixture.gateway.until { fixture.gateway.store.entries("signature").count > since + 50 }
        signing.cancel()
        _ = await signing.result
        #expect(records.map(\.state) == [.active, .retiring])
        let entries = fixture.gateway.store.content.entries.compactMap { EntryFields($0.body) }
        let instant = try #require(entries.last { $0.text("action") == "activate" }?.time)
        for entry in entries where entry.kind == "signature" {
            let time = try #require(entry.time)
            #expect(entry.text("key") == (time < instant ? "ACTIVE" : "OTHER"))
        }
        // Both changes are in one transaction, so their entries are adjacent.
        let actions = entries.filter { $0.kind == "life" }.map { $0.text("action") }
        #expect(actions == ["adopt", "adopt", "activate", "retire"])
        _ = try await fixture.sign(keyID: "ACTIVE")
        await fixture.close()
    }

    @Test("A batch is signed with one key and recorded before the replacement of the key")
    func changeOverDuringBatch() async throws {
        let fixture = try await LifecycleTestGateway()
        fixture.gateway.plain.place.hold()
        let batch = Task { try await fixture.signBatch(of: 100) }
        await fixture.gateway.plain.place.busy(with: 1)
        let change = Task {
            try await fixture.lifecycle.change(
                KeyChangeOrder(
                    .activate, "OTHER", reason: "Its time has come.", retiring: "ACTIVE", overlap: 3600, watch: 0),
                by: "alice")
        }
        // The new key signs its possession proof, so the change arrives during the batch.
        await fixture.gateway.plain.place.busy(with: 2)
        fixture.gateway.plain.place.release()
        for answer in try await batch.value { _ = try answer.get() }
        _ = try #require(try await change.value.done)
        let entries = fixture.gateway.store.content.entries.compactMap { EntryFields($0.body) }
        let changed = try #require(entries.firstIndex { $0.text("action") == "activate" })
        let signatures = entries.indices.filter { entries[$0].kind == "signature" }
        #expect(signatures.count == 100)
        #expect(signatures.allSatisfy { $0 < changed && entries[$0].text("key") == "ACTIVE" })
        await fixture.close()
    }

    @Test("A retiring key signs until its retirement time and not after it")
    func retireAt() async throws {
        let fixture = try await LifecycleTestGateway()
        let change = KeyChangeOrder(
            .activate, "OTHER", reason: "A short overlap.", retiring: "ACTIVE", overlap: 1, watch: 0)
        _ = try await fixture.lifecycle.change(change, by: "alice")
        _ = try await fixture.sign(keyID: "ACTIVE")
        let running = Task { try await fixture.lifecycle.run() }
        await fixture.gateway.until { fixture.state("ACTIVE") == .retired }
        await #expect(throws: GatewayError.keyNotInUse("ACTIVE", .retired)) { try await fixture.sign(keyID: "ACTIVE") }
        #expect(fixture.gateway.store.entries("life").last?.text("action") == "expire")
        running.cancel()
        try await running.value
        await fixture.close()
    }

    @Test("A restart refuses a register that was restored, removed or added")
    func sealed() async throws {
        let fixture = try await LifecycleTestGateway()
        let store = fixture.gateway.store
        let before = store.content.registers
        _ = try await fixture.change(.suspend, "OTHER")
        let after = store.content.registers
        await fixture.close()
        let open = {
            let log = AuditLog(signer: fixture.gateway.signer) { () throws(AuditStoreError) in store }
            try log.open()
            await log.close()
        }
        for wrong in [before, [], after + [AuditRegister(name: "another", value: [], entry: 0)]] {
            store.content.registers = wrong
            await #expect(throws: AuditStoreError.self) { try await open() }
        }
        store.content.registers = after
        try await open()
    }

    @Test("A configuration that is tried and rejected leaves nothing in the register")
    func trial() async throws {
        let fixture = try await LifecycleTestGateway()
        var settings = fixture.gateway.plain.settings
        let uri = fixture.gateway.plain.place.add("tried")
        settings.accounts[0].keys.append(KeySettings(keyID: "TRIED", uri: try KeyURI(uri), origin: "here"))
        settings.accounts[0].hasDualControl = true
        let tried = ConfigurationSnapshot(
            settings, features: [], backends: [FakeKeyBackend.self],
            secrets: FileSecretSource(credentialsDirectory: nil), inheriting: fixture.gateway.snapshot,
            audit: fixture.gateway.snapshot.audit)
        try await fixture.lifecycle.prepare()
        #expect(fixture.state("TRIED") == nil)
        #expect(fixture.lifecycle.overview().accounts.first?.hasDualControl == false)
        await tried.ring.close(except: fixture.gateway.snapshot.ring)
        await fixture.close()
    }

    @Test("A staged key signs proofs and nothing else")
    func staged() async throws {
        let fixture = try await LifecycleTestGateway(staging: true)
        #expect(fixture.state("OTHER") == .staged)
        await #expect(throws: GatewayError.keyNotInUse("OTHER", .staged)) { try await fixture.sign(keyID: "OTHER") }
        let record = try await fixture.lifecycle.prove("OTHER", by: "alice")
        #expect(record.state == .staged && record.fingerprint != nil)
        #expect(fixture.gateway.store.entries("life").last?.text("event") == "proved")
        await fixture.close()
    }

    @Test(
        "A stopped key signs nothing, and no other key replaces it by itself",
        arguments: [KeyLifecycleAction.suspend, .compromise])
    func stop(_ action: KeyLifecycleAction) async throws {
        let fixture = try await LifecycleTestGateway()
        _ = try await fixture.lifecycle.change(
            KeyChangeOrder(action, "ACTIVE", reason: "A laptop is gone."), by: "alice")
        await #expect(throws: GatewayError.noKeyInUse(app: TestGateway.app)) { try await fixture.sign() }
        let state: KeyLifecycleState = action == .suspend ? .suspended : .compromised
        await #expect(throws: GatewayError.keyNotInUse("ACTIVE", state)) { try await fixture.sign(keyID: "ACTIVE") }
        _ = try await fixture.sign(keyID: "OTHER")
        await fixture.close()
    }

    @Test("A signature in progress is not released after its key is stopped")
    func underWay() async throws {
        let fixture = try await LifecycleTestGateway()
        fixture.gateway.plain.place.hold()
        let named = Task { try await fixture.sign(keyID: "ACTIVE") }
        let unnamed = Task { try await fixture.sign() }
        await fixture.gateway.plain.place.busy(with: 2)
        _ = try await fixture.change(.suspend, "ACTIVE")
        fixture.gateway.plain.place.release()
        await #expect(throws: GatewayError.keyNotInUse("ACTIVE", .suspended)) { try await named.value }
        await #expect(throws: GatewayError.noKeyInUse(app: TestGateway.app)) { try await unnamed.value }
        #expect(fixture.gateway.store.entries("signature").isEmpty)
        await fixture.close()
    }

    @Test("A batch sends no further request to a stopped key")
    func stopDuringBatch() async throws {
        let fixture = try await LifecycleTestGateway()
        let place = fixture.gateway.plain.place
        place.hold()
        let batch = Task { try await fixture.signBatch(of: 100) }
        await place.busy(with: 1)
        let asked = place.counts.signatures
        _ = try await fixture.change(.compromise, "ACTIVE")
        place.release()
        let answers = try await batch.value
        #expect(answers.count == 100)
        for answer in answers {
            #expect(throws: GatewayError.noKeyInUse(app: TestGateway.app)) { try answer.get() }
        }
        #expect(place.counts.signatures <= asked + 1)
        #expect(fixture.gateway.store.entries("signature").isEmpty)
        await fixture.close()
    }

    @Test("A key can be replaced after requests that could not be recorded")
    func changeOverAfterOutage() async throws {
        let fixture = try await LifecycleTestGateway()
        fixture.gateway.store.fault = .failed("The disk is full.")
        await #expect(throws: GatewayError.self) { try await fixture.sign() }
        for answer in try await fixture.signBatch(of: 3) { #expect(throws: GatewayError.self) { try answer.get() } }
        fixture.gateway.store.fault = nil
        await fixture.gateway.until { fixture.gateway.audit.state == .writable }
        let change = KeyChangeOrder(
            .activate, "OTHER", reason: "Its time has come.", retiring: "ACTIVE", overlap: 3600, watch: 0)
        _ = try #require(try await fixture.lifecycle.change(change, by: "alice").done)
        await fixture.close()
    }

    @Test("A resumed key regains its state, and a restored key must be activated again")
    func back() async throws {
        let fixture = try await LifecycleTestGateway()
        _ = try await fixture.change(.suspend, "ACTIVE")
        _ = try await fixture.change(.resume, "ACTIVE")
        #expect(fixture.state("ACTIVE") == .active)
        _ = try await fixture.change(.compromise, "ACTIVE")
        _ = try await fixture.change(.restore, "ACTIVE")
        #expect(fixture.state("ACTIVE") == .suspended)
        _ = try await fixture.change(.resume, "ACTIVE")
        #expect(fixture.state("ACTIVE") == .staged)
        await fixture.close()
    }

    @Test("Each forbidden change is refused with advice", arguments: RefusedChange.all)
    func refused(_ refused: RefusedChange) async throws {
        let fixture = try await LifecycleTestGateway()
        try await refused.prepare(fixture)
        let before = fixture.gateway.store.entries("life").count
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.change(refused.order, by: "alice")
        }
        #expect(error?.description.contains(refused.sentence) == true, "\(error?.description ?? "")")
        #expect(fixture.gateway.store.entries("life").count == before)
        await fixture.close()
    }

    @Test("The proposer of a change cannot approve it")
    func dualControl() async throws {
        let fixture = try await LifecycleTestGateway { $0.accounts[0].hasDualControl = true }
        let order = KeyChangeOrder(
            .activate, "OTHER", reason: "Its time has come.", retiring: "ACTIVE", overlap: 3600, watch: 0)
        let proposal = try #require(try await fixture.lifecycle.change(order, by: "alice").proposed)
        #expect(fixture.state("ACTIVE") == .active)
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "alice")
        }
        #expect(error?.description.contains("another administrator has to approve") == true)
        guard
            case .done(let records, _) = try await fixture.lifecycle.approve(
                proposal.id, digest: proposal.digest, by: "bob")
        else {
            Issue.record("It was not done.")
            return
        }
        #expect(records.first?.history.last?.actor == "alice" && records.first?.history.last?.approver == "bob")
        await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "carol")
        }
        // One administrator can stop a key.
        _ = try await fixture.change(.suspend, "OTHER")
        await fixture.close()
    }

    @Test("An expired proposal cannot be approved")
    func expiry() async throws {
        let fixture = try await LifecycleTestGateway {
            $0.accounts[0].hasDualControl = true
            $0.accounts[0].proposalLifetime = .zero
        }
        let order = KeyChangeOrder(.activate, "OTHER", reason: "Late.", retiring: "ACTIVE", overlap: 60)
        let proposal = try #require(try await fixture.lifecycle.change(order, by: "alice").proposed)
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.approve(proposal.id, digest: proposal.digest, by: "bob")
        }
        #expect(error?.description.contains("has expired") == true)
        await fixture.close()
    }

    @Test("The previous key replaces a new key that fails soon, and the log has the reason")
    func reversal() async throws {
        let fixture = try await LifecycleTestGateway()
        let order = KeyChangeOrder(
            .activate, "OTHER", reason: "Its time has come.", retiring: "ACTIVE", overlap: 3600, watch: 60)
        _ = try await fixture.lifecycle.change(order, by: "alice")
        fixture.gateway.plain.place.corruptNext()
        _ = try? await fixture.sign()
        await fixture.gateway.until { fixture.state("ACTIVE") == .active }
        #expect(fixture.state("OTHER") == .suspended)
        let last = fixture.gateway.store.entries("life").suffix(2)
        #expect(last.map { $0.text("action") } == ["revert", "suspend"])
        #expect(last.first?.text("actor") == "gateway")
        #expect(last.first?.text("reason")?.contains("OTHER failed after it was activated") == true)
        await fixture.close()
    }

    @Test("A new key that signs again, as after a crash of its signer, stays active")
    func crash() async throws {
        let fixture = try await LifecycleTestGateway()
        let order = KeyChangeOrder(
            .activate, "OTHER", reason: "Its time has come.", retiring: "ACTIVE", overlap: 3600, watch: 60)
        _ = try await fixture.lifecycle.change(order, by: "alice")
        let handle = try #require(fixture.snapshots.current.ring.handles.first { $0.settings.keyID == "OTHER" })
        fixture.gateway.plain.place.failNext(.unavailable("The signer has ended."))
        await #expect(throws: GatewayError.self) { try await fixture.sign() }
        #expect(handle.state != .ready)
        // Nothing but the watch asks for a proof here.
        await fixture.gateway.until { handle.state == .ready }
        _ = try await fixture.sign()
        #expect(fixture.state("OTHER") == .active && fixture.state("ACTIVE") == .retiring)
        await fixture.close()
    }

    @Test("An unrecorded change does not happen, but an unrecorded stop holds")
    func unrecorded() async throws {
        let fixture = try await LifecycleTestGateway()
        fixture.gateway.store.fault = .full("No space is left.")
        let order = KeyChangeOrder(.activate, "OTHER", reason: "No.", retiring: "ACTIVE", overlap: 60)
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.change(order, by: "alice")
        }
        #expect(error?.kind == .unrecorded)
        #expect(fixture.state("ACTIVE") == .active)
        let stop = await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.compromise, "ACTIVE") }
        #expect(stop?.description.contains("The key ACTIVE is stopped, but the stop could not be recorded yet") == true)
        fixture.gateway.store.fault = nil
        await fixture.gateway.until { fixture.gateway.audit.state.isWritable }
        // The process does not use the key, although the register has no record of the stop.
        #expect(fixture.state("ACTIVE") == .active)
        await #expect(throws: GatewayError.noKeyInUse(app: TestGateway.app)) { try await fixture.sign() }
        #expect(fixture.lifecycle.overview().differences.contains { $0.contains("is stopped in this process") })
        // The repeated order is recorded.
        _ = try await fixture.change(.compromise, "ACTIVE")
        #expect(fixture.state("ACTIVE") == .compromised)
        #expect(fixture.gateway.store.entries("life").last?.text("action") == "compromise")
        await fixture.close()
    }

    @Test("The name of another account does not avoid dual control")
    func foreignIssuer() async throws {
        let fixture = try await LifecycleTestGateway { $0.accounts[0].hasDualControl = true }
        _ = try await fixture.change(.compromise, "OTHER")
        for issuer in ["elsewhere", "issuer "] {
            let order = ProvisioningOrder(
                .destroy, issuerID: issuer, keyID: "OTHER", uri: "fake:x", fingerprint: nil, reason: "x")
            await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.lifecycle.begin(order, by: "alice") }
        }
        let unknown = ProvisioningOrder(
            .import, issuerID: "elsewhere", keyID: "NEW", uri: "fake:x", fingerprint: nil, reason: "x")
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.lifecycle.begin(unknown, by: "alice") }
        await fixture.close()
    }

    @Test(
        "A key under destruction cannot return, and another key cannot take a known ID")
    func destroying() async throws {
        let fixture = try await LifecycleTestGateway()
        _ = try await fixture.change(.suspend, "OTHER")
        let order = ProvisioningOrder(
            .destroy, issuerID: "issuer", keyID: "OTHER", uri: fixture.uri("other"), fingerprint: nil, reason: "x")
        _ = try await fixture.lifecycle.begin(order, by: "alice")
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.change(.resume, "OTHER") }
        let mistake = ProvisioningOrder(
            .import, issuerID: "issuer", keyID: "ACTIVE", uri: "fake:y",
            fingerprint: PublicKeyFingerprint(of: P256.Signing.PrivateKey().publicKey), reason: "x")
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.lifecycle.begin(mistake, by: "alice") }
        await fixture.close()
    }

    @Test("A job is recorded from beginning to end, and its end sets the state of the key")
    func job() async throws {
        let fixture = try await LifecycleTestGateway()
        let key = P256.Signing.PrivateKey()
        let order = ProvisioningOrder(
            .import, issuerID: "issuer", keyID: "NEW", uri: fixture.uri("new"),
            fingerprint: PublicKeyFingerprint(of: key.publicKey), reason: "The next key.")
        let job = try #require(try await fixture.lifecycle.begin(order, by: "alice").begun)
        #expect(fixture.lifecycle.overview().jobs == [job])
        // The order is repeated after a crash and continues the same job.
        let again = try #require(try await fixture.lifecycle.begin(order, by: "alice").begun)
        #expect(again.id == job.id)
        // An order with other contents is refused, because it may not have been approved.
        var other = order
        other.uri = fixture.uri("elsewhere")
        await #expect(throws: KeyLifecycleRefusal.self) { try await fixture.lifecycle.begin(other, by: "alice") }
        let end = ProvisioningResult(isSuccess: true, fingerprint: nil, evidence: ["method": "unwrap"])
        fixture.gateway.plain.place.add("new", key)
        let record = try #require(try await fixture.lifecycle.finish(job.id, end, by: "alice").ended)
        #expect(record.state == .staged && record.provenance == .imported)
        #expect(fixture.lifecycle.overview().jobs.isEmpty)
        #expect(record.history.map(\.action) == [.import])
        // The same key may be imported into another token, but no other key under its ID.
        var changed = order
        changed.fingerprint = PublicKeyFingerprint(of: P256.Signing.PrivateKey().publicKey)
        let another = changed
        let error = await #expect(throws: KeyLifecycleRefusal.self) {
            try await fixture.lifecycle.begin(another, by: "alice")
        }
        #expect(error?.description.contains("There is a key NEW already") == true)
        await fixture.close()
    }

    @Test(
        "A reopened log has the same register, and a changed register is refused"
    )
    func reopening() async throws {
        let fixture = try await LifecycleTestGateway()
        _ = try await fixture.change(.suspend, "OTHER")
        await fixture.close()
        let store = fixture.gateway.store
        let keyStates = KeyStateCache()
        func open() throws -> AuditLog {
            let log = AuditLog(signer: fixture.gateway.signer, loading: keyStates.load) {
                () throws(AuditStoreError) in store
            }
            try log.open()
            return log
        }
        let log = try open()
        #expect(keyStates.records["OTHER"]?.state == .suspended)
        await log.close()
        store.content.registers = store.content.registers.map { old in
            guard old.name == "key/OTHER" else { return old }
            let text = String(decoding: old.value, as: UTF8.self).replacing("\"suspended\"", with: "\"retiring\"")
            return AuditRegister(name: old.name, value: Array(text.utf8), entry: old.entry)
        }
        #expect(throws: AuditStoreError.self) { try open() }
    }
}
