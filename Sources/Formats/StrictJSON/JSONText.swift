/// Encodes `Encodable` values as compact JSON (RFC 8259). Members appear in the order in which the type encodes them,
/// and those of a dictionary in the order of their names. An optional that is nil is an absent member.
///
/// It never fails: a number that JSON cannot express, such as infinity, becomes null.
public enum JSONText {
    public static func encode(_ value: some Encodable) -> [UInt8] {
        let element = JSONElement()
        // `JSONElement` throws no errors, and no type of this package throws any of its own.
        try? element.encode(value)
        var writer = JSONWriter()
        element.write(to: &writer)
        return writer.bytes
    }

    /// The same as a string, for output.
    public static func string(_ value: some Encodable) -> String { String(decoding: encode(value), as: UTF8.self) }
}
