import GatewayConfiguration
import Signing
import SigningKit
import Testing

@Suite("Replicas of a key")
struct ReplicaTests {
    private static let least = """
        anonymous: true
        audit: off
        accounts:
          - issuerId: 57246542-96fe-1a63-e053-0824d011072a
            apps: [{bundleId: com.example.app, features: [promotional-offer]}]
            keys:
              - keyId: 2X9R4HXF34
                uri: "pkcs11:token=a"
            activeKey: 2X9R4HXF34
        """

    private static let pin = "publicKey: \"sha256:\(String(repeating: "ab", count: 32))\""

    private func key(_ lines: String...) throws -> GatewayConfiguration.Key {
        try configuration(Self.text(lines)).accounts[0].keys[0]
    }

    /// The configuration with further lines of the key, from line 9 on.
    private static func text(_ lines: [String]) -> String {
        let uri = "\"pkcs11:token=a\""
        return least.replacing(uri, with: ([uri] + lines).joined(separator: "\n        "))
    }

    @Test("the places are in the order of the file, and the first one is uri")
    func order() throws {
        let key = try key("replicas: [\"pkcs11:token=b\", \"file:/c.p8\"]", "selection: leastBusy", Self.pin)
        #expect(key.uris.map(\.text) == ["pkcs11:token=a", "pkcs11:token=b", "file:/c.p8"])
        #expect(key.addresses.map(\.locator.uri.text) == key.uris.map(\.text))
        #expect(key.selection == .leastBusy)
    }

    @Test("a key has one place and the selection inOrder by default")
    func defaults() throws {
        let key = try key()
        #expect(key.replicas.isEmpty && key.selection == .inOrder && key.addresses.count == 1)
    }

    @Test(
        "wrong replicas are refused with their line",
        arguments: [
            ("[\"pkcs11:token=a\"]", "[0]: names the place that is already given at gateway.yaml:8"),
            (
                "[\"pkcs11:token=b\", \"pkcs11:token=b\"]",
                "[1]: names the place that is already given at gateway.yaml:9"
            ),
            ("[\"vault:x\"]", "[0]: cannot be used: no backend serves its scheme"),
            ("[]", ": is an empty list; give at least one URI"),
            ("pkcs11:token=b", ": must be a list"),
            ("[\"pkcs11:token=b?pin-value=1234\"]", "[0]: holds a PIN or a passphrase"),
            ("[\(list(8))]", ": names 8 places; at most 7 are allowed"),
        ] as [(String, String)])
    func refused(_ value: String, _ sentence: String) {
        let faults = faults(in: Self.text(["replicas: \(value)", Self.pin]))
        let prefix = "gateway.yaml:9: accounts[0].keys[0].replicas"
        #expect(faults.count == 1 && faults[0].hasPrefix(prefix + sentence), "\(faults)")
        #expect(!faults.joined().contains("1234"))
    }

    private static func list(_ count: Int) -> String {
        (0..<count).map { "\"pkcs11:token=r\($0)\"" }.joined(separator: ", ")
    }

    @Test("seven replicas are accepted")
    func most() throws {
        #expect(try key("replicas: [\(Self.list(7))]", Self.pin).uris.count == 8)
    }

    @Test("an unknown selection is refused with the choices")
    func selection() {
        let faults = faults(in: Self.text(["replicas: [\"pkcs11:token=b\"]", "selection: random", Self.pin]))
        #expect(faults.count == 1 && faults[0].contains("inOrder, leastBusy"), "\(faults)")
    }

    @Test("replicas without a pinned key, and a selection without replicas, are accepted with a warning")
    func warnings() throws {
        func warnings(_ lines: String...) throws -> [String] {
            try configuration(Self.text(lines)).warnings.map(\.description)
        }
        let unpinned = try warnings("replicas: [\"pkcs11:token=b\"]")
        #expect(unpinned.count == 1 && unpinned[0].contains("is given without publicKey"), "\(unpinned)")
        #expect(try warnings("replicas: [\"pkcs11:token=b\"]", Self.pin).isEmpty)
        let useless = try warnings("selection: leastBusy")
        #expect(useless.count == 1 && useless[0].contains("has no effect without replicas"), "\(useless)")
    }

    @Test("a difference of replicas or of their order is shown without the location of a PIN")
    func changes() throws {
        func changes(_ old: [String], _ new: [String]) throws -> [String] {
            try configuration(Self.text(new)).changes(from: configuration(Self.text(old))).map(\.description)
        }
        let (one, two) = (
            "replicas: [\"pkcs11:token=b?pin-source=file:/b\", \"pkcs11:token=c\"]",
            "replicas: [\"pkcs11:token=c\", \"pkcs11:token=b?pin-source=file:/b\"]"
        )
        let swapped = try changes([one, Self.pin], [two, Self.pin])
        #expect(swapped.count == 1 && swapped[0].contains(".replicas: changes from [pkcs11:token=b, pkcs11:token=c]"))
        #expect(!swapped.joined().contains("/b"))
        let added = try changes([Self.pin], [one, Self.pin])
        #expect(added.contains { $0.contains(".replicas: is added") }, "\(added)")
    }
}
