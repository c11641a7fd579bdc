/// Damages valid requests at random. The same seed gives the same damages.
public struct RequestMutator: Sendable {
    private var generator: SplitMix64
    private let bodies: [[UInt8]]

    /// - Parameter bodies: valid requests; the mutator copies pieces of one into another.
    public init(seed: UInt64, bodies: [[UInt8]]) {
        generator = SplitMix64(seed: seed)
        self.bodies = bodies
    }

    /// `body` with one to four damages.
    public mutating func mutate(_ body: [UInt8]) -> [UInt8] {
        var body = body
        for _ in 0..<Int.random(in: 1...4, using: &generator) { damage(&body) }
        return body
    }

    private mutating func damage(_ body: inout [UInt8]) {
        let range = randomRange(in: body)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: if !range.isEmpty { body[range.lowerBound] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
        case 1: if !range.isEmpty { body[range.lowerBound] = UInt8.random(in: 0x20...0x7E, using: &generator) }
        case 2:
            body.insert(contentsOf: Self.tokens.randomElement(using: &generator)?.utf8 ?? "".utf8, at: range.lowerBound)
        case 3: body.removeSubrange(range)
        case 4: body.insert(contentsOf: body[range], at: range.lowerBound)
        case 5: body.removeSubrange(range.upperBound...)
        default:
            guard let other = bodies.randomElement(using: &generator) else { return }
            body.replaceSubrange(range, with: other[randomRange(in: other)])
        }
    }

    /// At most 12 bytes: a longer cut leaves nothing to parse.
    private mutating func randomRange(in body: [UInt8]) -> Range<Int> {
        let start = Int.random(in: 0...body.count, using: &generator)
        let length = Int.random(in: 0...12, using: &generator)
        return start..<min(start + length, body.count)
    }

    private static let tokens = [
        "\"", "\\", "{", "}", "[", "]", ",", ":", "null", "true", "false", "0", "-1", "1e9", "9223372036854775808", " ",
        "\\u2063", "\u{2063}", "\\u0000", "\\ud800", "\u{200B}", "\u{1F600}", "é", "e\u{301}", "\\/",
    ]
}

/// splitmix64 by Sebastiano Vigna: small, takes a seed, and is random enough to choose damages.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
