public import ArgumentParser
public import AuditKit
import SigningKit

/// The search terms; an entry must match all of them.
struct AuditFilterOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "From this time on: 2026-11-21T13:27:00Z, 2026-11-21 (its start in UTC), or an age: 90s, 15m, 24h, 7d, 2w.",
            valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Before this time, in the same forms.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("One day in UTC, such as 2026-11-21.", valueName: "date"))
    var day: String?

    @Option(help: ArgumentHelp("The client's name.", valueName: "name"))
    var client: String?

    @Option(help: ArgumentHelp("The app's bundle ID.", valueName: "bundle-id"))
    var app: String?

    @Option(help: ArgumentHelp("The feature.", valueName: "feature"))
    var feature: String?

    @Option(help: ArgumentHelp("One of the products.", valueName: "product-id"))
    var product: String?

    @Option(help: ArgumentHelp("One of the offers.", valueName: "offer-id"))
    var offer: String?

    @Option(help: ArgumentHelp("The ID of the key that signed.", valueName: "key-id"))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "The outcome: signed, the reason of a refusal (such as forbidden), or another entry's outcome, state, event or change.",
            valueName: "word"))
    var outcome: String?

    @Option(help: ArgumentHelp("The request's ID.", valueName: "id"))
    var requestID: String?

    @Option(
        help: ArgumentHelp(
            "The kind of entry: \(AuditEvent.kinds.joined(separator: ", ")).", valueName: "kind"))
    var kind: String?

    @Option(help: ArgumentHelp("The keyed hash of a user, as entries have it.", valueName: "hash"))
    var user: String?

    /// - Throws: `ExitCode` 64, after printing the error.
    func query(isLatestFirst: Bool) throws -> AuditQuery {
        try refuseKeyFile()
        var text = AuditQueryText()
        (text.since, text.until, text.day) = (since, until, day)
        text.isLatestFirst = isLatestFirst
        let terms: [AuditTerm: String?] = [
            .client: client, .app: app, .feature: feature, .product: product, .offer: offer, .key: key,
            .outcome: outcome, .requestID: requestID, .kind: kind, .user: user,
        ]
        text.terms = terms.compactMapValues(\.self)
        return try StandardError.attempt(64) { try text.query(at: Timestamp.now()) }
    }

    /// Reads one time, in the same forms as `--since`.
    ///
    /// - Throws: `ExitCode` 64, after printing the error.
    static func moment(_ text: String) throws -> Timestamp {
        if let moment = AuditTime.parse(text, at: Timestamp.now()) { return moment }
        throw StandardError.failure(
            "\"\(text)\" is not a time: give one such as 2026-01-01T00:00:00Z, a date such as 2026-01-01, or an age such as "
                + "365d.", status: 64)
    }

    /// `--key` of other commands takes a file, whose path would match no entry here.
    private func refuseKeyFile() throws {
        guard let key, key.contains("/") || key.contains("."), FileFacts(key) != nil else { return }
        throw StandardError.failure(
            "--key \(PlainText.of(key)) is a file; entries are found by the ID of the key that signed, as App Store Connect shows it. "
                + "The log's own public keys are only for privyseal audit verify and check-proof.",
            status: ExitCode.validationFailure.rawValue)
    }
}

extension AuditInterval: ExpressibleByArgument {}
