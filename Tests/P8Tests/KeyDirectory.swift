import Foundation
import P8
import SigningKit

/// A directory of key files, which is removed after the test.
final class KeyDirectory {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "privyseal-p8-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// - Returns: the file's URI.
    func write(_ content: Data, mode: Int = 0o600, named name: String = "AuthKey.p8") throws -> String {
        let file = url.appending(path: name)
        try content.write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        return "file:\(file.path)"
    }

    static func open(
        _ uri: String, settings: [String: PluginSettings.Value] = [:], secrets: some SecretSource = NoSecrets()
    ) async throws(KeyError) -> P8Backend {
        let environment = KeyBackendEnvironment(
            settings: try PluginSettings(settings, for: P8Backend.settings), secrets: secrets)
        return try await P8Backend.open(P8Backend.address(of: KeyURI(uri)).locator, in: environment)
    }
}

struct NoSecrets: SecretSource {
    func secret(_ reference: String) throws(KeyError) -> Secret {
        throw .secretUnavailable("There are no secrets here.")
    }
}

struct OneSecret: SecretSource {
    let text: String

    func secret(_ reference: String) throws(KeyError) -> Secret {
        var bytes = Array(text.utf8)
        return bytes.withUnsafeMutableBytes { Secret(UnsafeRawBufferPointer($0)) }
    }
}
