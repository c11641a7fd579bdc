import ArgumentParser

struct KeyOptions: ParsableArguments {
    @Option(help: "The key's URI.")
    var key: String
}

struct RaceOptions: ParsableArguments {
    @Option(help: "The number of rounds.")
    var rounds = 11

    @Option(help: "The number of operations of each contestant in a round.")
    var operations = 10_000
}

/// The token of the raw PKCS #11 loop.
struct RawTokenOptions: ParsableArguments {
    @Option(help: "The PKCS #11 module.")
    var module: String?

    @Option(help: "The token's label.")
    var token = ""

    @Option(help: "The file that holds the PIN.")
    var pinFile = ""

    func open(threads: Int) throws -> RawPKCS11? {
        guard let module else { return nil }
        return RawPKCS11(modulePath: module, tokenLabel: token, pinFile: pinFile, threads: threads)
    }
}
