import Metrics
import NIOCore
import Synchronization

/// Every connection that is open, on whatever listener.
public final class ConnectionRegistry: Sendable {
    private let open = Mutex<[ObjectIdentifier: Entry]>([:])
    private let limits: Mutex<ConnectionBounds>

    private struct Entry {
        let channel: any Channel
        let listener: ListenerName
    }

    public init(_ bounds: ConnectionBounds) {
        limits = Mutex(bounds)
    }

    /// Connections that are open already keep the bounds that they began with.
    public var bounds: ConnectionBounds {
        get { limits.withLock { $0 } }
        set { limits.withLock { $0 = newValue } }
    }

    /// By listener.
    public func counts() -> [ListenerName: Int] {
        open.withLock { open in open.values.reduce(into: [:]) { $0[$1.listener, default: 0] += 1 } }
    }

    /// - Returns: false when there are as many as may be.
    func enter(_ channel: any Channel, _ listener: ListenerName, limit: Int) -> Bool {
        open.withLock { open in
            // The operator gets in even when everybody else is queueing.
            guard open.count < limit || listener != .public else { return false }
            open[ObjectIdentifier(channel)] = Entry(channel: channel, listener: listener)
            return true
        }
    }

    func leave(_ channel: any Channel) {
        open.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// Asks a listener's connections to end: at once where nothing is under way, else after the answer. For when what
    /// their peers have proved need not hold any more.
    public func quiesce(_ listener: ListenerName) {
        let channels = open.withLock { open in open.values.filter { $0.listener == listener }.map(\.channel) }
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    }
}
