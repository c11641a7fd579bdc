import Glibc
import Logging
public import SigningKit
import StrictJSON
import Synchronization

/// The history of logins in a small JSON file, for all processes of the gateway and its commands. It holds the identities
/// of secret files (device, inode, size, modification time), and nothing of the secrets.
///
/// If the file cannot be written, the history is in memory, and a warning says so.
public final class LoginHistoryFile: LoginHistory {
    private struct Entry: Codable {
        let attempt: LoginAttempt
        var record: LoginRecord
    }

    private let path: String
    private let memory = Mutex<[LoginAttempt: LoginRecord]>([:])
    private let isMemoryOnly = Atomic<Bool>(false)
    private let logger = Logger(label: "privyseal.signers")

    /// Entries in the file. The oldest go first.
    private static let limit = 256
    private static let maximumSize = 1 << 20

    /// - Parameter directory: is made if it is missing.
    public init(directory: String) {
        mkdir(directory, 0o700)
        path = directory + "/logins.json"
    }

    public func record(of attempt: LoginAttempt) throws(KeyError) -> LoginRecord? {
        if let record = memory.withLock({ $0[attempt] }), isMemoryOnly.load(ordering: .relaxed) { return record }
        return try locked { () throws(KeyError) in try read() }?.first { $0.attempt == attempt }?.record
            ?? memory.withLock { $0[attempt] }
    }

    public func note(_ state: LoginRecord.State, of attempt: LoginAttempt) throws(KeyError) {
        memory.withLock { memory in
            memory[attempt] = (memory[attempt] ?? LoginRecord(state: .accepted)).following(state)
        }
        _ = try locked { () throws(KeyError) in
            var entries = try read()
            let known = entries.firstIndex { $0.attempt == attempt }.map { entries.remove(at: $0) }
            let record = (known?.record ?? LoginRecord(state: .accepted)).following(state)
            entries.append(Entry(attempt: attempt, record: record))
            try write(entries.suffix(Self.limit))
        }
    }

    /// Runs `body` under a lock of the file (flock(2)).
    ///
    /// - Returns: nil if the directory cannot be used.
    private func locked<Value>(_ body: () throws(KeyError) -> Value) throws(KeyError) -> Value? {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else {
            if !isMemoryOnly.exchange(true, ordering: .relaxed) {
                logger.warning(
                    "Logins cannot be remembered across restarts, because \(path) cannot be written: \(String(cString: strerror(errno)))"
                )
            }
            return nil
        }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            if errno != EINTR { throw failure("locked") }
        }
        return try body()
    }

    private func read() throws(KeyError) -> [Entry] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { return [] }
            throw failure("read")
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumSize)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0 else { throw failure("read") }
        do { return try JSONDocument(parsing: Array(bytes[..<count])).root.decode() } catch {
            throw .unavailable(
                "The history of logins in \(path) is damaged, so no PIN is sent. Check that the tokens are not locked, then "
                    + "remove the file.")
        }
    }

    private func write(_ entries: some Collection<Entry>) throws(KeyError) {
        let bytes = JSONText.encode(Array(entries))
        let file = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("written") }
        let isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
        close(file)
        guard isWritten, rename(path + ".new", path) == 0 else { throw failure("written") }
        let directory = open(String(path.dropLast("/logins.json".count)), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    private func failure(_ action: String) -> KeyError {
        .unavailable(
            "The history of logins in \(path) could not be \(action) (\(String(cString: strerror(errno)))), so no PIN is sent."
        )
    }
}
