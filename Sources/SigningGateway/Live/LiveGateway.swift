import AuditKit
public import ServiceLifecycle
import Synchronization

/// The generation that serves now. Others follow it while requests go on; when the last request has let go of one, its
/// places that nobody else needs are closed.
public final class LiveGateway: Service {
    private let generation: Mutex<GatewayGeneration>
    private let retired: AsyncStream<Retirement>
    private let retire: AsyncStream<Retirement>.Continuation

    private struct Retirement {
        let ring: KeyRing
        let successor: KeyRing
        let farewell: Doorbell
    }

    /// Requests have their own deadlines; whoever still holds on after this long finds its key closed.
    private static let patience = Duration.seconds(60)

    public init(_ generation: GatewayGeneration) {
        generation.declareKeys()
        self.generation = Mutex(generation)
        (retired, retire) = AsyncStream.makeStream()
    }

    public var current: GatewayGeneration { generation.withLock { $0 } }

    /// The same for all generations; nil for a gateway that keeps no record.
    public var audit: AuditLog? { current.dispatcher.audit }

    /// From the next request on, `successor` serves.
    public func replace(with successor: GatewayGeneration) {
        successor.declareKeys()
        let retirement = generation.withLock { generation in
            defer { generation = successor }
            return Retirement(ring: generation.ring, successor: successor.ring, farewell: generation.farewell)
        }
        recordRemovals(retirement)
        retire.yield(retirement)
    }

    private func recordRemovals(_ retirement: Retirement) {
        guard let audit else { return }
        let remaining = Set(retirement.successor.slots.map(\.plan.keyID))
        for slot in retirement.ring.slots where !remaining.contains(slot.plan.keyID) {
            audit.note(.key(slot.record(state: "removed")))
        }
    }

    /// Closes the keys of a configuration that does not come to serve. What was recorded when they were tried is not how
    /// things stand: the log gets to say how they do.
    public func turnDown(_ candidate: KeyRing) async {
        let serving = current.ring
        await candidate.close(except: serving)
        guard let audit else { return }
        for slot in candidate.slots where slot.isRecorded {
            let known = serving.slots.first { $0.plan.keyID == slot.plan.keyID }
            if known?.isSame(as: slot.plan, in: slot.place) == true { continue }
            audit.note(.key(known.map { $0.record(of: $0.state) } ?? slot.record(state: "removed")))
        }
    }

    /// Closes what is gone, in the order in which it went; at shutdown, everything.
    public func run() async throws {
        await withGracefulShutdownHandler {
            for await retirement in retired {
                await retirement.farewell.wait(atMost: Self.patience)
                await retirement.ring.close(except: retirement.successor)
            }
        } onGracefulShutdown: {
            self.retire.finish()
        }
        await current.ring.close()
    }
}
