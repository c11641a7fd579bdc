import GatewayConfiguration
import Logging
import NIOCore
import NIOEmbedded
import Signing
import SigningKit

@testable import GatewayHTTP

/// Sends bytes in pieces through the pipeline of a connection, without a socket.
enum HTTPHeadTarget {
    private static let registry = ConnectionRegistry(GatewayConfiguration.Limits())
    private static let drain = Drain(delay: .zero)
    /// Nothing answers here, so an empty configuration is enough.
    private static let routes: Routes = {
        let gateway = SnapshotHolder(
            ConfigurationSnapshot(
                GatewaySettings(accounts: []), features: [], backends: [],
                secrets: FileSecretSource(credentialsDirectory: nil)))
        return GatewayRouter(
            gateway: gateway, monitor: KeyRingMonitor(gateway), drain: drain, registry: registry
        ).public
    }()
    private static let logger = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }

    /// - Parameter bytes: the first byte is the size of the pieces; 0 means one piece.
    static func read(_ bytes: [UInt8]) throws(FuzzFault) {
        guard let first = bytes.first else { return }
        query(bytes)
        let pieceSize = first == 0 ? bytes.count : Int(first)
        let channel = EmbeddedChannel()
        let gateway = GatewayChannel(
            listener: .public, registry: registry, identity: nil, routes: routes, drain: drain)
        let value = try? gateway.setup(channel: channel, logger: logger).wait()
        try FuzzTarget.require(value != nil, "a connection cannot be set up")
        channel.pipeline.fireChannelActive()
        var rest = bytes.dropFirst()
        while !rest.isEmpty, channel.isActive || channel.isWritable {
            let piece = rest.prefix(pieceSize)
            rest = rest.dropFirst(pieceSize)
            guard (try? channel.writeInbound(ByteBuffer(bytes: piece))) != nil else { break }
            while (try? channel.readOutbound(as: ByteBuffer.self)) ?? nil != nil {}
        }
        channel.close(promise: nil)
        channel.embeddedEventLoop.run()
        withExtendedLifetime(value) {}
    }

    private static func query(_ bytes: [UInt8]) {
        let text = String(decoding: bytes.dropFirst().prefix { $0 > 0x20 }, as: UTF8.self)
        guard let query = try? QueryString(text) else { return }
        for name in query.names { _ = try? query.required(name) }
    }
}
