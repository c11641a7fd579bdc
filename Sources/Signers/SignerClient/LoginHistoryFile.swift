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
    fileprivate struct Entry: Codable {
        let attempt: LoginAttempt
        let record: LoginRecord
    }

    private let directory: String
    private let makesDirectory: Bool
    private let path: String
    private let memory = Mutex<[Entry]>([])
    /// When this process began the last attempt with each token and secret (`MonotonicTime`).
    private let attempts = Mutex((times: [LoginAttempt: UInt64](), forgotten: nil as UInt64?))
    private let isMemoryOnly = Atomic<Bool>(false)
    private let logger = Logger(label: "privyseal.signers")

    /// In bytes. A signer that makes attempts with the longest names fills 1.6 MB.
    private static let maximumSize = 16 << 20
    private static let mostAttempts = 4096

    /// - Parameter makesDirectory: whether a first login makes a directory that is missing.
    public init(directory: String, makesDirectory: Bool = true) {
        self.directory = directory
        self.makesDirectory = makesDirectory
        path = directory + "/logins.json"
    }

    public func record(of attempt: LoginAttempt) throws(KeyError) -> LoginRecord? {
        var record = try storedRecord(of: attempt)
        record?.attemptedAt = attempts.withLock { $0.times[attempt.ofAnySigner] ?? $0.forgotten }
        return record
    }

    private func storedRecord(of attempt: LoginAttempt) throws(KeyError) -> LoginRecord? {
        if let record = memory.withLock({ $0.record(of: attempt) }), isMemoryOnly.load(ordering: .relaxed) {
            return record
        }
        let recorded = access(directory, F_OK) == 0 ? try locked { () throws(KeyError) in try read() } : nil
        return recorded?.record(of: attempt) ?? memory.withLock { $0.record(of: attempt) }
    }

    public func note(_ state: LoginRecord.State, of attempt: LoginAttempt) throws(KeyError) {
        if state == .begun { noteAttempt(attempt) }
        memory.withLock { $0.note(state, of: attempt) }
        if makesDirectory { mkdir(directory, 0o700) }
        _ = try locked { () throws(KeyError) in
            var entries = try read()
            entries.note(state, of: attempt)
            try write(entries)
        }
    }

    private func noteAttempt(_ attempt: LoginAttempt) {
        attempts.withLock { attempts in
            let now = MonotonicTime.nanoseconds()
            // A signer that makes up tokens must not fill the memory. Earlier orders then permit nothing.
            if attempts.times.count >= Self.mostAttempts { attempts = ([:], now) }
            attempts.times[attempt.ofAnySigner] = now
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
        let bytes: [UInt8]
        do throws(BoundedFile.Failure) {
            bytes = try BoundedFile.read(path, limit: Self.maximumSize, followsLinks: false)
        } catch {
            switch error {
            case .system(ENOENT): return []
            case .system(let code): throw failure("read", code)
            case .directory, .notRegular, .tooLong: throw damage
            }
        }
        do { return try JSONDocument(parsing: bytes).root.decode() } catch { throw damage }
    }

    private var damage: KeyError {
        .unavailable(
            "The history of logins in \(path) is damaged, so no PIN is sent. Check that the tokens are not locked, then "
                + "remove the file.")
    }

    private func write(_ entries: [Entry]) throws(KeyError) {
        let bytes = JSONText.encode(entries)
        let file = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("written") }
        let isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
        close(file)
        guard isWritten, rename(path + ".new", path) == 0 else { throw failure("written") }
        let place = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard place >= 0 else { return }
        fsync(place)
        close(place)
    }

    private func failure(_ action: String, _ code: Int32 = errno) -> KeyError {
        .unavailable(
            "The history of logins in \(path) could not be \(action) (\(String(cString: strerror(code)))), so no PIN is sent."
        )
    }
}

extension LoginAttempt {
    fileprivate var ofAnySigner: LoginAttempt {
        var attempt = self
        attempt.signer = nil
        return attempt
    }
}

extension [LoginHistoryFile.Entry] {
    /// Of each signer. The oldest entries go first.
    private static var limit: Int { 256 }

    /// A refusal of any signer with the same token and secret; the signer's own record; or else that of another signer, for
    /// example after a new name in the configuration.
    fileprivate func record(of attempt: LoginAttempt) -> LoginRecord? {
        let same = filter { $0.attempt.token == attempt.token && $0.attempt.secret == attempt.secret }
        return (same.last { $0.record.state == .refused } ?? same.last { $0.attempt == attempt } ?? same.last)?.record
    }

    fileprivate mutating func note(_ state: LoginRecord.State, of attempt: LoginAttempt) {
        let known = record(of: attempt) ?? LoginRecord(state: .accepted)
        removeAll { $0.attempt == attempt }
        append(LoginHistoryFile.Entry(attempt: attempt, record: known.following(state)))
        while count(where: { $0.attempt.signer == attempt.signer }) > Self.limit,
            let oldest = firstIndex(where: { $0.attempt.signer == attempt.signer })
        {
            remove(at: oldest)
        }
    }
}
