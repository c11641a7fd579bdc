import ArgumentParser
import Glibc

/// `--yes`, for actions that cannot be undone at once.
struct KeyConsentOption: ParsableArguments {
    @Flag(help: "Do not ask for confirmation; for scripts.")
    var yes = false

    /// - Throws: `ExitCode` 1 if the answer on the terminal is not yes, 64 without a terminal; the error is printed.
    func require(_ sentence: String) throws {
        guard !yes else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw StandardError.failure(
                "\(sentence) Standard input is not a terminal: add --yes.", status: ExitCode.validationFailure.rawValue)
        }
        StandardError.print("\(sentence) Continue? Type yes.")
        guard readLine(strippingNewline: true)?.lowercased() == "yes" else {
            throw StandardError.failure("Nothing was done.")
        }
    }
}
