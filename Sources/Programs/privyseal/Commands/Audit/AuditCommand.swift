import ArgumentParser

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Read the audit log, and prove that it is unchanged.",
        discussion: """
            The commands read the configured log or a copy of it. They need the database and public keys, but neither \
            the gateway nor a private key. Only archive --drop and migrate write to the log, and need its key.

              privyseal audit tail --follow --config gateway.yaml
              privyseal audit search --client shop --since 24h --config gateway.yaml
              privyseal audit verify --config gateway.yaml
              privyseal audit verify --database copy.db --key audit.db.key.pub \\
                --checkpoints from-witness
              privyseal audit prove 41234 --config gateway.yaml --out proof
              privyseal audit check-proof proof --key audit.db.key.pub
              privyseal audit migrate --from audit.db --config gateway.yaml

            docs/audit.md says what the log guarantees and what it does not.

            EXIT STATUS
              0   done; for verify and check-proof: no fault was found
              1   the log or the proof is wrong, or the log could not be read
              64  the command line is wrong, or a file that it names could not be used
              78  the configuration is wrong
            """,
        subcommands: [
            Tail.self, Search.self, Show.self, Verify.self, Prove.self, CheckProof.self, ShowCheckpoint.self,
            Export.self,
            Stats.self, Archive.self, Migrate.self, Keys.self,
        ])
}
