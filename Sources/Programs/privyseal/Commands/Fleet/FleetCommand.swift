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
        abstract: "Show and fence the gateways of a fleet, and allow PINs again that a token has refused.",
        subcommands: [Show.self, Fence.self, ForgetRefusedPINs.self])

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the gateways of the fleet, the activations that wait for them, and refused PINs.",
            discussion: """
                  privyseal fleet show --config gateway.yaml

                A gateway is live while it renews its lease, silent when it has not done so for fleet.staleness and two seconds, left \
                after it was stopped, and fenced after privyseal fleet fence. A silent gateway signs nothing. CURRENT \
                says whether it uses the latest key states. No gateway sends a PIN that a token has refused; see privyseal \
                fleet forget-refused-pins.
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
                  privyseal fleet fence example.com/privyseal/shop-3 \\
                    --reason "Its machine is lost" --yes \\
                    --config gateway.yaml

                The gateway cannot write to its log any more, so it signs nothing, even if it continues later. Start it \
                again to let it sign. The order is in the log of the fleet.
                """)

        @Argument(help: ArgumentHelp("The gateway, as privyseal fleet show names it.", valueName: "origin"))
        var origin: String

        @OptionGroup var reason: ReasonOption
        @OptionGroup var consent: KeyConsentOption
        @OptionGroup var admin: AdminOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            try consent.require("\(origin) signs nothing until it is started again.")
            let path = "/v1/fleet/\(PercentEncoding.encode(origin))/fence"
            let body = JSONText.encode(["reason": reason.text])
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

extension FleetCommand {
    struct ForgetRefusedPINs: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget-refused-pins",
            abstract: "Allow the gateways to send PINs again that a token has refused.",
            discussion: """
                  privyseal fleet forget-refused-pins \\
                    "SoftHSM project/SoftHSM v2/1f2e3d4c5b6a7988/shop" \\
                    --reason "The token has the new PIN now" --config gateway.yaml

                A PIN that a token refused from one gateway is sent by no gateway of the fleet, because a few wrong PINs lock a \
                token. Correct the PIN of that gateway, and reload it. This command is only for a PIN that was right all along, \
                or is right since the token was changed. Reload the gateways afterwards, and restart the one that had sent \
                the PIN.
                """)

        @Argument(help: ArgumentHelp("The token, as privyseal fleet show names it.", valueName: "token"))
        var token: String

        @OptionGroup var reason: ReasonOption
        @OptionGroup var admin: AdminOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let body = JSONText.encode(["token": token, "reason": reason.text])
            let text = try await admin.ask(
                .POST, "/v1/fleet/refused-pins/forget", body: body, accept: "application/json")
            let forgotten: TokenWithRefusedPINs = try JSONDocument(parsing: Array(text.utf8)).root.decode()
            output.show(
                forgotten,
                text:
                    "\(forgotten.pins) of the token \(PlainText.of(forgotten.token)) may be sent again. Reload the gateways "
                    + "that should try.")
        }
    }
}

extension TokenWithRefusedPINs {
    fileprivate var pins: String { refusedPINs == 1 ? "1 PIN" : "\(refusedPINs) PINs" }
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
        let refused = tokens.map { token in
            "The token \(PlainText.of(token.token)) has refused \(token.pins), the last one at "
                + "\(token.last.text) from \(PlainText.of(token.gateway)). No gateway sends them again."
        }
        return ([table.text] + waiting + refused).joined(separator: "\n")
    }
}
