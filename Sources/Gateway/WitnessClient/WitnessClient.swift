import AsyncHTTPClient
public import AuditKit
public import AuditLog
import NIOCore
import NIOPosix
import Synchronization
public import TransparencyLog

/// Asks the witnesses of a policy for cosignatures (C2SP tlog-witness).
public final class WitnessClient: CheckpointWitnesses {
    public let policy: WitnessPolicy
    /// Of each witness of the policy; nil for one without a URL.
    private let submissionPrefixes: [String?]
    private let isShared: Bool
    private let opening: @Sendable () throws(AuditStoreError) -> any AuditReader
    /// What each witness cosigned last, by its index in the policy.
    private let sizes = Mutex<[Int: Int]>([:])

    /// - Parameters:
    ///   - isShared: whether several gateways write the log, so that a witness may have cosigned a later checkpoint.
    ///   - opening: opens the log, to prove that it only grew. It may block.
    public init(
        policy: WitnessPolicy, isShared: Bool = false,
        opening: @escaping @Sendable () throws(AuditStoreError) -> any AuditReader
    ) {
        self.policy = policy
        self.isShared = isShared
        self.opening = opening
        submissionPrefixes = policy.witnesses.map { witness in
            witness.url.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        }
    }

    public func ask(_ note: SignedNote, timeout: Duration) async -> [WitnessAnswer] {
        let deadline = NIODeadline.now() + TimeAmount(timeout)
        let indices = policy.witnesses.indices
        // A redirection counts as a failure: the request that follows it would not contain the checkpoint.
        let answers: [Int: WitnessAnswer]? = try? await HTTPClient.withHTTPClient(
            configuration: .init(redirectConfiguration: .disallow)
        ) { client in
            await withTaskGroup(of: (Int, WitnessAnswer).self) { group in
                for index in indices {
                    group.addTask {
                        do throws(WitnessRefusal) {
                            return (index, .success(try await self.cosignature(index, note, client, deadline)))
                        } catch {
                            return (index, .failure(error))
                        }
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
        }
        return indices.map { answers?[$0] ?? .failure(WitnessRefusal("It could not be asked.")) }
    }

    private func cosignature(
        _ index: Int, _ note: SignedNote, _ client: HTTPClient, _ deadline: NIODeadline
    ) async throws(WitnessRefusal) -> NoteSignature {
        guard let prefix = submissionPrefixes[index] else {
            throw WitnessRefusal("The policy has no URL for it; add the URL of its submission prefix.")
        }
        let exchange = WitnessExchange(
            verifier: policy.witnesses[index].verifier, url: prefix + "/add-checkpoint", client: client,
            deadline: deadline)
        guard let checkpoint = try? Checkpoint(parsing: note.text) else {
            throw WitnessRefusal("The checkpoint could not be read.")
        }
        var oldSize = sizes.withLock { $0[index] } ?? 0
        if oldSize > checkpoint.size { throw ahead(by: oldSize) }
        var answer = try await exchange.ask(try await request(note, checkpoint, from: oldSize))
        if case .conflict(let size) = answer {
            // The witness has cosigned another checkpoint than this process knows of: before a restart, for example.
            guard size != oldSize else { throw WitnessRefusal("It answered 409 to the size that it asked for.") }
            guard size <= checkpoint.size else { throw ahead(by: size) }
            oldSize = size
            answer = try await exchange.ask(try await request(note, checkpoint, from: oldSize))
        }
        guard case .cosigned(let signature) = answer else {
            throw WitnessRefusal("Its latest checkpoint changed twice during the request.")
        }
        sizes.withLock { $0[index] = checkpoint.size }
        return signature
    }

    private func ahead(by size: Int) -> WitnessRefusal {
        WitnessRefusal(
            isShared
                ? "It has cosigned a later checkpoint of another gateway."
                : "It has cosigned \(size) entries of this log, more than the checkpoint covers: an older copy of the log "
                    + "is in use, or another process published a checkpoint at the same time.",
            isContradiction: !isShared)
    }

    private func request(
        _ note: SignedNote, _ checkpoint: Checkpoint, from oldSize: Int
    ) async throws(WitnessRefusal) -> AddCheckpointRequest {
        guard oldSize > 0, oldSize < checkpoint.size else {
            return AddCheckpointRequest(oldSize: oldSize, hashes: [], note: note)
        }
        let hashes: [MerkleHash]
        do {
            hashes = try await NIOThreadPool.singleton.runIfActive { [opening] in
                let reader = try opening()
                defer { reader.close() }
                return try AuditProver(reader).consistency(from: oldSize, to: checkpoint)
            }
        } catch {
            throw WitnessRefusal(
                "The growth from \(oldSize) to \(checkpoint.size) entries cannot be proved to it. \(error)")
        }
        return AddCheckpointRequest(oldSize: oldSize, hashes: hashes, note: note)
    }
}
