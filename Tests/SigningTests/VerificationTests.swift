import GatewayTesting
import Signing
import SigningKit
import SigningKitTesting
import Testing

@Suite("Verification before release")
struct VerificationTests {
    @Test("A signature that fails verification is not released, and the key becomes degraded")
    func badSignature() async throws {
        let gateway = try await TestGateway()
        #expect(gateway.active.state == .ready)
        gateway.place.corruptNext()
        await expectRefused(gateway)
        guard case .degraded = gateway.active.state else {
            Issue.record("the key is \(gateway.active.state)")
            return
        }
        // The key still signs, and correct signatures are released.
        #expect(try gateway.isValid(await gateway.sign(), by: "active"))
    }

    @Test("Without verification, a wrong signature is released")
    func off() async throws {
        let gateway = try await TestGateway(verification: .off)
        gateway.place.corruptNext()
        #expect(try gateway.isValid(await gateway.sign(), by: "active") == false)
    }

    @Test("Sampled verification checks one signature of N, and all after a failure")
    func sampled() async throws {
        let gateway = try await TestGateway(verification: .sampled(every: 5))
        gateway.place.corruptNext(5)
        var refusals = 0
        for _ in 0..<5 {
            do { _ = try await gateway.sign() } catch { refusals += 1 }
        }
        #expect(refusals >= 1)
        gateway.place.corruptNext(20)
        for _ in 0..<20 { await expectRefused(gateway) }
    }

    @Test("A proof is verified in every mode, and a wrong one makes the key unavailable")
    func badProof() async throws {
        let gateway = try await TestGateway(verification: .off, isOpen: false)
        await gateway.ring.openMissing()
        gateway.place.corruptNext(2)
        await gateway.ring.prove()
        #expect(gateway.ring.handles.allSatisfy { !$0.state.canSign })
    }

    private func expectRefused(_ gateway: TestGateway, sourceLocation: SourceLocation = #_sourceLocation) async {
        do {
            _ = try await gateway.sign()
            Issue.record("a bad signature was released", sourceLocation: sourceLocation)
        } catch {
            guard case .key(.failed, keyID: "ACTIVE") = error else {
                Issue.record("\(error)", sourceLocation: sourceLocation)
                return
            }
        }
    }
}
