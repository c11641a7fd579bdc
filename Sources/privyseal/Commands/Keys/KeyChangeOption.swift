import ArgumentParser
import SigningGateway
import StrictJSON

/// What every change of a key's state is asked for with.
struct KeyChangeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Why. It is recorded for those who read the history in a year; at most 500 bytes.", valueName: "text"))
    var reason: String

    @OptionGroup var place: KeyDeskOption
    @OptionGroup var output: OutputOption

    func validate() throws {
        guard reason.contains(where: { !$0.isWhitespace }) else {
            throw ValidationError(
                "--reason must say something: whoever reads the record in a year has to understand it.")
        }
    }

    /// Has it done or proposed, and says what came of it.
    func make(_ order: KeyChangeOrder) async throws {
        report(try await place.ask { desk in try await desk.change(order) }, watch: order.watch)
    }

    func report(_ answer: KeyChangeAnswer, watch: Int? = nil) {
        switch output.format {
        case .json: print(String(decoding: answer.jsonBytes(capacity: 2048), as: UTF8.self))
        case .text: print(KeyAnswerText(where: place.whereabouts, watch: watch).text(answer))
        }
    }
}
