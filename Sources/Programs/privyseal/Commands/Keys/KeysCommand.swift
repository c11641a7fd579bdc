import ArgumentParser

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Show keys, and manage their lifecycle.",
        discussion: """
            A new key is staged, and becomes active when it is activated. When another key replaces it, it is retiring \
            during the overlap, then retired, and finally destroyed. A key that is suspended or compromised signs \
            nothing. docs/key-life.md describes the lifecycle.

              privyseal keys states --config gateway.yaml
              privyseal keys activate 3Y8S5JYG45 --retire 2X9R4HXF34 --overlap 24h \\
                --reason "Yearly rotation" --config gateway.yaml
              privyseal keys suspend 3Y8S5JYG45 --reason "Odd" --config gateway.yaml

            The commands ask the running gateway over its admin listener. With --config, and if no gateway runs, they \
            use the register in the audit log's database.

            EXIT STATUS
              0   done, proposed to a second administrator, or open in a fleet
              1   refused, or the gateway did not answer; standard error says why
              64  the command line is wrong, or needs --yes
              78  the configuration is wrong
            """,
        subcommands: [
            List.self, States.self, Show.self, History.self,
            Prove.self, Activate.self, Retire.self, Suspend.self, Resume.self, Compromise.self, Restore.self,
            Proposals.self, Approve.self, Reject.self,
            Import.self, Generate.self, WrappingKeyPair.self, Wrap.self, Destroy.self,
        ])
}
