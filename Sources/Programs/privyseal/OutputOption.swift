import ArgumentParser
import StrictJSON

struct OutputOption: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    @Option(help: "The output format.")
    var format = Format.text

    func show(_ document: some Encodable, text: @autoclosure () -> String) {
        print(format == .json ? JSONText.string(document) : text())
    }
}
