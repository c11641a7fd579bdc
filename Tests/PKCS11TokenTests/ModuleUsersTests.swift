import Testing

@testable import PKCS11Token

@Suite("Backends that share a module")
struct ModuleUsersTests {
    private final class Backend {}

    private static let second: UInt64 = 1_000_000_000

    /// Asks every second for four hours. Returns the seconds at which the answer was yes.
    private func turns(for lost: Backend, in module: String) -> [UInt64] {
        (1...14_400).filter { second in
            ModuleUsers.mayReinitialize(module, for: lost, now: second * Self.second)
        }
    }

    @Test("recovery of a lost token pauses longer each time beside a healthy one, up to an hour")
    func pauses() {
        let (lost, healthy) = (Backend(), Backend())
        ModuleUsers.note(healthy, isHealthy: true, in: "/pauses.so")
        let turns = turns(for: lost, in: "/pauses.so")
        let pauses = zip(turns.dropFirst(), turns).map { $0 - $1 }
        #expect(pauses == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600])
    }

    @Test("recovery does not pause if no other backend signs")
    func alone() {
        #expect(turns(for: Backend(), in: "/alone.so").count == 14_400)
    }
}
