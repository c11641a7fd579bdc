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

    /// - Returns: an environment whose target the caller closes.
    /// - Throws: `DrillError`.
    func environment(
        _ path: String, _ configuration: GatewayConfiguration, _ conditions: DrillConditions
    ) throws -> DrillEnvironment {
        guard let app else { throw DrillError("No app is named.") }
        let account = configuration.accounts.first { $0.apps.contains { $0.bundleID.hasSameBytes(as: app) } }
        guard let account else { throw DrillError("\(path) has no app \(app).") }
        guard let adminAddress = AdminOption.address(in: configuration) else {
            throw DrillError("\(path) has no listeners.admin; add it and restart the gateway.")
        }
        let admin = try admin(adminAddress, tokenFile)
        let outsider = try clientTokenFile.map { try self.admin(adminAddress, $0) }
        return DrillEnvironment(
            conditions, issuerID: account.issuerID, bundleID: app, replacement: new, admin: admin, outsider: outsider,
            target: try target(configuration, conditions.load))
    }

    private func admin(_ address: String, _ tokenFile: String?) throws -> AdminClient {
        var arguments = ["--admin", address]
        if let tokenFile { arguments += ["--token-file", tokenFile] }
        if let trustRoots { arguments += ["--trust-roots", trustRoots] }
        return try AdminClient(address, try AdminOption.parse(arguments))
    }

    private func target(_ configuration: GatewayConfiguration, _ load: LoadSettings) throws -> LoadTarget {
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
        let token = try clientTokenFile.map { path throws(DrillError) in
            do throws(AuditSetupError) { return try EvidenceFile.token(in: path) } catch {
                throw DrillError("\(error)")
            }
        }
        guard let target = LoadTarget(address, token: token, tls: tls, connections: load.connections) else {
            throw DrillError("\(address) is neither unix:/path nor an http:// or https:// URL.")
        }
        return target
    }
}
