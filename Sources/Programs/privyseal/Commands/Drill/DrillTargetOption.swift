import ArgumentParser
import Foundation
import GatewayConfiguration
import KeyDrills
import NIOSSL
import Signing
import SigningKit

/// The gateway, account and keys of a drill without `--throw-away`.
struct DrillTargetOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The address for signature requests, if it is not the configured one: unix:/path or a URL.",
            valueName: "address"))
    var `public`: String?

    @Option(
        help: ArgumentHelp(
            "An app of the staging account, with both forms of promotional offers.", valueName: "bundle-id"))
    var app: String?

    @Option(
        help: ArgumentHelp("A file with the token of a client that may request the app's offers.", valueName: "file"),
        completion: .file())
    var clientTokenFile: String?

    @Option(help: ArgumentHelp("The staged key that becomes active.", valueName: "key-id"))
    var new: String?

    @Option(
        help: ArgumentHelp("A file with an administrator's token, if one is needed.", valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Option(help: ArgumentHelp("CA certificates for the gateway, in PEM.", valueName: "file"))
    var trustRoots: String?

    /// The issuer ID of the app's account.
    ///
    /// - Parameter path: of the configuration, for messages.
    func issuerID(_ path: String, _ configuration: GatewayConfiguration) throws(DrillError) -> String {
        let app = app ?? ""
        let account = configuration.accounts.first { $0.apps.contains { $0.bundleID.hasSameBytes(as: app) } }
        guard let account else { throw DrillError("\(path) has no app \(app).") }
        return account.issuerID
    }

    /// - Returns: an environment whose target the caller closes.
    func environment(
        _ path: String, _ configuration: GatewayConfiguration, _ issuerID: String, _ conditions: DrillConditions
    ) throws -> DrillEnvironment {
        guard let adminAddress = AdminOption.address(in: configuration) else {
            throw DrillError("\(path) has no listeners.admin; add it and restart the gateway.")
        }
        func admin(_ tokenFile: String?) throws -> AdminClient {
            var arguments = ["--admin", adminAddress]
            if let tokenFile { arguments += ["--token-file", tokenFile] }
            if let trustRoots { arguments += ["--trust-roots", trustRoots] }
            return try AdminClient(adminAddress, try AdminOption.parse(arguments))
        }
        return DrillEnvironment(
            conditions: conditions, issuerID: issuerID, bundleID: app ?? "", replacement: new ?? "",
            admin: try admin(tokenFile), outsider: try clientTokenFile.map(admin),
            target: try target(configuration, conditions.load.connections))
    }

    private func target(_ configuration: GatewayConfiguration, _ connections: Int) throws -> LoadTarget {
        let listener = configuration.publicListener
        let scheme = listener.tls == nil ? "http://" : "https://"
        let address = self.public ?? (listener.address.isUnixSocket ? "" : scheme) + "\(listener.address)"
        var tls = TLSConfiguration.makeClientConfiguration()
        if let trustRoots {
            guard let roots = try? NIOSSLCertificate.fromPEMFile(trustRoots) else {
                throw DrillError("\(trustRoots) cannot be read as certificates in PEM.")
            }
            tls.trustRoots = .certificates(roots)
        }
        let token = try clientTokenFile.map(InputFile.token)
        guard let target = LoadTarget(address, token: token, tls: tls, connections: connections) else {
            throw DrillError("\(address) is neither unix:/path nor an http:// or https:// URL.")
        }
        return target
    }
}
