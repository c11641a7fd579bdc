import AuditKit
package import Crypto
import Foundation
package import Signing
import SigningKit
package import SigningKitTesting

/// An audited gateway whose key ACTIVE has two or three places in a fake backend: `places[0]` is the first.
package struct ReplicatedGateway {
    package let places: [FakeBackendLocation]
    package let key: P256.Signing.PrivateKey
    package let audited: AuditedGateway

    /// - Parameters:
    ///   - isPinned: whether the configuration pins the key's fingerprint.
    ///   - isOpen: whether the keys are opened and sign proofs.
    ///   - arrange: changes the places before they are opened.
    package init(
        count: Int = 2, selection: KeySelection = .inOrder, isPinned: Bool = false,
        verification: VerificationMode = .always, store: MemoryAuditStore = MemoryAuditStore(),
        arrange: ([FakeBackendLocation]) -> Void = { _ in }
    ) async throws {
        let key = P256.Signing.PrivateKey()
        let places = (0..<count).map { FakeBackendLocation("\($0)-\(UUID().uuidString)") }
        var uris: [KeyURI] = []
        for (number, place) in places.enumerated() {
            uris.append(try KeyURI(place.add("active", key)))
            place.tokenSerial = "serial-\(number)"
        }
        arrange(places)
        (self.places, self.key) = (places, key)
        let settings = KeySettings(
            keyID: "ACTIVE", uri: uris[0], replicas: Array(uris.dropFirst()), selection: selection,
            pinned: isPinned ? PublicKeyFingerprint(of: key.publicKey) : nil, origin: "here")
        audited = try await AuditedGateway(store: store) { all in
            all.verification = verification
            all.accounts[0].keys[0] = settings
        }
    }

    package var ring: KeyRing { audited.snapshot.ring }
    package var handle: KeyHandle { ring.handles[0] }
    /// The states of the places.
    package var states: [String] { handle.replicas.map(\.state.name) }

    package func sign() async throws { _ = try await audited.sign() }

    /// The serial numbers of the tokens that signed, from the audit log.
    package var signers: [String?] {
        audited.store.entries("signature").map { $0.text("tokenSerial") }
    }
}
