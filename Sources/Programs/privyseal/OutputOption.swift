import ArgumentParser

struct OutputOption: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    @Option(help: "How to print the answer.")
    var format = Format.text
}
