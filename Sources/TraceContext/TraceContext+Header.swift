extension TraceContext {
    /// Reads the two header fields.
    ///
    /// Of a version above 00 the first 55 characters are read as version 00 has them, and what follows must be set
    /// apart by a hyphen (§3.2.4 of the standard). Upper-case digits, IDs of zero and version `ff` are errors.
    ///
    /// - Parameters:
    ///   - traceparent: the field's value; where a request has several fields, all of them joined by commas, which is
    ///     an error as it should be.
    ///   - tracestate: the values of all fields, joined by commas. When they are malformed, or are more than this
    ///     program carries, the context is without them.
    /// - Returns: nil when `traceparent` is not valid: a new trace begins then.
    public init?(traceparent: String, tracestate: String? = nil) {
        var traceparent = traceparent
        let parts = traceparent.withUTF8 { Self.read($0) }
        guard let (traceID, spanID, flags) = parts else { return nil }
        self.init(
            traceID: traceID, spanID: spanID, flags: flags, state: tracestate.flatMap { TraceState.accept($0) })
    }

    /// `00-` trace ID `-` span ID `-` flags: 55 characters.
    public var traceparent: String {
        String(unsafeUninitializedCapacity: Self.length) { buffer in
            for position in [2, 35, 52] { buffer[position] = Self.hyphen }
            buffer[0] = UInt8(ascii: "0")
            buffer[1] = UInt8(ascii: "0")
            Hexadecimal.write(traceID.high, into: buffer, at: 3)
            Hexadecimal.write(traceID.low, into: buffer, at: 19)
            Hexadecimal.write(spanID.rawValue, into: buffer, at: 36)
            buffer[53] = Hexadecimal.character(flags.rawValue >> 4)
            buffer[54] = Hexadecimal.character(flags.rawValue & 0x0F)
            return Self.length
        }
    }

    /// Nil when there is nothing to send.
    public var tracestate: String? { state }

    private static let length = 55
    private static let hyphen = UInt8(ascii: "-")

    private static func read(_ characters: UnsafeBufferPointer<UInt8>) -> (TraceID, SpanID, TraceFlags)? {
        guard characters.count >= length,
            characters[2] == hyphen, characters[35] == hyphen, characters[52] == hyphen,
            let version = Hexadecimal.read(characters, at: 0, count: 2), version != 0xFF,
            characters.count == length || (version > 0 && characters[length] == hyphen),
            let high = Hexadecimal.read(characters, at: 3, count: 16),
            let low = Hexadecimal.read(characters, at: 19, count: 16),
            let traceID = TraceID(high: high, low: low),
            let spanID = Hexadecimal.read(characters, at: 36, count: 16).flatMap({ SpanID($0) }),
            let flags = Hexadecimal.read(characters, at: 53, count: 2)
        else { return nil }
        return (traceID, spanID, TraceFlags(rawValue: UInt8(truncatingIfNeeded: flags)))
    }
}
