/// A type that writes itself as one JSON value, on the signing path. Other types are `Encodable`; see `JSONText`.
public protocol JSONWritable {
    func write(to writer: inout JSONWriter)
}

extension JSONWritable {
    /// The value's JSON text. `capacity` is an estimate of its length in bytes.
    public func jsonBytes(capacity: Int = 256) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity)
        write(to: &writer)
        return writer.bytes
    }
}
