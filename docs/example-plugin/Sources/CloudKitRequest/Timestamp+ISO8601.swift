import FoundationEssentials
import SigningKit

extension Timestamp {
    /// Whole seconds in UTC, such as `2026-11-21T08:00:00Z`.
    var iso8601: String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }
}
