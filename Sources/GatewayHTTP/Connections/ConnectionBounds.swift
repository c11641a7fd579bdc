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
    /// From the connection to the answer with which it ends.
    public var connectionAge = TimeAmount.hours(1)
    /// Of a request's line and header fields together, in bytes.
    public var headerBytes = 16_384
    /// Of a batch's body, in bytes.
    public var batchBodyBytes = 1 << 20
    /// Of all bodies of one client that are in flight, in bytes.
    public var clientBodyBytes = 16 << 20
    /// Of all bodies that are in flight, in bytes.
    public var totalBodyBytes = 64 << 20

    public init() {}
}
