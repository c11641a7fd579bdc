import ArgumentParser

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Look at keys, and lead them through their lives.",
        discussion: """
            A key is staged when it comes in, and active once it is activated. When another one takes its place, it is \
            retiring until its time is over, then retired, and in the end destroyed. A key that is suspended or \
            compromised signs nothing. docs/key-life.md has the whole story.

              privyseal keys states --config gateway.yaml
              privyseal keys activate 3Y8S5JYG45 --retire 2X9R4HXF34 --overlap 24h \\
                --reason "Yearly rotation" --config gateway.yaml
              privyseal keys suspend 3Y8S5JYG45 --reason "Odd" --config gateway.yaml

            A running gateway is asked over its admin listener. With --config, and no gateway running, the register in \
            the audit log's database is asked itself.

            EXIT STATUS
              0   done, or proposed to a second administrator
              1   refused, or nobody answered; standard error says why
              64  the command was not called as it should be, or needs --yes
              78  the configuration is wrong
            """,
        subcommands: [
            List.self,
            States.self,
            Show.self,
            History.self,
            Prove.self,
            Activate.self,
            Retire.self,
            Suspend.self,
            Resume.self,
            Compromise.self,
            Restore.self,
            Proposals.self,
            Approve.self,
            Reject.self,
            Import.self,
            Generate.self,
            WrappingKeyPair.self,
            Wrap.self,
            Destroy.self,
        ])
}
