import ArgumentParser
import AuditKit

struct DrillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drill",
        abstract: "Rehearse events in the life of keys, and keep a record.",
        discussion: """
            A drill runs a scenario step by step, under a steady load of requests for signatures. It records the \
            expected and the actual results, as JSON and as a page to print and sign.

              privyseal drill run scheduled-rotation --throw-away --config gateway.yaml
              privyseal drill run compromise --config staging.yaml \\
                --app com.example.staging \\
                --client-token-file drill.token --new 3Y8S5JYG45
              privyseal drill list --config gateway.yaml
              privyseal drill compare --config gateway.yaml

            With --throw-away the drill makes a gateway of its own, with keys in a SoftHSM token, and removes both \
            afterwards. Without it, the drill changes the keys of the running gateway: use a staging account. \
            docs/drills.md says more.

            EXIT STATUS
              0   done; for run: the drill passed
              1   the drill failed, or could not be run; standard error says why
              64  the command line is wrong, or needs --yes
              78  the configuration is wrong
            """,
        subcommands: [Run.self, List.self, Show.self, Compare.self, Share.self])

    /// Makes text safe for a terminal: a record may have been changed by hand.
    static func plain(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { PlainText.of(String($0)) }
            .joined(separator: "\n")
    }
}
