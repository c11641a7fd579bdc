import Foundation
import SigningKit
import Testing

@testable import AWSKMS

/// A backend with `FakeKMS` behind an HTTP server.
struct TestBackend {
    let kms = FakeKMS()
    let server: FakeServer

    static let keys = ["AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "secret-access-key"]

    init() async throws {
        server = try await FakeServer { [kms] in kms.answer($0) }
    }

    /// - Parameter key: such as `alias/KEY`.
    func uri(_ key: String) -> String { "awskms:\(FakeKMS.region)/\(key)?endpoint=\(server.origin)" }

    func open(
        _ settings: [String: PluginSettings.Value] = [:], variables: [String: String] = keys
    ) async throws -> AWSKMSBackend {
        let address = try AWSKMSBackend.address(of: KeyURI(uri("alias/any")))
        return try await AWSKMSBackend.open(
            address.locator, try PluginSettings(settings, for: AWSKMSBackend.settings), EnvironmentVariables(variables))
    }

    func selector(_ key: String) throws(KeyError) -> KeySelector {
        try AWSKMSBackend.address(of: KeyURI(uri(key))).selector
    }

    /// Opens a key, and closes the backend after `body`.
    func withKey(
        _ key: String = "alias/KEY", _ settings: [String: PluginSettings.Value] = [:],
        variables: [String: String] = keys, _ body: (any SigningKey) async throws -> Void
    ) async throws {
        let backend = try await open(settings, variables: variables)
        let result: Result<Void, any Error>
        do { result = .success(try await body(try await backend.key(selector(key)))) } catch {
            result = .failure(error)
        }
        await backend.close()
        try result.get()
    }

    /// The error of opening a key.
    func refusal(_ key: String = "alias/KEY") async throws -> KeyError? {
        let backend = try await open()
        var refusal: KeyError?
        do throws(KeyError) { _ = try await backend.key(try selector(key)) } catch { refusal = error }
        await backend.close()
        return refusal
    }
}

/// A file in `Vectors`.
enum Vectors {
    static func bytes(_ name: String) throws -> [UInt8] {
        let url = try #require(Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors"))
        return Array(try Data(contentsOf: url))
    }
}
