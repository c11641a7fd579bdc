import SigningKit

/// Findings about the time of a signature, and about the form of a key ID.
enum TimestampCheck {
    /// The tolerated difference between two clocks, in milliseconds.
    private static let tolerance: Int64 = 60_000
    /// How long Apple keeps an offer active, in milliseconds (Apple: "Generating a signature for promotional offers").
    private static let lifetime: Int64 = 24 * 3_600_000

    /// - Parameter milliseconds: The timestamp of a legacy signature.
    static func legacy(_ milliseconds: Int64, now: Timestamp) -> [Finding] {
        let age = now.milliseconds - milliseconds
        if age > lifetime {
            return [
                Finding(
                    .offerExpired, .warning, field: "timestamp",
                    "The timestamp is \(duration(age)) old (\(date(milliseconds))); Apple keeps an offer active for 24 hours."
                )
            ]
        }
        return future(milliseconds, now: now, field: "timestamp")
    }

    /// - Parameter seconds: The claim `iat` of a JWS. Apple does not document how long a JWS is valid.
    static func token(_ seconds: Int64, now: Timestamp) -> [Finding] {
        let milliseconds = seconds * 1000
        let age = now.milliseconds - milliseconds
        if age > lifetime {
            return [
                Finding(
                    .issuedLongAgo, .warning, field: "iat",
                    "The token was issued \(duration(age)) ago (\(date(milliseconds))). Apple computes an expiration time from iat and does not say which; a day is too long to count on."
                )
            ]
        }
        return future(milliseconds, now: now, field: "iat")
    }

    /// Key IDs of App Store Connect have ten characters: digits and upper-case letters.
    static func keyID(_ keyID: String, field: String) -> [Finding] {
        let isUsual =
            keyID.utf8.count == 10
            && keyID.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
            }
        guard !isUsual, !keyID.isEmpty else { return [] }
        return [
            Finding(
                .keyIDShape, .warning, field: field,
                "The key ID \"\(keyID)\" does not look like one of App Store Connect's: ten digits and upper-case letters."
            )
        ]
    }

    private static func future(_ milliseconds: Int64, now: Timestamp, field: String) -> [Finding] {
        let lead = milliseconds - now.milliseconds
        guard lead > tolerance else { return [] }
        return [
            Finding(
                .issuedInFuture, .warning, field: field,
                "\(field) is \(duration(lead)) in the future (\(date(milliseconds))).")
        ]
    }

    private static func date(_ milliseconds: Int64) -> String {
        guard milliseconds < 253_402_300_800_000 else { return "after the year 9999" }
        return DateNotation.second(milliseconds: milliseconds) + "Z"
    }

    private static func duration(_ milliseconds: Int64) -> String {
        let minutes = milliseconds / 60_000
        return switch minutes {
        case ..<120: "\(minutes) minutes"
        case ..<2880: "\(minutes / 60) hours"
        default: "\(minutes / 1440) days"
        }
    }
}
