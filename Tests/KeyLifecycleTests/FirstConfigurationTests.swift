import AuditKit
import Signing
import SigningKit
import Testing

@testable import KeyLifecycle

@Suite("The first configuration of a register")
struct FirstConfigurationTests {
    private func account(_ keyIDs: String...) throws -> AccountSettings {
        AccountSettings(
            issuerID: "issuer", apps: [],
            keys: try keyIDs.map { KeySettings(keyID: $0, uri: try KeyURI("fake:a;key=\($0)"), origin: "here") },
            activeKeyID: keyIDs[0])
    }

    @Test("A key that a reload adds before the register is loaded is staged")
    func reloadBeforeLoading() throws {
        let states = KeyStateCache()
        let time = Timestamp(milliseconds: 0)
        states.declare([try account("FIRST", "SECOND")], at: time)
        states.declare([try account("FIRST", "SECOND", "LATER")], at: time)
        try states.load([:], time: time)
        #expect(states.records.mapValues(\.state) == ["FIRST": .active, "SECOND": .retiring, "LATER": .staged])
    }

    @Test("A reload before the register is loaded corrects a wrong key ID, and removes a key without a trace")
    func correctionBeforeLoading() throws {
        let states = KeyStateCache()
        let time = Timestamp(milliseconds: 0)
        states.declare([try account("WRONG", "REMOVED")], at: time)
        states.declare([try account("RIGHT", "SECOND")], at: time)
        try states.load([:], time: time)
        #expect(states.records.mapValues(\.state) == ["RIGHT": .active, "SECOND": .retiring])
    }
}
