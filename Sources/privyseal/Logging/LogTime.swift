import Glibc
import SigningGateway
import SigningKit

/// RFC 3339 in UTC, with milliseconds.
enum LogTime {
    static func now() -> [UInt8] {
        let time = GrantIssuer.systemTime().milliseconds
        return text(seconds: Int(time / 1000), milliseconds: Int(time % 1000))
    }

    static func text(seconds: Int, milliseconds: Int) -> [UInt8] {
        var seconds = seconds
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return [UInt8](unsafeUninitializedCapacity: 24) { buffer, count in
            func put(_ value: Int32, _ digits: Int, _ separator: UInt8) {
                var rest = value
                for position in stride(from: count + digits - 1, through: count, by: -1) {
                    buffer[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                buffer[count + digits] = separator
                count += digits + 1
            }
            put(parts.tm_year + 1900, 4, UInt8(ascii: "-"))
            put(parts.tm_mon + 1, 2, UInt8(ascii: "-"))
            put(parts.tm_mday, 2, UInt8(ascii: "T"))
            put(parts.tm_hour, 2, UInt8(ascii: ":"))
            put(parts.tm_min, 2, UInt8(ascii: ":"))
            put(parts.tm_sec, 2, UInt8(ascii: "."))
            put(Int32(truncatingIfNeeded: milliseconds), 3, UInt8(ascii: "Z"))
        }
    }
}
