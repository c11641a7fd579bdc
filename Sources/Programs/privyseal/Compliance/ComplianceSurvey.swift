import AuditKit
import ComplianceReport
import Encodings
import Foundation
import GatewayConfiguration
import GatewayHTTP
import Glibc
import KeyDrills
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

    /// - Parameters:
    ///   - overview: reads the register. The report contains its error.
    ///   - signers: asks the running gateway; nil if none runs.
    func findings(
        _ overview: () async throws -> KeyLifecycleOverview, signers: () async throws -> SignersStatus?
    ) async -> ComplianceFindings {
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
        let fleet = configuration.fleetLog.map {
            FleetDrillSurvey(fleetLog: $0, own: configuration.audit?.location.origin ?? "")
        }
        let drills = configuration.drillDirectory.map { DrillSurvey(archive: DrillArchive($0), fleet: fleet) }
        let audit = AuditSurvey(audit: configuration.audit, verifies: verifiesLog, drills: drills).findings
        return ComplianceFindings(
            installation: [
                .init("Host", ProcessInfo.processInfo.hostName), .init("Made by", "uid \(getuid())"),
                .init("PrivySeal", Version.text), .init("Configuration", URL(filePath: path).path),
                .init("Its SHA-256", Hexadecimal.encode(configuration.digest)),
            ],
            acceptsSoftware: acceptsSoftware, accounts: await KeySurvey(configuration: configuration).accounts(lives),
            register: register, clients: configuration.clients.map(Self.client),
            allowsAnonymous: configuration.allowsAnonymous, listeners: configuration.listeners.map(Self.listener),
            signers: await self.signers(signers), audit: audit.audit, drills: audit.drills)
    }

    private func signers(_ status: () async throws -> SignersStatus?) async -> SignersFindings {
        do {
            guard let status = try await status() else {
                return .unknown("No gateway runs, and only a running gateway has signers.")
            }
            return .running(
                processes: status.signers.flatMap { signer in
                    signer.processes.map { process in
                        (
                            signer.name, process.pid, process.protection, process.missingProtection,
                            process.protectionLimits
                        )
                    }
                },
                inProcess: configuration.signers.filter(\.isInProcess).map(\.name),
                withoutRecord: status.signaturesWithoutRecord)
        } catch {
            return .unknown("The gateway could not be asked about its signers: \(error)")
        }
    }

    private static func client(_ client: ClientSettings) -> ClientFindings {
        let tokens = client.tokens.map { token in
            "token \(token.name), \(token.expires.map { "until \($0.text)" } ?? "without end")"
        }
        let proofs =
            tokens + client.certificates.map { "certificate \($0)" } + client.identities.map { "identity \($0)" }
            + client.uids.map { "uid \($0)" }
        return (client.name, client.isAdministrator, proofs, client.rules.map(line))
    }

    private static func line(_ rule: RuleSettings) -> String {
        let parts = [
            ("apps", rule.apps), ("features", rule.features), ("products", rule.products), ("offers", rule.offers),
            ("keys by name", rule.keyIDs),
        ]
        return parts.filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.map(\.text).joined(separator: " "))" }
            .joined(separator: ", ")
    }

    private static func listener(_ listener: GatewayConfiguration.Listener) -> ListenerFindings {
        let protection: ListenerProtection =
            if let tls = listener.tls {
                .tls(version: tls.minimumVersion.rawValue, clientCertificates: tls.clientCertificates.rawValue)
            } else if listener.isBehindProxy {
                .proxy
            } else {
                listener.address.staysOnMachine ? .local : .none
            }
        return (listener.role.rawValue, "\(listener.address)", protection)
    }
}
