import Crypto
import Encodings
public import TransparencyLog

/// The logs of which a witness cosigns checkpoints, with their keys.
public struct WitnessedLogs: Sendable {
    /// By origin, in UTF-8.
    private let verifiers: [[UInt8]: [NoteVerifier]]
    /// By the hexadecimal SHA-256 of the origin.
    private let originsByHash: [String: String]

    /// - Parameter verifiers: each has the origin of its log as its name. A log may have several keys.
    public init(_ verifiers: [NoteVerifier]) {
        self.verifiers = Dictionary(grouping: verifiers) { Array($0.name.utf8) }
        let hashes = verifiers.map { (Hexadecimal.encode(Array(SHA256.hash(data: Array($0.name.utf8)))), $0.name) }
        originsByHash = Dictionary(hashes) { first, _ in first }
    }

    public var origins: [String] { originsByHash.values.sorted() }

    func verifiers(of origin: String) -> [NoteVerifier]? { verifiers[Array(origin.utf8)] }

    /// - Parameter hash: SHA-256 in lower-case hexadecimal digits (C2SP tlog-witness, "Monitor Retrieval Mechanism").
    func origin(hash: String) -> String? { originsByHash[hash] }
}
