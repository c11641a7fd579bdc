import ArgumentParser
import KeyLifecycle
import SigningKit

extension KeysCommand {
    struct Activate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "activate",
            abstract: "Make a key the active one, in place of the current one; it signs requests that name no key.",
            discussion: """
                  privyseal keys activate 3Y8S5JYG45 --retire 2X9R4HXF34 --overlap 24h \\
                    --reason "Yearly rotation" --config gateway.yaml

                First the new key signs a proof of possession. Then it replaces the old one without interrupting \
                requests: signatures have the old key's ID until the time that is shown, and the new key's ID from \
                then on. During the overlap, the old key still signs requests that name it; then it is retired.

                If the new key fails within --watch, the old one automatically becomes active again, the new one is \
                suspended, and the log and privyseal keys history say why.

                Revoke the old key in App Store Connect once it is retired, not before: its last signatures may still \
                be in use until then.
                """)

        @Argument(help: ArgumentHelp("The ID of the key that becomes active.", valueName: "key-id"))
        var key: String

        @Option(
            help: ArgumentHelp(
                "The ID of the active key. Omit it only if no key is active.", valueName: "key-id"))
        var retire: String?

        @Option(
            help: ArgumentHelp(
                "How long the old key still signs requests that name it: 90s, 45m, 24h, 7d.", valueName: "span"))
        var overlap: DurationArgument?

        @Option(
            help: ArgumentHelp(
                "How long a failure of the new key makes the old one active again.", valueName: "span"))
        var watch = DurationArgument(seconds: 300)

        @OptionGroup var change: KeyChangeOption
        @OptionGroup var consent: KeyConsentOption

        func validate() throws {
            guard (retire == nil) == (overlap == nil) else {
                throw ValidationError("Give --retire and --overlap together: --retire OLD --overlap 24h.")
            }
        }

        func run() async throws {
            try consent.require(intention)
            let proven = try await change.target.lifecycleClient().prove(key)
            let proof =
                "\(key) has signed a fresh proof of possession"
                + (proven.fingerprint.map { "; its fingerprint is \($0)." } ?? ".")
            if change.output.format == .text { print(proof) }
            try await change.make(
                KeyChangeOrder(
                    .activate, key, reason: change.reason, retiring: retire, overlap: overlap?.seconds,
                    watch: retire == nil ? nil : watch.seconds))
        }

        private var intention: String {
            guard let retire, let overlap else { return "\(key) becomes the active key." }
            return
                "\(key) becomes the active key in place of \(retire), which signs requests that name it for another \(overlap)."
        }
    }
}
