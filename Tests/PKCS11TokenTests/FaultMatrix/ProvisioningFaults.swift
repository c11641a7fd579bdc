import Crypto
import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting

/// A fault while the operator's commands import or generate a key in a token, and destroy it.
struct ProvisioningFaults {
    let session: FaultTestToken
    let fault: FaultCase

    private var uri: String { session.uri("NEW") }
    private var generates: Bool { fault.function == "C_GenerateKeyPair" }

    func run() async throws -> FaultVerdict {
        try session.module.fresh()
        try session.module.follow(fault.rule)
        var needsPerson = false
        for _ in 0...fault.call {
            let key = P256.Signing.PrivateKey()
            // The operator repeats a command that failed.
            var placed = try await attempt { isResumed in try await place(key, isResumed) }
            if placed.failures > 0 { needsPerson = true }
            guard let publicKey = placed.value ?? nil else { return .hungCalls(placed.sentence) }
            if let sentence = await self.fault(of: publicKey, instead: generates ? nil : key.publicKey) {
                return .wrong(sentence)
            }
            placed = try await attempt { isResumed in
                try await destroy(isResumed)
                return nil
            }
            if placed.failures > 0 { needsPerson = true }
            if placed.value == nil { return .hungCalls(placed.sentence) }
            if await refusal(of: uri) == nil { return .wrong("a key that was reported as destroyed signs") }
            if session.hasFired(fault) { return needsPerson ? .person : .recovered(.zero) }
        }
        return .unreached
    }

    private struct Attempts {
        var value: P256.Signing.PublicKey??
        var failures = 0
        var sentence = ""
    }

    private func attempt(_ body: (_ isResumed: Bool) async throws -> P256.Signing.PublicKey?) async throws -> Attempts {
        var attempts = Attempts()
        for attempt in 0..<3 {
            do {
                attempts.value = .some(try await body(attempt > 0))
                return attempts
            } catch {
                attempts.failures += 1
                attempts.sentence = "\(error)"
            }
        }
        return attempts
    }

    private func place(_ key: P256.Signing.PrivateKey, _ isResumed: Bool) async throws -> P256.Signing.PublicKey {
        try await withProvisioningSession(uri) { provisioningSession, selector in
            if generates {
                return try await provisioningSession.generate(as: selector, isResumed: isResumed, tell: { _ in })
                    .publicKey
            }
            let incoming = IncomingKey.plain(material(key))
            return try await provisioningSession.take(
                incoming, as: selector, isResumed: isResumed, allowsClear: false, tell: { _ in }
            ).publicKey
        }
    }

    private func destroy(_ isResumed: Bool) async throws {
        _ = try await withProvisioningSession(uri) { provisioningSession, selector in
            try await provisioningSession.destroy(selector, expecting: nil, isResumed: isResumed, tell: { _ in })
        }
    }

    /// - Returns: the fault of a key that was reported as placed, as a sentence, or nil.
    private func fault(
        of publicKey: P256.Signing.PublicKey, instead expected: P256.Signing.PublicKey?
    ) async -> String? {
        if let expected, expected.rawRepresentation != publicKey.rawRepresentation { return "another key was placed" }
        do throws(KeyError) {
            // If the token refused the public key object, the import tells the operator to configure the public key.
            let (backend, key) = try await open(uri, publicKey: Array(publicKey.x963Representation))
            let fault = await PKCS11TokenTests.fault(key)
            await backend.close()
            guard key.publicKey.rawRepresentation == publicKey.rawRepresentation else { return "another key signs" }
            return fault.map { "a key that was reported as placed does not sign: \($0)" }
        } catch {
            return "a key that was reported as placed is not there: \(error)"
        }
    }
}
