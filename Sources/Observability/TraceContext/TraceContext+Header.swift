extension TraceContext {
    /// Parses the two header fields.
    ///
    /// For versions above 00, it reads the first 55 characters like version 00; a hyphen must separate the rest (§3.2.4
    /// of the standard). Upper-case digits, IDs of zero and version `ff` are errors.
    ///
    /// - Parameters:
    ///   - traceparent: the field's value. Several fields are joined by commas, which is rightly an error.
    ///   - tracestate: the values of all fields, joined by commas. The context omits them if malformed or too long.
    /// - Returns: nil if `traceparent` is invalid, so that a new trace begins.
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

    /// Nil if there is nothing to send.
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
