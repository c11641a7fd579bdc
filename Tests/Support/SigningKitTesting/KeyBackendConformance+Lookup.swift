import SigningKit
import Testing

extension KeyBackendConformance {
    /// A URI finds its key, another URI is not found, and a URI that matches two keys is refused.
    public func findsKeys() async throws {
        try await withKey { key in
            #expect(key.custody == custody)
        }
        let address = try Backend.address(of: KeyURI(uri))
        let again = try Backend.address(of: KeyURI(uri))
        #expect(again == address, "one URI has one address")
        for uri in missingKeys { await expect(.notFound, uri: uri) }
        switch ambiguousKeys {
        case .has(let uris): for uri in uris { await expect(.ambiguous, uri: uri) }
        case .lacks(let reason): #expect(!reason.isEmpty)
        }
    }

    /// The backend refuses each misconfiguration with an error of its kind, which says what to correct.
    public func refusesMisconfigurations() async throws {
        #expect(!misconfigurations.isEmpty)
        for one in misconfigurations {
            let text = await expect(one.kind, uri: one.uri, settings: one.settings)
            #expect(text.contains(one.mentions), "\(KeyErrorKind.self) of \(one.uri)")
        }
        await expect(.invalidSetting, uri: uri, settings: ["noSuchSetting": .boolean(true)])
    }

    /// - Returns: the error's text.
    @discardableResult
    func expect(
        _ kind: KeyErrorKind, uri: String, settings: [String: PluginSettings.Value]? = nil
    ) async -> String {
        do {
            let (backend, _) = try await open(uri, settings ?? self.settings)
            await backend.close()
            Issue.record("\(uri) was accepted")
            return ""
        } catch {
            #expect(error.kind == kind, "\(uri): \(error)")
            expectNothingConfidential(in: error)
            return error.description
        }
    }

    /// Does every step from a configuration to a key.
    func open(
        _ uri: String, _ settings: [String: PluginSettings.Value]
    ) async throws(KeyError) -> (Backend, any SigningKey) {
        let address = try Backend.address(of: KeyURI(uri))
        let environment = KeyBackendEnvironment(
            settings: try PluginSettings(settings, for: Backend.settings), secrets: secrets)
        let backend = try await Backend.open(address.locator, in: environment)
        do throws(KeyError) {
            return (backend, try await backend.key(address.selector))
        } catch {
            await backend.close()
            throw error
        }
    }

    func withKey(
        _ settings: [String: PluginSettings.Value]? = nil,
        _ body: (any SigningKey) async throws -> Void
    ) async throws {
        let (backend, key) = try await open(uri, settings ?? self.settings)
        do {
            try await body(key)
        } catch {
            await backend.close()
            throw error
        }
        await backend.close()
    }
}
