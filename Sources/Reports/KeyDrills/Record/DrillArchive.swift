import Crypto
import Encodings
import Foundation
import SigningKit
import StrictJSON

/// The directory of the drill records. Each drill has `ID.json`, `ID.html` and `ID.tlog-proof`.
public struct DrillArchive: Sendable {
    public let directory: String

    public init(_ directory: String) {
        self.directory = directory
    }

    public func path(_ id: String, _ ending: String) -> String { "\(directory)/\(id).\(ending)" }

    /// The extension of the file that proves the record's entry in the audit log (C2SP tlog-proof).
    public static let proofEnding = "tlog-proof"

    /// The contents of a record's file.
    public static func bytes(of record: DrillRecord) -> [UInt8] {
        JSONText.encode(record) + [UInt8(ascii: "\n")]
    }

    /// The SHA-256 of a record's file, in hexadecimal digits.
    public static func digest(of bytes: [UInt8]) -> String { Hexadecimal.encode(SHA256.hash(data: bytes)) }

    /// The same in Base64url, as in the entry of the audit log.
    public static func base64Digest(of bytes: [UInt8]) -> String {
        Base64.url.text(Array(SHA256.hash(data: bytes)))
    }

    // MARK: Writing

    /// Creates the directory if needed, and checks that it is writable. Call this before a drill, to not lose its
    /// record.
    public func prepare() throws(DrillError) {
        for end in directory.indices.dropFirst() + [directory.endIndex]
        where end == directory.endIndex || directory[end] == "/" {
            let parent = String(directory[..<end])
            guard mkdir(parent, 0o750) == 0 || errno == EEXIST else { throw Self.refusal(parent, "made") }
        }
        let path = "\(directory)/.trial-\(getpid())"
        do throws(DrillError) { try Self.write("trial\n".utf8, to: path) } catch {
            throw DrillError("The directory \(directory) cannot hold the record of the drill. \(error)")
        }
        unlink(path)
    }

    /// Writes a file of the drill, and returns its path. On return, the file is on the disk.
    @discardableResult
    public func keep(_ bytes: some Sequence<UInt8>, of id: String, _ ending: String) throws(DrillError) -> String {
        let path = path(id, ending)
        try Self.write(bytes, to: path)
        return path
    }

    /// Writes `PATH.part`, calls fsync(2) and renames it, so that a file at `path` is complete and on the disk.
    private static func write(_ bytes: some Sequence<UInt8>, to path: String) throws(DrillError) {
        let part = "\(path).part"
        let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw refusal(path, "written") }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data(bytes))
            try file.synchronize()
            guard rename(part, path) == 0 else { throw refusal(path, "written") }
        } catch {
            let failure = error as? DrillError ?? DrillError("\(path) cannot be written: \(error.localizedDescription)")
            unlink(part)
            throw failure
        }
        // Ignores errors: not every file system supports fsync(2) of a directory, and the file itself is on the disk.
        let directory = open(URL(filePath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    private static func refusal(_ path: String, _ act: String, _ code: Int32 = errno) -> DrillError {
        DrillError("\(path) cannot be \(act): \(String(cString: strerror(code))).")
    }

    // MARK: Reading

    /// - Throws: `DrillError` if there is no such record or it cannot be read.
    public func record(_ id: String) throws(DrillError) -> DrillRecord {
        let bytes = try contents(of: id)
        let record: DrillRecord
        do {
            record = try DrillRecord(from: JSONDocument(parsing: bytes).root)
        } catch {
            throw DrillError("\(path(id, "json")) is not a drill record: \(error)")
        }
        // Otherwise a copy under another name would count as a second drill.
        guard record.id == id else {
            throw DrillError(
                "\(path(id, "json")) is the record of another drill; a record's file is named after its ID.")
        }
        return record
    }

    public func digest(of id: String) throws(DrillError) -> String { Self.digest(of: try contents(of: id)) }

    public func base64Digest(of id: String) throws(DrillError) -> String {
        Self.base64Digest(of: try contents(of: id))
    }

    private func contents(of id: String) throws(DrillError) -> [UInt8] {
        guard DrillID.isWellFormed(id) else { throw DrillError("\"\(id)\" is not the ID of a drill.") }
        let path = path(id, "json")
        do throws(BoundedFile.Failure) { return try BoundedFile.read(path, limit: Self.longest) } catch {
            switch error {
            case .system(ENOENT):
                throw DrillError(
                    "There is no drill \(id) in \(directory); privyseal drill list shows the existing ones.")
            case .system(let code): throw Self.refusal(path, "read", code)
            case .directory, .notRegular: throw DrillError("\(path) is not a regular file.")
            case .tooLong: throw DrillError("\(path) is longer than \(Self.longest) bytes; a drill record is shorter.")
            }
        }
    }

    /// The maximum size of a record's file, in bytes. The record of a one-day drill has about 100 KiB.
    private static let longest = 1 << 24

    /// All records, newest first, and one sentence for each file that could not be read.
    public func records() -> (records: [DrillRecord], complaints: [String]) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        var records: [DrillRecord] = []
        var complaints: [String] = []
        for name in names.sorted() where name.hasSuffix(".json") {
            let id = String(name.dropLast(".json".count))
            guard DrillID.isWellFormed(id) else { continue }
            do throws(DrillError) { records.append(try record(id)) } catch { complaints.append(error.description) }
        }
        return (records.sorted { ($0.begun, $0.id) > ($1.begun, $1.id) }, complaints)
    }

    /// The previous record of the same scenario.
    public func predecessor(of record: DrillRecord) -> DrillRecord? {
        records().records.first { $0.scenario == record.scenario && ($0.begun, $0.id) < (record.begun, record.id) }
    }
}

/// The ID of a drill: its start time and scenario, so that IDs sort by time.
public enum DrillID {
    /// Such as `20261121T120000123Z-compromise`. The milliseconds are for drills that begin in the same second.
    static func of(_ scenario: DrillScenario, begun: Timestamp) -> String {
        "\(begun.text.filter { $0.isNumber || $0 == "T" })Z-\(scenario.rawValue)"
    }

    /// Whether the ID is safe as a file name: only ASCII letters, digits and hyphens.
    public static func isWellFormed(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= 100
            && id.allSatisfy { $0 == "-" || $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
