import Foundation
import PKCS11

/// Signs with a key on a token: `MODULE:LABEL:PIN-FILE`.
struct TokenAttempt {
    private let parts: [String]

    init(_ argument: String) {
        parts = argument.split(separator: ":").map(String.init)
    }

    /// - Returns: 0 if there is a signature, -2 otherwise.
    func run() -> Int32 {
        do {
            return try sign().isEmpty ? -2 : 0
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            return -2
        }
    }

    private func sign() throws -> [UInt8] {
        guard parts.count == 3 else { return [] }
        let pin = try String(contentsOfFile: parts[2], encoding: .utf8).trimmingCharacters(in: .newlines)
        let module = try Module.open(path: parts[0])
        defer { module.close() }
        guard let slot = try module.slots().first(where: { try module.tokenInfo(of: $0).label == parts[1] }) else {
            return []
        }
        let session = try Session(on: slot, of: module)
        try Array(pin.utf8).withUnsafeBytes { try session.login(pin: $0) }
        guard let key = try session.objects(with: [Attribute(.privateKey)]).first else { return [] }
        return try [UInt8](repeating: 7, count: 32).withUnsafeBytes { digest in
            Array(try Signer(session, .ecdsa).sign(digest, with: key))
        }
    }
}
