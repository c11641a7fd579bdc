import ArgumentParser

struct ComplianceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compliance",
        abstract: "Check the keys and the gateway, and write a signed report.",
        discussion: """
              privyseal compliance report --config gateway.yaml \\
                --out /var/lib/privyseal/reports
              privyseal compliance verify compliance-….json --key audit.db.key.pub

            docs/compliance.md says what each check means, and what a report does not prove.
            """,
        subcommands: [Report.self, Verify.self])
}
