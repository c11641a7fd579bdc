import ArgumentParser
import Glibc

/// `--yes`, for what cannot be undone at once.
struct KeyConsentOption: ParsableArguments {
    @Flag(help: "Do not ask; for scripts.")
    var yes = false

    /// Asks on a terminal.
    ///
    /// - Parameter sentence: what is about to happen.
    /// - Throws: the status 1 when the answer is not yes, 64 when nobody can be asked; already said.
    func require(_ sentence: String) throws {
        guard !yes else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw StandardError.failure(
                "\(sentence) Nobody can be asked here: add --yes.", status: ExitCode.validationFailure.rawValue)
        }
        StandardError.print("\(sentence) Go on? Type yes.")
        guard readLine(strippingNewline: true)?.lowercased() == "yes" else {
            throw StandardError.failure("Nothing was done.")
        }
    }
}
