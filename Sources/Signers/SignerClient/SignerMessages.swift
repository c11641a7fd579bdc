import Logging
import NIOCore
import NIOPosix
import SignerProtocol
import SigningKit

/// Puts the messages of a signer process into the gateway's log: its log lines, and what a module prints.
enum SignerMessages {
    static func log(_ line: SignerLogLine, of signer: String) {
        var metadata: Logger.Metadata = [:]
        for (name, value) in line.metadata.prefix(20) { metadata[name.shortened] = .string(value.shortened) }
        metadata["signer"] = .string(signer)
        Logger(label: line.label.shortened).log(
            level: Logger.Level(rawValue: line.level) ?? .warning, "\(line.message.shortened)", metadata: metadata)
    }

    /// Logs the lines of a process's standard output and standard error.
    ///
    /// - Parameter descriptor: the end of a pipe, which the call takes over.
    static func log(_ descriptor: Int32, of signer: String) {
        let bootstrap = NIOPipeBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: false)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: PrintedLineHandler.readLength)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(PrintedLineHandler(signer))
                }
            }
        _ = bootstrap.takingOwnershipOfDescriptor(input: descriptor)
    }
}

/// Logs lines, within limits: a module may print without end. Then its writes wait, as the event loop also serves others.
private final class PrintedLineHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let signer: String
    private let logger = Logger(label: "privyseal.signers")
    private var line: [UInt8] = []
    /// With `readPause`, the handler reads at most 800 kB/s.
    static let readLength = 16 << 10
    private static let readPause = TimeAmount.milliseconds(20)

    private var lines = NoticeLimit(10, in: .seconds(1))

    init(_ signer: String) {
        self.signer = signer
    }

    func channelActive(context: ChannelHandlerContext) { context.read() }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.readPause) { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        for byte in unwrapInboundIn(data).readableBytesView {
            if byte == UInt8(ascii: "\n") { log() } else if line.count < SignerText.longest { line.append(byte) }
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
