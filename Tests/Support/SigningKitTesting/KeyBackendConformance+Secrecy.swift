import SigningKit
import Testing

extension KeyBackendConformance {
    /// No description and no dump of a value that a caller can hold shows a secret.
    public func keepsSecrets() async throws {
        let address = try Backend.address(of: KeyURI(uri))
        let (backend, key) = try await open(uri, settings)
        for value: Any in [address, address.locator, address.selector, backend, key, await backend.health()] {
            expectNothingConfidential(in: value)
        }
        await backend.close()
        do {
            _ = try await backend.key(address.selector)
        } catch {
            expectNothingConfidential(in: error)
        }
        for one in misconfigurations { await expect(one.kind, uri: one.uri, settings: one.settings) }
    }

    func expectNothingConfidential(in value: Any) {
        var texts = [String(describing: value), String(reflecting: value), "\(value)"]
        var dumped = ""
        dump(value, to: &dumped)
        texts.append(dumped)
        for text in texts {
            for secret in confidential where text.contains(secret) {
                // The message omits the secret, because test output must not show it either.
                Issue.record("\(type(of: value)) shows a secret")
            }
        }
    }
}
