import Testing

@testable import PKCS11Token

@Suite("Neighbours on one module")
struct NeighbourTests {
    private final class Backend {}

    private static let second: UInt64 = 1_000_000_000

    /// Asks every second for four hours, and says after how many seconds the answer was yes.
    private func turns(for lost: Backend, in module: String) -> [UInt64] {
        (1...14_400).filter { second in
            ModuleNeighbours.mayReinitialize(module, for: lost, now: second * Self.second)
        }
    }

    @Test("a token that is lost for good disturbs one that signs less and less, down to once an hour")
    func pauses() {
        let (lost, healthy) = (Backend(), Backend())
        ModuleNeighbours.note(healthy, isHealthy: true, in: "/pauses.so")
        let turns = turns(for: lost, in: "/pauses.so")
        let pauses = zip(turns.dropFirst(), turns).map { $0 - $1 }
        #expect(pauses == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600])
    }

    @Test("where nobody else signs there is no pause")
    func alone() {
        #expect(turns(for: Backend(), in: "/alone.so").count == 14_400)
    }
}
