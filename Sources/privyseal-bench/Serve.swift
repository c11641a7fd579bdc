import ArgumentParser

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Serves.")
    func run() async throws {}
}
struct Memory: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Memory.")
    func run() async throws {}
}
