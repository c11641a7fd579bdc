import Crypto
import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

/// Reads `file:` references, as the gateway does.
struct FileSecrets: SecretSource {
    func secret(_ reference: String) throws(KeyError) -> Secret {
        guard reference.hasPrefix("file:"),
            let data = FileManager.default.contents(atPath: String(reference.dropFirst(5)))
        else { throw .secretUnavailable("The PIN's file cannot be read.") }
        let bytes = Array(data.prefix { $0 != UInt8(ascii: "\n") })
        return bytes.withUnsafeBytes { Secret($0) }
    }
}

/// Opens the key at `uri`, as the gateway does.
func open(
    _ uri: String, _ settings: [String: PluginSettings.Value] = [:], publicKey: [UInt8]? = nil,
    reopenOrderedAt: UInt64? = nil
) async throws(KeyError) -> (PKCS11TokenBackend, any SigningKey) {
    var address = try PKCS11TokenBackend.address(of: KeyURI(uri))
    if let publicKey {
        let selector = KeySelector(address.selector.uri, publicKey: publicKey)
        address = KeyAddress(locator: address.locator, selector: selector)
    }
    let environment = KeyBackendEnvironment(
        settings: try PluginSettings(settings, for: PKCS11TokenBackend.settings), secrets: FileSecrets(),
        reopenOrderedAt: reopenOrderedAt)
    let backend = try await PKCS11TokenBackend.open(address.locator, in: environment)
    do throws(KeyError) {
        return (backend, try await backend.key(address.selector))
    } catch {
        await backend.close()
        throw error
    }
}

/// Opens the key at `uri`, and closes its backend after `body`.
func withKey(
    _ uri: String, _ settings: [String: PluginSettings.Value] = [:], publicKey: [UInt8]? = nil,
    _ body: (PKCS11TokenBackend, any SigningKey) async throws -> Void
) async throws {
    let (backend, key) = try await open(uri, settings, publicKey: publicKey)
    do {
        try await body(backend, key)
    } catch {
        await backend.close()
        throw error
    }
    await backend.close()
}

/// The error when the key at `uri` is opened, or nil.
func refusal(
    of uri: String, _ settings: [String: PluginSettings.Value] = [:], publicKey: [UInt8]? = nil,
    reopenOrderedAt: UInt64? = nil
) async -> KeyError? {
    do {
        let (backend, _) = try await open(uri, settings, publicKey: publicKey, reopenOrderedAt: reopenOrderedAt)
        await backend.close()
        return nil
    } catch {
        return error
    }
}

/// The error of a signature with the key; nil if the signature is valid.
func fault(_ key: any SigningKey) async -> KeyError? {
    let digest = SHA256.hash(data: Array("message".utf8))
    do throws(KeyError) {
        let signature = try await key.sign(digest)
        let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature.bytes)
        let isValid = parsed.map { key.publicKey.isValidSignature($0, for: digest) } ?? false
        return isValid ? nil : .failed("the signature is not valid")
    } catch {
        return error
    }
}

/// As `fault`, `count` times in parallel.
func faults(_ count: Int, _ key: any SigningKey) async -> [KeyError?] {
    await withTaskGroup(of: KeyError?.self) { group in
        for _ in 0..<count { group.addTask { await fault(key) } }
        return await group.reduce(into: []) { $0.append($1) }
    }
}

/// Waits until `condition` holds. It polls, because a token's health has no event: every 10 ms for at most 20 s.
func eventually(
    _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
    for _ in 0..<2000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("never: \(what)", sourceLocation: sourceLocation)
}
