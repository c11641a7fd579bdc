import Encodings
import SigningKit

extension Timestamp {
    /// Reads `2027-01-01T00:00:00Z` or `2027-01-01T02:00:00.5+02:00` (RFC 3339 §5.6).
    init(configured text: String) throws(InvalidValue) {
        guard let milliseconds = Array(text.utf8).withUnsafeBufferPointer(RFC3339.milliseconds(_:)) else {
            throw InvalidValue(
                "is not a time; write the date, time and zone, such as 2027-01-01T00:00:00Z")
        }
        self.init(milliseconds: milliseconds)
    }

    /// RFC 3339 in UTC, in whole seconds.
    var configurationText: String { String(decoding: rfc3339.prefix(19), as: UTF8.self) + "Z" }
}
