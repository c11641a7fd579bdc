/// The position in a trace, as the header fields `traceparent` and `tracestate` propagate it (W3C Trace Context Level
/// 1, https://www.w3.org/TR/trace-context-1/).
public struct TraceContext: Hashable, Sendable {
    public let traceID: TraceID
    /// The span that is the parent of all spans in this context.
    public let spanID: SpanID
    /// The flag `sampled`: the caller may have recorded the trace. Level 1 defines no other flag; others are read and
    /// sent as zero.
    public let isSampled: Bool
    /// The unchanged `tracestate` of other tracing systems; nil if it was absent or invalid.
    public let state: String?

    init(traceID: TraceID, spanID: SpanID, isSampled: Bool, state: String? = nil) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state
    }

    /// A new trace. A function of its ID decides whether it is recorded.
    public static func fresh(sampledWhere isSampled: (TraceID) -> Bool) -> TraceContext {
        let traceID = TraceID.random()
        return TraceContext(traceID: traceID, spanID: .random(), isSampled: isSampled(traceID))
    }

    /// A new child span's context in the same trace.
    public func child() -> TraceContext {
        TraceContext(traceID: traceID, spanID: .random(), isSampled: isSampled, state: state)
    }
}

// MARK: Header fields

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
        let context = traceparent.withUTF8 { Self.read($0) }
        guard let context else { return nil }
        self.init(
            traceID: context.traceID, spanID: context.spanID, isSampled: context.isSampled,
            state: tracestate.flatMap { TraceState.accept($0) })
    }

    /// `00-` trace ID `-` span ID `-` flags: 55 characters.
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    private static let length = 55
    private static let hyphen = UInt8(ascii: "-")

    private static func read(_ characters: UnsafeBufferPointer<UInt8>) -> TraceContext? {
        guard characters.count >= length,
            characters[2] == hyphen, characters[35] == hyphen, characters[52] == hyphen,
            let version = number(characters[0..<2]), version != 0xFF,
            characters.count == length || (version > 0 && characters[length] == hyphen),
            let high = number(characters[3..<19]), let low = number(characters[19..<35]),
            let traceID = TraceID(high: high, low: low),
            let spanID = number(characters[36..<52]).flatMap({ SpanID($0) }),
            let flags = number(characters[53..<length])
        else { return nil }
        return TraceContext(traceID: traceID, spanID: spanID, isSampled: flags & 1 != 0)
    }

    /// Reads at most 16 hexadecimal digits. The standard allows only lower case.
    private static func number(_ characters: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64? {
        var value: UInt64 = 0
        for character in characters {
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(character - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(character - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return value
    }
}

/// The field `tracestate` (W3C Trace Context §3.3): members `key=value`, separated by commas. None are ours. The field
/// is propagated unchanged or not at all.
enum TraceState {
    /// The length that every system should propagate (§3.3.1.5). The standard allows dropping longer fields.
    private static let longest = 512
    /// Empty members count (§3.3.1.1).
    private static let mostMembers = 32

    /// - Returns: the text without surrounding white space; nil if it is empty, malformed or too long.
    static func accept(_ text: String) -> String? {
        var text = text
        return text.withUTF8 { characters in
            let trimmed = trim(characters[...])
            guard (1...longest).contains(trimmed.count), isWellFormed(trimmed) else { return nil }
            return String(decoding: trimmed, as: UTF8.self)
        }
    }

    private typealias Characters = Slice<UnsafeBufferPointer<UInt8>>

    /// Accepts duplicate keys. The check would cost more than a duplicate harms, and its writer made the error.
    private static func isWellFormed(_ list: Characters) -> Bool {
        let members = list.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard members.count <= mostMembers else { return false }
        var hasMember = false
        for member in members.map(trim) where !member.isEmpty {
            guard let equals = member.firstIndex(of: UInt8(ascii: "=")),
                isKey(member[..<equals]), isValue(member[member.index(after: equals)...])
            else { return false }
            hasMember = true
        }
        return hasMember
    }

    /// `key`: up to 256 characters, the first a letter; or a tenant of up to 241, `@`, and a system of up to 14.
    private static func isKey(_ key: Characters) -> Bool {
        guard key.allSatisfy({ isKeyCharacter($0) || $0 == UInt8(ascii: "@") }), let first = key.first else {
            return false
        }
        guard let at = key.firstIndex(of: UInt8(ascii: "@")) else { return key.count <= 256 && isLetter(first) }
        let system = key[key.index(after: at)...]
        guard let systemFirst = system.first, !system.contains(UInt8(ascii: "@")) else { return false }
        return (1...241).contains(key[..<at].count) && (isLetter(first) || isDigit(first))
            && system.count <= 14 && isLetter(systemFirst)
    }

    /// `value`: 1 to 256 printable ASCII characters without comma and equals sign. The last one is not a space.
    private static func isValue(_ value: Characters) -> Bool {
        (1...256).contains(value.count)
            && value.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
    }

    private static func isKeyCharacter(_ character: UInt8) -> Bool {
        isLetter(character) || isDigit(character) || "_-*/".utf8.contains(character)
    }

    private static func isLetter(_ character: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character)
    }

    private static func isDigit(_ character: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
    }

    /// Removes optional white space: spaces and tabs (RFC 9110 §5.6.3).
    private static func trim(_ characters: Characters) -> Characters {
        let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        var rest = characters.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }
}

// MARK: IDs

/// The ID of a whole trace: 16 bytes, not all zero (W3C Trace Context, `trace-id`).
public struct TraceID: Hashable, Sendable, CustomStringConvertible {
    public let high: UInt64
    public let low: UInt64

    /// - Returns: nil for zero, which is not an ID.
    public init?(high: UInt64, low: UInt64) {
        guard high | low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    static func random() -> TraceID {
        while true {
            if let id = TraceID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)) { return id }
        }
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String { digits(high, low) }
}

/// The ID of one span of a trace: 8 bytes, not all zero (W3C Trace Context, `parent-id`).
public struct SpanID: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64

    /// - Returns: nil for zero, which is not an ID.
    public init?(_ rawValue: UInt64) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    static func random() -> SpanID {
        while true {
            if let id = SpanID(.random(in: 1 ... .max)) { return id }
        }
    }

    /// 16 lower-case hexadecimal digits.
    public var description: String { digits(rawValue) }
}

/// 16 lower-case hexadecimal digits for each word.
private func digits(_ words: UInt64...) -> String {
    String(unsafeUninitializedCapacity: 16 * words.count) { buffer in
        for index in 0..<16 * words.count {
            let digit = UInt8(truncatingIfNeeded: words[index / 16] >> UInt64(60 - index % 16 * 4)) & 15
            buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
        return 16 * words.count
    }
}
