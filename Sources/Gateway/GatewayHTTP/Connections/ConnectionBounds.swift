public import NIOCore

/// Limits of connections and request bodies.
public struct ConnectionBounds: Sendable {
    /// On the public listener; the admin and metrics listeners have at most 64 each.
    public var connections = 4096
    /// From a request's first byte to the last byte of its answer.
    public var requestTimeout = TimeAmount.seconds(10)
    /// From the connection to the end of its TLS handshake.
    public var handshakeTimeout = TimeAmount.seconds(10)
    /// Between an answer and the next request. Also the time for a client to read an answer.
    public var idleTimeout = TimeAmount.seconds(60)
    /// From the connection to the answer that ends it.
    public var connectionAge = TimeAmount.hours(1)
    /// Of the request line and the header fields together, in bytes.
    public var headerBytes = 16_384
    /// Of a batch request's body, in bytes.
    public var batchBodyBytes = 1 << 20
    /// Of all bodies of one client in flight, in bytes.
    public var clientBodyBytes = 16 << 20
    /// Of all bodies in flight, in bytes.
    public var totalBodyBytes = 64 << 20

    public init() {}
}
