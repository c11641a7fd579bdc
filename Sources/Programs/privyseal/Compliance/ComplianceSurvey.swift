import AuditKit
import ComplianceReport
import Encodings
import Foundation
import GatewayConfiguration
import Glibc
import KeyLifecycle
import Signing
import SigningKit

/// Collects the findings of a compliance report from the configuration, the keys, the register and the records.
struct ComplianceSurvey {
    let configuration: GatewayConfiguration
    /// The configuration file.
    let path: String
    let acceptsSoftware: Bool
    let verifiesLog: Bool

    /// - Parameter overview: reads the register. The report contains its error.
    func findings(_ overview: () async throws -> KeyLifecycleOverview) async -> ComplianceFindings {
        let register: RegisterFindings
        var lives: [String: KeyLifecycleRecord] = [:]
        do {
            let overview = try await overview()
            for key in overview.accounts.flatMap(\.keys) { lives[key.life.keyID] = key.life }
            register = .known(
                differences: overview.differences, jobs: overview.jobs, proposals: overview.proposals)
        } catch {
            register = .unknown("The register of keys could not be read: \(error)")
        }
        let audit = AuditSurvey(
            configuration.audit, verifies: verifiesLog, drillDirectory: configuration.drillDirectory
        ).findings
        return ComplianceFindings(
            installation: installation, accounts: await KeySurvey(configuration).accounts(lives), register: register,
            clients: configuration.clients.map(ClientFindings.init),
            allowsAnonymous: configuration.allowsAnonymous,
            listeners: configuration.listeners.map(ListenerFindings.init),
            audit: audit.audit, drills: audit.drills)
    }

    private var installation: ComplianceFindings.Installation {
        ComplianceFindings.Installation(
            host: ProcessInfo.processInfo.hostName, version: Version.text, configuration: URL(filePath: path).path,
            configurationDigest: Hexadecimal.encode(configuration.digest),
            actor: "uid \(getuid())", acceptsSoftware: acceptsSoftware)
    }
}

extension ClientFindings {
    init(_ client: GatewayConfiguration.Client) {
        let tokens = client.tokens.map { token in
            let end = token.expires.map { "until \($0.text)" } ?? "without end"
            return "token \(token), \(end)"
        }
        self.init(
            name: client.name, isAdministrator: client.isAdministrator,
            proofs: tokens + client.certificates.map { "certificate \($0.claim)" }
                + client.uids.map { "uid \($0.number)" },
            reach: client.allow.map(Self.line))
    }

    private static func line(_ rule: GatewayConfiguration.Rule) -> String {
        let parts = [
            ("apps", rule.apps), ("features", rule.features), ("products", rule.products), ("offers", rule.offers),
            ("keys by name", rule.keyIDs),
        ]
        return parts.filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.map(\.text).joined(separator: " "))" }
            .joined(separator: ", ")
    }
}

extension ListenerFindings {
    init(_ listener: GatewayConfiguration.Listener) {
        let protection: Protection =
            if let tls = listener.tls {
                .tls(version: tls.minimumVersion.rawValue, clientCertificates: tls.clientCertificates.rawValue)
            } else if listener.isBehindProxy {
                .proxy
            } else {
                listener.address.staysOnMachine ? .local : .none
            }
        self.init(role: listener.role.rawValue, address: "\(listener.address)", protection: protection)
    }
}
