import ArgumentParser
import AuditKit
import Encodings
import GatewayHTTP
import KeyLifecycle
import NIOHTTP1
import SigningKit
import StrictJSON

struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Show and fence the gateways that share their key states with this one.",
        subcommands: [Show.self, Fence.self])

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the gateways of the fleet, and the activations that wait for them.",
            discussion: """
                  privyseal fleet show --config gateway.yaml

                A gateway is live while it renews its lease, silent when it has not done so for fleet.staleness and two seconds, left \
                after it was stopped, and fenced after privyseal fleet fence. A silent gateway signs nothing. CURRENT \
                says whether it uses the latest key states.
                """)

        @OptionGroup var admin: AdminOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let text = try await admin.ask(.GET, "/v1/fleet", accept: "application/json")
            let fleet: FleetOverview = try JSONDocument(parsing: Array(text.utf8)).root.decode()
            output.show(fleet, text: fleet.text)
        }
    }

    struct Fence: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fence",
            abstract: "Prevent a gateway that does not answer from signing, so that nothing waits for it.",
            discussion: """
                  privyseal fleet fence example.com/privyseal/shop-3 --reason "Its machine is lost" --yes \
                    --config gateway.yaml

                The gateway cannot write to its log any more, so it signs nothing, even if it continues later. Start it \
                again to let it sign. The order is in the log of the fleet.
                """)

        @Argument(help: ArgumentHelp("The gateway, as privyseal fleet show names it.", valueName: "origin"))
        var origin: String

        @Option(help: ArgumentHelp("The reason, which is recorded; at most 500 bytes.", valueName: "text"))
        var reason: String

        @OptionGroup var consent: KeyConsentOption
        @OptionGroup var admin: AdminOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            try consent.require("\(origin) signs nothing until it is started again.")
            let path = "/v1/fleet/\(PercentEncoding.encode(origin, .init(kept: "-._~")))/fence"
            let body = JSONText.encode(["reason": reason])
            let text = try await admin.ask(.POST, path, body: body, accept: "application/json")
            let fenced: FencedGateway = try JSONDocument(parsing: Array(text.utf8)).root.decode()
            output.show(
                fenced,
                text:
                    "\(PlainText.of(fenced.origin)) is fenced since \(fenced.time.text): it signs nothing until it is "
                    + "started again.")
        }
    }
}

extension FleetOverview {
    fileprivate var text: String {
        let table = TextTable(
            header: ["GATEWAY", "STATE", "CURRENT", "LAST RENEWED", "REASON"],
            rows: gateways.map { gateway in
                [
                    gateway.origin, gateway.state, gateway.isCurrent ? "yes" : "no", gateway.renewed.text,
                    gateway.reason ?? "-",
                ]
            })
        let waiting = activations.map { activation in
            "The activation of \(PlainText.of(activation.keyID)), which \(PlainText.of(activation.actor)) ordered at "
                + "\(activation.ordered.text), waits for gateways."
        }
        return ([table.text] + waiting).joined(separator: "\n")
    }
}
