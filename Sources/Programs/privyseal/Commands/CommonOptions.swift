import ArgumentParser
import Glibc
import StrictJSON

struct OutputOption: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    @Option(help: "The output format.")
    var format = Format.text

    func show<Document: Encodable>(_ document: @autoclosure () -> Document, text: @autoclosure () -> String) {
        print(format == .json ? JSONText.string(document()) : text())
    }

    /// Like `show`, but a standard output that cannot be written is an error of the command, with status 1.
    func write<Document: Encodable>(
        _ document: @autoclosure () -> Document, text: @autoclosure () -> String
    ) throws {
        try StandardOutput.write(format == .json ? JSONText.string(document()) : text())
    }
}

/// `--yes`, for actions that cannot be undone at once.
struct KeyConsentOption: ParsableArguments {
    @Flag(help: "Do not ask for confirmation; for scripts.")
    var yes = false

    /// - Throws: `ExitCode` 1 if the answer on the terminal is not yes, 64 without a terminal; the error is printed.
    func require(_ sentence: String) throws {
        guard !yes else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw StandardError.failure(
                "Nothing was done. This would need a yes on a terminal, but standard input is none; add --yes. The question "
                    + "would be: \(sentence)", status: ExitCode.validationFailure.rawValue)
        }
        StandardError.print("\(sentence) Continue? Type yes.")
        guard readLine(strippingNewline: true)?.lowercased() == "yes" else {
            throw StandardError.failure("Nothing was done.")
        }
    }
}

/// `--reason`, for changes that are recorded.
struct ReasonOption: ParsableArguments {
    @Option(
        name: .customLong("reason"),
        help: ArgumentHelp("The reason, which is recorded; at most 500 bytes.", valueName: "text"))
    var text: String

    func validate() throws {
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw ValidationError("--reason must not be blank: it explains the change to later readers of the history.")
        }
    }
}

/// A duration as people write it: a whole number with `s`, `m`, `h` or `d`.
struct DurationArgument: ExpressibleByArgument, Equatable, CustomStringConvertible {
    let seconds: Int

    init(seconds: Int) {
        self.seconds = seconds
    }

    /// Nil for other text, and for numbers with more than six digits.
    init?(argument: String) {
        guard let unit = argument.last.flatMap({ mark in Self.units.first { $0.mark == mark } }),
            (2...7).contains(argument.utf8.count), argument.dropLast().allSatisfy({ ("0"..."9").contains($0) }),
            let count = Int(argument.dropLast())
        else { return nil }
        seconds = count * unit.seconds
    }

    /// In the largest unit that divides the duration.
    var description: String {
        let unit = Self.units.first { seconds % $0.seconds == 0 && seconds >= $0.seconds }
        return unit.map { "\(seconds / $0.seconds)\($0.mark)" } ?? "\(seconds)s"
    }

    private static let units: [(mark: Character, seconds: Int)] = [
        ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]
}
