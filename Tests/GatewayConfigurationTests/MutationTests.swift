import GatewayConfiguration
import Testing

@Suite("Robustness of the configuration reader")
struct MutationTests {
    /// splitmix64: every run makes the same mutations, so that a failure can be reproduced.
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    private static let pieces: [[UInt8]] =
        [
            ": ", "- ", "\n", "  ", "\t", "{", "}", "[", "]", ",", "&a ", "*a", "!", "!!int ", "|", ">", "\"", "'", "#",
            "? ",
            "%", "---\n", "...\n", "~", "null", "\0", "\u{2063}", "\u{FEFF}", "\u{85}", "\u{2028}", "\u{F0000}",
            "\\ud800", "\r",
            "<<: ", "keyId: ", "accounts:\n", "listeners:\n", "clients:\n", "sha256: ", "tls: ", "0.5", "1e400",
            "2027-02-30T24:00:00Z",
            "+24:00", "*", "0999", "unix:/", "[::]:1", "0.0.0.0:", "allow: ", "anonymous: true\n",
            "18446744073709551616", "99999999999999999999", "-1", "pin-value=", "%zz", "\u{10FFFF}",
        ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]]

    @Test(
        "4,000 mutations of valid files give a configuration or faults that name the file", .timeLimit(.minutes(5))
    )
    func mutations() throws {
        let least = try configuration(Examples.least)
        var generator = Generator(state: 2026)
        var (valid, refused) = (0, 0)
        for round in 0..<4000 {
            var bytes = Array([Examples.token, Examples.full, Examples.least, Examples.network][round % 4].utf8)
            for _ in 0...Int.random(in: 0...3, using: &generator) { mutate(&bytes, &generator) }
            do {
                let read = try configuration(bytes)
                valid += 1
                #expect(read.changes(from: read).isEmpty)
                for change in read.changes(from: least) + least.changes(from: read) {
                    #expect(!change.description.contains { $0.isNewline || $0 == "\u{1B}" || $0 == "\0" })
                }
            } catch {
                refused += 1
                #expect(!error.faults.isEmpty)
                #expect(error.faults.allSatisfy { $0.origin.source == "gateway.yaml" })
                // A message is one line without control characters that a terminal would interpret.
                #expect(
                    error.faults.allSatisfy {
                        !$0.description.contains { $0.isNewline || $0 == "\u{1B}" || $0 == "\0" }
                    })
            }
        }
        // The mutations are useful only if some are accepted and many are refused.
        #expect(valid > 100)
        #expect(refused > 1000)
    }

    private func mutate(_ bytes: inout [UInt8], _ generator: inout Generator) {
        guard !bytes.isEmpty else { return }
        let position = Int.random(in: 0..<bytes.count, using: &generator)
        let end = min(bytes.count, position + Int.random(in: 0...24, using: &generator))
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes.removeSubrange(position..<end)
        case 2: bytes.insert(contentsOf: bytes[position..<end], at: Int.random(in: 0...bytes.count, using: &generator))
        case 3: bytes.removeLast(bytes.count - position)
        case 4: bytes[position] = UInt8.random(in: .min ... .max, using: &generator)
        default: bytes.insert(contentsOf: Self.pieces.randomElement(using: &generator) ?? [], at: position)
        }
    }
}
