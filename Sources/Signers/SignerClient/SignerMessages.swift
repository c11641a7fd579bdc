import Logging
import NIOCore
import NIOPosix
import SignerProtocol

/// Puts the messages of a signer process into the gateway's log: its log lines, and what a module prints.
enum SignerMessages {
    static func log(_ line: SignerLogLine, of signer: String) {
        var metadata = line.metadata.mapValues { Logger.MetadataValue.string($0) }
        metadata["signer"] = .string(signer)
        Logger(label: line.label).log(
            level: Logger.Level(rawValue: line.level) ?? .warning, "\(line.message)", metadata: metadata)
    }

    /// Logs the lines of a process's standard output and standard error.
    ///
    /// - Parameter descriptor: the end of a pipe, which the call takes over.
    static func log(_ descriptor: Int32, of signer: String) {
        let bootstrap = NIOPipeBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(PrintedLineHandler(signer))
                }
            }
        _ = bootstrap.takingOwnershipOfDescriptor(input: descriptor)
    }
}

/// Logs lines, within limits: a module may print without end.
private final class PrintedLineHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let signer: String
    private let logger = Logger(label: "privyseal.signers")
    private var line: [UInt8] = []
    private var lines = LineLimit(perSecond: 10)

    /// Of a line, in bytes.
    private static let limit = 500

    init(_ signer: String) {
        self.signer = signer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        for byte in unwrapInboundIn(data).readableBytesView {
            if byte == UInt8(ascii: "\n") { log() } else if line.count < Self.limit { line.append(byte) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) { log() }

    private func log() {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty, lines.admitsNext() else { return }
        logger.warning(
            "A signer process printed: \(String(decoding: line, as: UTF8.self))", metadata: ["signer": "\(signer)"])
    }
}
