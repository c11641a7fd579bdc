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
        let path = String(uri.dropFirst("file:".count))
        #expect(seen.custody == .process && seen.protection.kind == .software && seen.matches == 1)
        #expect(seen.fingerprint == PublicKeyFingerprint(of: try await backend.key(selector).publicKey))
        #expect(seen.facts == [.init("File", path), .init("Owner", "\(getuid()):\(getgid())")])
        #expect(seen.checks.map(\.id) == ["identity.curve", "file.mode", "file.memory"])
        #expect(seen.checks.map(\.value) == ["P-256", "600", "locked"])
        #expect(seen.checks.map(\.result) == [.notApplicable, .pass, .pass])
        chmod(path, 0o640)
        #expect(try await backend.inspect(selector).checks[1].result == .fail)
        try FileManager.default.removeItem(atPath: path)
        let gone = try await backend.inspect(selector).checks[1]
        #expect(gone.value == nil && gone.result == .unavailable)
        await backend.close()
        await #expect(throws: KeyError.closed) { try await backend.inspect(selector) }
    }
}
