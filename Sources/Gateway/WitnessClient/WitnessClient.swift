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

    /// One client for the life of the process, which keeps its connections.
    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton, configuration: clientConfiguration)

    private static var clientConfiguration: HTTPClient.Configuration {
        // A redirection counts as a failure: the request that follows it would not contain the checkpoint.
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(5), read: .seconds(5)))
        // The next checkpoint is the next try. Otherwise a refused connection would take until the deadline.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Before a witness closes an idle connection, perhaps just as a request begins.
        configuration.connectionPool.idleTimeout = .seconds(15)
        // A witness gets no trace context of a request.
        configuration.tracing.tracer = nil
        return configuration
    }

    /// The time for further witnesses after enough of them have cosigned.
    private static let grace = Duration.milliseconds(500)

    public func ask(_ note: SignedNote, timeout: Duration) async -> [WitnessAnswer] {
        let round = WitnessRound(policy)
        let deadline = NIODeadline.now() + TimeAmount(timeout)
        // Not child tasks: a task group would wait for a witness that never ends its answer.
        let tasks = policy.witnesses.indices.map { index in
            Task {
                do throws(WitnessRefusal) {
                    round.note(.success(try await cosignature(index, note, Self.client, deadline)), of: index)
                } catch {
                    round.note(.failure(error), of: index)
                }
            }
        }
        await round.wait(atMost: timeout, grace: Self.grace)
        for task in tasks { task.cancel() }
        return round.answers
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
        let known = sizes.withLock { $0[index] } ?? 0
        if known > checkpoint.size { throw ahead(by: known) }
        // A witness that has cosigned something else, before a restart of this process for example, answers with its size.
        // So does one of which the known size cannot be proved any more.
        var request = (try? await request(note, checkpoint, from: known)) ?? AddCheckpointRequest(note)
        for _ in 0..<Self.maximumRequests {
            switch try await exchange.ask(request) {
            case .cosigned(let signature):
                sizes.withLock { $0[index] = checkpoint.size }
                return signature
            case .conflict(let size):
                guard size != request.oldSize else {
                    throw WitnessRefusal("\(prefix) answered 409 with the size that it was asked for.")
                }
                guard size <= checkpoint.size else { throw ahead(by: size) }
                request = try await self.request(note, checkpoint, from: size)
            }
        }
        throw WitnessRefusal("\(prefix) answered each request with another size.")
    }

    /// The first request, and two more if another process gets a cosignature at the same time.
    private static let maximumRequests = 3

    private func ahead(by size: Int) -> WitnessRefusal {
        WitnessRefusal(
            isShared
                ? "It has cosigned a later checkpoint of another gateway."
                : "It has cosigned \(size) entries of this log, more than the checkpoint covers: an older copy of the log "
                    + "is in use, or another process published a checkpoint at the same time.",
            isShared ? .failure : .ahead)
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
                "The growth from the \(oldSize) entries that it has cosigned cannot be proved. \(error)")
        }
        return AddCheckpointRequest(oldSize: oldSize, hashes: hashes, note: note)
    }
}
