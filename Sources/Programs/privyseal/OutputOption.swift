import ArgumentParser

struct OutputOption: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    @Option(help: "The output format.")
    var format = Format.text
}
