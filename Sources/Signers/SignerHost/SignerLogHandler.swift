public import Logging
import SignerProtocol

/// Sends log lines to the gateway, which writes them with its own.
public struct SignerLogHandler: LogHandler {
    private let label: String
    private let socket: SignerSocket
    /// In bytes. The gateway accepts less, so a message keeps far below the largest one of the protocol.
    private static let longestText = 2000
    public var metadata: Logger.Metadata = [:]
    public var logLevel = Logger.Level.info

    public init(label: String, _ socket: SignerSocket) {
        self.label = label
        self.socket = socket
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { _, own in own }
        let line = SignerLogLine(
            level: event.level.rawValue, label: label,
            message: event.message.description.shortened(to: Self.longestText),
            metadata: all.mapValues { $0.description.shortened(to: Self.longestText) })
        socket.send(SignerNotice.log(line), as: .notice)
    }
}
