import GatewayConfiguration
import Logging
import SigningKit
import StrictJSON

/// One event as one line: a JSON object, or text.
struct LogLine {
    enum Value {
        case text(String)
        case number(Int)
        /// Printed in milliseconds with three decimal places.
        case duration(Duration)
    }

    let level: Logger.Level
    let logger: String
    let message: String
    let fields: [(name: String, value: Value)]

    func bytes(_ format: GatewayConfiguration.Logging.Format) -> [UInt8] {
        switch format {
        case .json: json
        case .text: text
        }
    }

    private var json: [UInt8] {
        var writer = JSONWriter(capacity: 384)
        writer.object { writer in
            writer.name("time")
            writer.unescaped(Timestamp.now().rfc3339)
            writer.member("level", level.rawValue)
            writer.member("logger", logger)
            writer.member("message", message)
            for field in fields {
                writer.name(escaping: field.name)
                switch field.value {
                case .text(let text): writer.string(text)
                case .number(let number): writer.integer(number)
                case .duration(let duration): writer.raw(Self.milliseconds(duration))
                }
            }
        }
        return writer.bytes
    }

    private var text: [UInt8] {
        var line = Timestamp.now().rfc3339
        line += " \(level.rawValue) \(logger): ".utf8
        Self.append(message, to: &line)
        for field in fields {
            line += " \(field.name)=".utf8
            switch field.value {
            case .text(let text): Self.append(text, to: &line)
            case .number(let number): line += "\(number)".utf8
            case .duration(let duration): line += Self.milliseconds(duration)
            }
        }
        return line
    }

    /// Replaces control characters, which could add lines or control a terminal.
    private static func append(_ text: String, to line: inout [UInt8]) {
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            line += isControl ? [UInt8(ascii: " ")] : Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }

    private static func milliseconds(_ duration: Duration) -> [UInt8] {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        let fraction = String(microseconds % 1000)
        let zeros = String(repeating: "0", count: max(0, 3 - fraction.count))
        return Array("\(microseconds / 1000).\(zeros)\(fraction)".utf8)
    }
}
