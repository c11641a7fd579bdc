import ArgumentParser
import AuditKit

struct DrillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drill",
        abstract: "Rehearse what can happen to keys, and keep a record of it.",
        discussion: """
            A drill does a scenario step by step, with requests for signatures running the whole time, and writes down what \
            was expected and what happened: as JSON, and as a page to print and sign.

              privyseal drill run scheduled-rotation --throw-away --config gateway.yaml
              privyseal drill run compromise --config staging.yaml --app com.example.staging \\
                --client-token-file drill.token --new 3Y8S5JYG45
              privyseal drill list --config gateway.yaml
              privyseal drill compare --config gateway.yaml

            With --throw-away the drill makes a gateway of its own, with keys in a SoftHSM token, and removes both \
            afterwards. Without it, the drill changes the keys of the gateway that runs: use a staging account. \
            docs/drills.md says more.

            EXIT STATUS
              0   done; for run: the drill passed
              1   the drill failed, or could not be run; standard error says why
              64  the command was not called as it should be, or needs --yes
              78  the configuration is wrong
            """,
        subcommands: [Run.self, List.self, Show.self, Compare.self])

    /// Makes text safe for a terminal: a record may have been changed by hand.
    static func plain(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { PlainText.of(String($0)) }
            .joined(separator: "\n")
    }
}
