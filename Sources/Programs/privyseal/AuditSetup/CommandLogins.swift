import AuditKit
import AuditLog
import GatewayConfiguration
import KeyLifecycle
import SignerClient
import Signing
import SigningKit
import TransparencyLog

/// The logins of a command on a machine of a fleet. It sends no PIN that a token has refused from a gateway, and records
/// a PIN that the token refuses now, so that no gateway sends it.
struct CommandLogins: LoginHistory, LoginTurns {
    private let local: LoginHistoryFile
    private let configuration: GatewayConfiguration
    private let fleetLog: GatewayConfiguration.Audit
    private let gateway: String

    /// Nil if the configuration has no fleet.
    init?(_ configuration: GatewayConfiguration?) {
        guard let configuration, let fleetLog = configuration.fleetLog, let gateway = configuration.audit?.origin else {
            return nil
        }
        (self.configuration, self.fleetLog, self.gateway) = (configuration, fleetLog, gateway)
        local = LoginHistoryFile(configuration)
    }

    func record(of attempt: LoginAttempt) throws(KeyError) -> LoginRecord? { try local.record(of: attempt) }

    func note(_ state: LoginRecord.State, of attempt: LoginAttempt) throws(KeyError) {
        try local.note(state, of: attempt)
    }

    var turns: (any LoginTurns)? { self }

    /// Waits for no gateway: a person runs one command at a time.
    func begin(_ token: String, waiting: Duration?) async throws(KeyError) -> LoginTurn {
        LoginTurn(
            token: token, id: "\(UInt64.random(in: .min ... .max))", refusedPINs: try refusedPINs(of: token))
    }

    private func refusedPINs(of token: String) throws(KeyError) -> RefusedPINList {
        do {
            let (file, location) = (AuditKeyFile(fleetLog.key.path), fleetLog.location)
            // The first gateway of the fleet has not been started yet.
            guard file.exists, try location.store.exists(at: location) else {
                return RefusedPINList(key: [], refusals: [])
            }
            let reader = try location.read()
            defer { reader.close() }
            let key = try file.read().derivedKey(for: RefusedPINList.keyPurpose)
            return try RefusedPINList(of: token, in: try reader.registers(), key: key)
        } catch {
            throw .unavailable("The PINs that tokens refused in the fleet cannot be read, so no PIN is sent. \(error)")
        }
    }

    /// Warns if the refusal cannot be recorded: the result of the login stands.
    func end(_ turn: LoginTurn, refused: [UInt8]?) async {
        guard let refused, AuditKeyFile(fleetLog.key.path).exists else { return }
        do {
            let log = try AuditComposition(fleetLog, of: configuration, isShared: true).open(isServing: false)
            try await finally(log.close) {
                try await RefusedPINList.record(
                    refused, of: turn.token, from: gateway, in: log, by: Client.operator.name)
            }
        } catch {
            StandardError.print(
                "warning: the refused PIN could not be recorded for the gateways of the fleet: \(error)")
        }
    }
}
