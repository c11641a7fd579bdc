import ComplianceReport
import Crypto
import Foundation
import Signing
import SigningKit
import Synchronization
import Testing

/// A backend with remote, billed calls runs through the gateway like the built-in ones.
@Suite("A key service as a backend")
struct KeyServiceTests {
    private let service = KeyService()
    private let region = UUID().uuidString

    init() {
        KeyServiceBackend.service.withLock { [service, region] in $0[region] = service }
    }

    @Test("each signature costs one call, and no proof is made before it is due")
    func bill() async throws {
        let ring = try await ring()
        await ring.openMissing()
        await ring.prove()
        #expect(ring.handles.map(\.state) == [.ready])
        #expect(ring.handles[0].custody == .service)
        #expect(service.bill == ["CreateKey", "GetPublicKey", "Sign"])
        // As the monitor does for /readyz and at its interval.
        for _ in 0..<10 { await ring.prove(olderThan: .seconds(1)) }
        #expect(service.bill.count == 3)
        let digest = SHA256.hash(data: [1])
        let signature = try await ring.handles[0].sign(digest)
        let parsed = try P256.Signing.ECDSASignature(rawRepresentation: signature.bytes)
        #expect(ring.handles[0].publicKey?.isValidSignature(parsed, for: digest) == true)
        #expect(service.bill.last == "Sign" && service.bill.count == 4)
        await ring.close()
    }

    @Test("a failed signature takes the key down, and a real signature brings it back as a proof does")
    func recovery() async throws {
        let ring = try await ring()
        let handle = ring.handles[0]
        await ring.openMissing()
        await ring.prove()
        service.isReachable = false
        await #expect(throws: KeyError.self) { try await handle.sign(SHA256.hash(data: [1])) }
        #expect(!handle.state.canSign)
        service.isReachable = true
        let calls = service.bill.count
        // The retry interval has not passed.
        await ring.prove(olderThan: .seconds(1))
        #expect(service.bill.count == calls && !handle.state.canSign)
        _ = try await handle.sign(SHA256.hash(data: [1]))
        #expect(handle.state == .ready && service.bill.count == calls + 1)
        service.isReachable = false
        await #expect(throws: KeyError.self) { try await handle.sign(SHA256.hash(data: [1])) }
        service.isReachable = true
        try await Task.sleep(for: .milliseconds(60))
        await ring.prove(olderThan: .seconds(1))
        #expect(handle.state == .ready)
        await ring.close()
    }

    @Test("a key is made, inspected, reported and destroyed")
    func life() async throws {
        let address = try await made()
        let backend = try await KeyServiceBackend.open(address.locator, in: environment)
        let inspection = try await backend.inspect(address.selector)
        #expect(inspection.matches == 1 && inspection.evidence["KeySpec"] == "ECC_NIST_P256")
        let findings = Sample.findings(.generated) {
            $0.inspection = .seen(inspection, at: Sample.now)
            $0.pinned = inspection.fingerprint
        }
        let report = Sample.report(findings)
        #expect(report.result("custody") == .pass && report.result("service.origin") == .pass)
        #expect(report.check("service.origin")?.evidence.hasPrefix("read from the service at ") == true)
        #expect(report.tally.verdict == .pass)
        #expect(!report.checks.contains { $0.id.hasPrefix("attribute.") || $0.id.hasPrefix("token.") })

        let session = try await KeyServiceBackend.provisioningSession(at: address.locator, in: environment)
        let gone = try await session.destroy(address.selector, expecting: nil, isResumed: false, tell: { _ in })
        #expect(gone.fingerprint == inspection.fingerprint && gone.destroyedPrivate == 1)
        #expect(try await backend.inspect(address.selector).matches == 0)
        #expect(
            Sample.report(
                Sample.findings(.generated) {
                    $0.inspection = .unseen(
                        .unavailable("No."),
                        checks: KeyServiceBackend.checks(provenance: .generated, uninspected: .unavailable("No.")))
                }
            ).result("service.origin") == .unavailable)
    }

    private var environment: KeyBackendEnvironment {
        KeyBackendEnvironment(
            settings: PluginSettings(defaultsOf: KeyServiceBackend.settings),
            secrets: FileSecretSource(credentialsDirectory: nil))
    }

    /// Has the service make a key.
    private func made() async throws -> KeyAddress {
        let address = try KeyServiceBackend.address(
            of: KeyServiceBackend.uri(KeyURI("service:\(region)"), naming: "KEY"))
        let session = try await KeyServiceBackend.provisioningSession(at: address.locator, in: environment)
        let key = try await session.generate(as: address.selector, isResumed: false, tell: { _ in })
        #expect(key.method == .generated && session.location.evidence["region"] == region)
        return address
    }

    private func ring() async throws -> KeyRing {
        _ = try await made()
        let key = KeySettings(keyID: "KEY", uri: try KeyURI("service:\(region)/KEY"))
        let account = AccountSettings(issuerID: "issuer", apps: [], keys: [key], activeKeyID: "KEY")
        return KeyRing(
            GatewaySettings(accounts: [account]), backends: [KeyServiceBackend.self],
            secrets: FileSecretSource(credentialsDirectory: nil))
    }
}
