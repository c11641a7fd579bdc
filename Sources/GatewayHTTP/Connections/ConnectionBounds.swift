public import NIOCore

/// How much a connection may take of us.
public struct ConnectionBounds: Sendable {
    /// Of all listeners together.
    public var connections = 4096
    /// From a request's first byte to its answer's last.
    public var requestTimeout = TimeAmount.seconds(10)
    /// From the connection to the end of its TLS handshake.
    public var handshakeTimeout = TimeAmount.seconds(10)
    /// Between an answer and the next request.
    public var idleTimeout = TimeAmount.seconds(60)
    /// Of a request's line and header fields together, in bytes.
    public var headerBytes = 16_384
    /// Of a batch's body, in bytes.
    public var batchBodyBytes = 1 << 20

    public init() {}
}
