import ArgumentParser
import Glibc

/// Asks before something that cannot be undone, where there is somebody to ask.
struct ConfirmationOption: ParsableArguments {
    @Flag(name: .customLong("yes"), help: "Do not ask; for scripts.")
    var isGiven = false

    /// - Throws: status 1 when the answer is no, and 64 when nobody can be asked.
    func ask(_ question: String) throws {
        if isGiven { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw StandardError.failure(
                "\(question) Nobody can be asked, because standard input is not a terminal: give --yes.", status: 64)
        }
        guard Self.answer(question) else { throw StandardError.failure("Nothing was done.") }
    }

    static func answer(_ question: String) -> Bool {
        StandardError.print("\(question) Type yes to go on:")
        return readLine()?.lowercased() == "yes"
    }
}
