import ArgumentParser

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Read the audit log, and prove that nobody changed it.",
        discussion: """
            The log is that of the configuration, or a copy anywhere: privyseal audit needs the database and public keys, \
            never the gateway and never a private key (only archive --drop writes to the log, and needs its key).

              privyseal audit tail --follow --config gateway.yaml
              privyseal audit search --client shop --since 24h --config gateway.yaml
              privyseal audit verify --config gateway.yaml
              privyseal audit verify --database copy.db --key audit.db.key.pub \\
                --checkpoints from-witness
              privyseal audit prove 41234 --config gateway.yaml --out proof
              privyseal audit check-proof proof --key audit.db.key.pub

            docs/audit.md says what is promised and what is not.

            EXIT STATUS
              0   done; for verify and check-proof: nothing is wrong
              1   something is wrong with the log or the proof, or the log could not be read; standard error says what
              64  the command was not called as it should be, or a file that it names could not be used
              78  the configuration is wrong
            """,
        subcommands: [
            Tail.self, Search.self, Show.self, Verify.self, Prove.self, CheckProof.self, ShowCheckpoint.self,
            Export.self,
            Stats.self, Archive.self, Keys.self,
        ])
}
