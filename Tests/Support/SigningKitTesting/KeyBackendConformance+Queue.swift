import Crypto
import SigningKit
import Testing

extension KeyBackendConformance {
    /// With more callers than the queue accepts, some get `KeyError.busy`, and all others get a valid signature.
    public func saysBusy() async throws {
        guard case .has(let queue) = queue else { return expectReason(queue) }
        try await withKey(queue.settings) { key in
            let outcomes = await sign(queue.callers, with: key)
            #expect(outcomes.contains(.failure(.busy)))
            #expect(outcomes.contains(.success(true)))
            #expect(outcomes.allSatisfy { $0 == .success(true) || $0 == .failure(.busy) })
            #expect(await sign(1, with: key) == [.success(true)])
        }
    }

    /// A cancelled task leaves the queue with `KeyError.cancelled`; the key still signs.
    public func letsGoOfCancelled() async throws {
        guard case .has(let queue) = queue else { return expectReason(queue) }
        try await withKey(queue.settings) { key in
            var outcomes: [Result<Bool, KeyError>] = []
            // Each round cancels a little later: before the tasks call `sign`, while they wait, while the key signs.
            for moment in 0..<32 {
                let signing = Task { await sign(queue.callers, with: key) }
                for _ in 0..<moment { await Task.yield() }
                signing.cancel()
                let some = await signing.value
                #expect(some.count == queue.callers, "nobody is forgotten")
                outcomes += some
            }
            #expect(outcomes.contains(.failure(.cancelled)))
            let allowed: [Result<Bool, KeyError>] = [.success(true), .failure(.busy), .failure(.cancelled)]
            #expect(outcomes.allSatisfy { allowed.contains($0) })
            #expect(await sign(1, with: key) == [.success(true)])
        }
    }

    private func expectReason(_ queue: Capability<Queue>) {
        guard case .lacks(let reason) = queue else { return }
        #expect(!reason.isEmpty, "say why there is no queue")
    }

    /// - Returns: for each call, whether its signature is valid, or the error.
    func sign(_ count: Int, with key: any SigningKey) async -> [Result<Bool, KeyError>] {
        await withTaskGroup(of: Result<Bool, KeyError>.self) { group in
            for index in 0..<count {
                group.addTask {
                    let digest = SHA256.hash(data: Array("caller \(index)".utf8))
                    do throws(KeyError) {
                        return .success(Self.isValid(try await key.sign(digest), digest, key))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}
