import AuditKit
import AuditLog
import SigningKit

extension AuditLog {
    /// Changes a register of the fleet's log from a command. If a gateway changes a register first, it begins again.
    ///
    /// - Parameter change: from the value, nil at first, to the new value; nil to change nothing.
    func register(
        _ entry: KeyLifecycleEntry, _ name: String, _ change: ([UInt8]?) throws -> [UInt8]?
    ) async throws {
        for attempt in 1... {
            let registers = registers.mapValues(\.value)
            guard let value = try change(registers[name]) else { return }
            do throws(AuditError) {
                return try await register([(entry, name, value)], at: time(), basis: registers)
            } catch {
                guard error == .superseded, attempt < Self.registerAttempts else { throw error }
                try await follow()
            }
        }
    }

    private static let registerAttempts = 20
}
