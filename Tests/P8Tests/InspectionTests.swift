import Foundation
import Glibc
import SigningKit
import Testing

@testable import P8

@Suite("Inspection of key files")
struct InspectionTests {
    @Test("inspect reports the file's mode and owner and the memory of the key")
    func file() async throws {
        let directory = try KeyDirectory()
        let uri = try directory.write(OpenSSL.key())
        let backend = try await KeyDirectory.open(uri)
        let selector = try P8Backend.address(of: KeyURI(uri)).selector
        let seen = try await backend.inspect(selector)
        #expect(seen.custody == .process)
        #expect(seen.fingerprint == PublicKeyFingerprint(of: try await backend.key(selector).publicKey))
        #expect(seen.file?.path == String(uri.dropFirst("file:".count)))
        #expect(seen.file?.mode == "600")
        #expect(seen.file?.owner == "\(getuid()):\(getgid())")
        #expect(seen.file?.memory == .locked)
        #expect(seen.token == nil && seen.attributes.isEmpty && seen.probes == nil)
        try FileManager.default.removeItem(atPath: String(uri.dropFirst("file:".count)))
        #expect(try await backend.inspect(selector).file?.mode == nil)
        await backend.close()
        await #expect(throws: KeyError.closed) { try await backend.inspect(selector) }
    }
}
