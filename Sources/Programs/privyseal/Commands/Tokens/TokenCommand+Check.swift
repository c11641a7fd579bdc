import ArgumentParser
import Foundation
import SigningKit
import StrictJSON

extension TokenCommand {
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Compare this machine's clock with the Date header of an answer by Apple.",
            discussion: """
                Apple answers a token from a wrong clock like a token from a wrong key. Give the header as it arrives:

                  privyseal token check --date \\
                    "$(curl -sI https://api.storekit.apple.com | sed -n 's/^date: //Ip')"

                The header has whole seconds, and the answer takes a moment, so a difference of up to 5 seconds says \
                nothing. Tokens with an end carry a time 60 seconds ago, so Apple accepts them if this clock is up to 60 \
                seconds ahead. Tokens for APNs and DeviceCheck carry the time itself. A clock that is a minute behind does no harm.

                EXIT STATUS
                  0   the difference does no harm
                  1   Apple may refuse tokens from this machine
                  64  the command line is wrong
                """)

        @Option(
            help: ArgumentHelp(
                "The value of the header Date, such as \"Sun, 22 Nov 2026 10:00:00 GMT\".", valueName: "date"))
        var date: String

        @OptionGroup var output: OutputOption

        func run() throws {
            let now = Timestamp.now()
            let theirs = try StandardError.attempt(64) { () throws(CommandError) in try HTTPDateText.parse(date) }
            let difference = ClockDifference(seconds: now.seconds - theirs.seconds)
            try output.write(
                [
                    "ours": now, "theirs": theirs, "seconds": Int(difference.seconds),
                    "harmless": difference.isHarmless,
                ] as JSONMembers, text: difference.sentences)
            guard difference.isHarmless else { throw ExitCode.failure }
        }
    }
}

/// How much this machine's clock is ahead of Apple's.
struct ClockDifference {
    /// Negative if the clock is behind.
    let seconds: Int64

    /// The header has whole seconds, and the answer took some time. A clock that is behind only makes tokens shorter.
    private static let harmless: ClosedRange<Int64> = -ServiceLifetime.allowance...5

    var isHarmless: Bool { Self.harmless.contains(seconds) }

    var sentences: String {
        let amount = "\(seconds.magnitude) second\(seconds.magnitude == 1 ? "" : "s")"
        let cure = "Correct the clock: timedatectl shows whether it is synchronized."
        if isHarmless {
            return seconds == 0
                ? "This clock agrees with Apple's."
                : "This clock is \(amount) \(seconds > 0 ? "ahead of" : "behind") Apple's. That does no harm."
        }
        if seconds < 0 {
            return """
                This clock is \(amount) behind Apple's. Tokens expire that much earlier than they say, and Apple refuses a \
                token for APNs that much before it is an hour old. \(cure)
                """
        }
        let rest =
            seconds <= ServiceLifetime.allowance
            ? "It accepts tokens with an end, because they carry a time \(ServiceLifetime.allowance) seconds ago."
            : "It refuses tokens with an end, too, because they carry a time that is in the future by Apple's clock."
        return """
            This clock is \(amount) ahead of Apple's. Apple may refuse offers, and tokens for APNs and DeviceCheck. \(rest) \
            \(cure)
            """
    }
}

/// The time of an HTTP header (RFC 9110 §5.6.7).
enum HTTPDateText {
    /// Reads an IMF-fixdate, the only form that servers send.
    static func parse(_ text: String) throws(CommandError) -> Timestamp {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !trimmed.isEmpty else { throw CommandError("--date is empty. If curl made the value, it got no answer.") }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard trimmed.utf8.count == 29, let date = formatter.date(from: trimmed),
            let seconds = Int64(exactly: date.timeIntervalSince1970.rounded())
        else {
            throw CommandError(
                "\"\(trimmed.prefix(100))\" is not the value of a header Date: give one such as "
                    + "Sun, 22 Nov 2026 10:00:00 GMT.")
        }
        return Timestamp(seconds: seconds)
    }
}
