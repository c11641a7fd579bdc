import ArgumentParser
import KeyLifecycle

/// The options of every command that changes a key's state.
struct KeyChangeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The reason, which is recorded in the key's history; at most 500 bytes.", valueName: "text"))
    var reason: String

    @OptionGroup var target: KeyLifecycleClientOption
    @OptionGroup var output: OutputOption

    func validate() throws {
        guard reason.contains(where: { !$0.isWhitespace }) else {
            throw ValidationError(
                "--reason must not be blank: it explains the change to later readers of the history.")
        }
    }

    /// Requests the change, and prints the result.
    func make(_ order: KeyChangeOrder) async throws {
        report(try await target.lifecycleClient().change(order), watch: order.watch)
    }

    func report(_ answer: KeyChangeAnswer, watch: Int? = nil) {
        output.show(answer, text: KeyAnswerText(where: target.gatewayOption, watch: watch).text(answer))
    }
}
