import SQLite
public import TransparencyLog

/// The last checkpoint of each log that a witness cosigned, in an SQLite database. A witness without it could cosign a
/// fork, so it is never made anew for an existing key. Each call opens the database, so that a removed file is noticed.
public struct WitnessMemory: Sendable {
    /// A checkpoint that the witness has cosigned.
    struct Cosigned: Hashable {
        let size: Int
        /// 32 bytes.
        let root: [UInt8]
        /// With the signatures of log and witness.
        let note: String
    }

    /// "PrvW", in the header of the file.
    private static let applicationID = 0x5072_7657
    private static let schema = """
        CREATE TABLE cosigned (
            origin TEXT PRIMARY KEY, size INTEGER NOT NULL CHECK (size >= 0),
            root BLOB NOT NULL CHECK (length(root) = 32), note TEXT NOT NULL
        ) STRICT;
        CREATE TABLE witness (key TEXT NOT NULL) STRICT;
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = 1;
        """

    private let path: String

    /// - Parameters:
    ///   - path: absolute.
    ///   - key: the key of the witness, whose public key is in the database.
    ///   - isNew: whether to create the database, which must not exist. Otherwise it must.
    public init(path: String, of key: WitnessKey, isNew: Bool) throws(WitnessMemoryError) {
        self.path = path
        let identity: (Int?, Int?)
        let owner: String?
        do throws(SQLiteError) {
            let connection = try open(isNew ? .create : .readWrite)
            if isNew {
                try connection.transaction { () throws(SQLiteError) in
                    try connection.execute(Self.schema)
                    try connection.run("INSERT INTO witness VALUES (?1)", .text(key.verifier.text))
                }
            }
            identity = (try connection.number("application_id"), try connection.number("user_version"))
            owner =
                identity == (Self.applicationID, 1)
                ? try connection.first("SELECT key FROM witness") { $0.text(0) } : nil
        } catch {
            throw .failed(path, "\(error)")
        }
        guard identity == (Self.applicationID, 1) else { throw .foreign(path) }
        guard owner == key.verifier.text else { throw .ofOtherWitness(path) }
    }

    private func open(_ access: Connection.Access) throws(SQLiteError) -> Connection {
        let connection = try Connection(path: path, access: access)
        // A lock is held for one commit.
        connection.wait(milliseconds: 1000)
        // Durable also if the machine fails just after the commit (sqlite.org/pragma.html#pragma_synchronous).
        try connection.execute("PRAGMA synchronous = EXTRA")
        return connection
    }

    /// The last checkpoint of a log.
    func last(of origin: String) throws(SQLiteError) -> Cosigned? { try Self.last(of: origin, try open(.readOnly)) }

    /// Replaces the last checkpoint of a log in one transaction: between the comparison and the write, no other process
    /// can store a checkpoint. Returns when the new one is durable.
    ///
    /// - Parameter decide: gets the last checkpoint, and returns the new one; nil to keep the last one.
    func replace(of origin: String, _ decide: (Cosigned?) -> Cosigned?) throws(SQLiteError) {
        let connection = try open(.readWrite)
        try connection.transaction { () throws(SQLiteError) in
            guard let new = decide(try Self.last(of: origin, connection)) else { return }
            try connection.run(
                "INSERT OR REPLACE INTO cosigned (origin, size, root, note) VALUES (?1, ?2, ?3, ?4)",
                .text(origin), .integer(new.size), .blob(new.root), .text(new.note))
        }
    }

    private static func last(of origin: String, _ connection: Connection) throws(SQLiteError) -> Cosigned? {
        try connection.first("SELECT size, root, note FROM cosigned WHERE origin = ?1", [.text(origin)]) { row in
            Cosigned(size: row.integer(0), root: row.bytes(1), note: row.text(2))
        }
    }
}

/// Why the memory of a witness cannot be used. The description is a sentence.
public enum WitnessMemoryError: Error, CustomStringConvertible {
    case foreign(String)
    case ofOtherWitness(String)
    case failed(String, String)

    public var description: String {
        switch self {
        case .foreign(let path): "\(path) is not the database of a witness, or one of a newer version."
        case .ofOtherWitness(let path): "\(path) is the database of a witness with another key. Put the right one back."
        case .failed(let path, let reason): "\(path) cannot be used: \(reason)."
        }
    }
}
