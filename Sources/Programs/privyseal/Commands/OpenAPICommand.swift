import ArgumentParser
import GatewayHTTP
import Signing

struct OpenAPICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "openapi",
        abstract: "Print the OpenAPI document that the gateway serves.")

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case yaml, json
    }

    @Option(help: "The output format.")
    var format = Format.yaml

    func run() throws {
        let document = OpenAPIDocument(features: BuiltIns.features().map(\.descriptor))
        switch format {
        case .yaml: print(document.yaml)
        case .json: print(String(decoding: try document.json(), as: UTF8.self))
        }
    }
}
