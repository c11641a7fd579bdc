import SigningKit
import Testing

extension KeyBackendConformance {
    /// `close()` waits for signatures in progress and can be called again; then every call throws `KeyError.closed`.
    public func staysClosed() async throws {
        let address = try Backend.address(of: KeyURI(uri))
        let (backend, key) = try await open(uri, settings)
        async let inFlight = sign(64, with: key)
        async let first: Void = backend.close()
        async let second: Void = backend.close()
        _ = await (first, second)
        let allowed: [Result<Bool, KeyError>] = [.success(true), .failure(.closed), .failure(.busy)]
        #expect(await inFlight.allSatisfy { allowed.contains($0) })
        await backend.close()
        #expect(await sign(1, with: key) == [.failure(.closed)])
        await #expect(throws: KeyError.closed) { try await backend.key(address.selector) }
        guard case .unavailable = await backend.health() else {
            Issue.record("a closed backend is not healthy")
            return
        }
        // A closed backend can be opened again.
        try await withKey { key in
            #expect(await sign(1, with: key) == [.success(true)])
        }
    }

    /// An open backend whose key signs is ready.
    public func isHealthy() async throws {
        let (backend, key) = try await open(uri, settings)
        #expect(await backend.health() == .ready)
        #expect(await sign(1, with: key) == [.success(true)])
        #expect(await backend.health() == .ready)
        await backend.close()
    }

    /// The private key of a token cannot be read.
    public func keepsCustody() async throws {
        switch custodyProof {
        case .has(let proof): try await proof()
        case .lacks(let reason):
            #expect(!reason.isEmpty)
            #expect(custody == .process, "a token must prove that it keeps its keys")
        }
    }
}
