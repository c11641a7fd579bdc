import ArgumentParser
import StrictJSON

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Test every key with a proof signature, and show which keys are fit to sign and what needs action.",
        discussion: """
            The proof is a fixed text and a random nonce; it cannot be taken for a token or an offer.
            With an audit log, the command also checks the register of keys, of the running gateway or in the log's \
            database. It shows differences between configuration and register, and unfinished work on tokens, each \
            with the action to take. The configuration declares keys, the register holds their states; see \
            docs/key-life.md.
            It also tests the key of the audit log and its checkpoint file, the address of each listener, its certificate and key, and the keys of each issuer.
            The exit status is 0 if every key is fit to sign, every listener can be used, every issuer has keys, and \
            nothing needs action, 1 if not, and 78 if the configuration is wrong. \
            A proposal that waits for a second administrator is shown, and is not a fault.
            """)

    @OptionGroup var config: ConfigurationOption
    @OptionGroup var output: OutputOption

    func run() async throws {
        let configuration = try config.load()
        let register = await KeyRegisterCheck.take(configuration, config.path)
        let log = AuditLogCheck(configuration)
        let keys = await KeyInventory.take(configuration, states: register.states)
        let listeners = ListenerCheck(configuration)
        let issuers = await IssuerCheck.take(configuration)
        output.show(
            [
                "keys": keys.members, "register": register.document, "listeners": listeners.members,
                "auditLog": log.faults.isEmpty ? nil : log.faults,
                "issuers": issuers.members.isEmpty ? nil : issuers.members,
            ] as JSONMembers,
            text: ([keys.text] + register.sentences + log.sentences + listeners.sentences + issuers.sentences).joined(
                separator: "\n"))
        guard keys.canAllSign, register.isFine, log.faults.isEmpty, listeners.isFine, issuers.isFine else {
            throw ExitCode.failure
        }
    }
}
