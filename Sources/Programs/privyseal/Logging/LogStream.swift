import Glibc
import SigningKit
import Synchronization

/// Writes log lines to standard error. A thread writes the collected lines at most 200 times per second, so that no
/// other thread waits for a terminal or a pipe.
final class LogStream: Sendable {
    static let standardError = LogStream(STDERR_FILENO)

    private struct State {
        var pending: [UInt8] = []
        /// Number of lines that found no room.
        var lost = 0
        var hasThread = false
    }

    /// In bytes: the most that waits for the reader of the pipe.
    private static let limit = 4 << 20
    /// In microseconds: how long lines collect.
    private static let pause: UInt32 = 5_000

    private let descriptor: Int32
    private let state = Mutex(State())
    private let signal = Semaphore()
    /// Held during a write, so that lines stay in order.
    private let writing = Mutex(())

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// - Parameter line: without its newline.
    func write(line: some Collection<UInt8>) {
        let (isFirst, needsThread) = state.withLock { state -> (Bool, Bool) in
            guard state.pending.count + line.count < Self.limit else {
                state.lost += 1
                return (false, false)
            }
            let isFirst = state.pending.isEmpty
            state.pending.append(contentsOf: line)
            state.pending.append(UInt8(ascii: "\n"))
            defer { state.hasThread = true }
            return (isFirst, !state.hasThread)
        }
        if needsThread, !start() {
            state.withLock { $0.hasThread = false }
            return flush()
        }
        if isFirst { signal.signal() }
    }

    /// Returns when all earlier lines are written, or after this time: the pipe may have no reader.
    func flush(atMost limit: Duration) {
        let done = Semaphore()
        let isWriting = SystemThread.start("privyseal-flush") { [self] in
            flush()
            done.signal()
        }
        if isWriting { done.wait(atMost: limit) } else { flush() }
    }

    /// Returns when all earlier lines are written.
    private func flush() {
        writing.withLock { _ in
            let (bytes, lost) = state.withLock { state in
                defer {
                    state.pending = []
                    state.lost = 0
                }
                return (state.pending, state.lost)
            }
            _ = Descriptor.write(bytes, to: descriptor)
            guard lost > 0 else { return }
            let notice = "privyseal: \(lost) log lines were lost: the reader was too slow\n"
            _ = Descriptor.write(Array(notice.utf8), to: descriptor)
        }
    }

    /// - Returns: false when the system has no thread left.
    private func start() -> Bool {
        SystemThread.start("privyseal-log") { [self] in
            while true {
                signal.wait()
                usleep(Self.pause)
                flush()
            }
        }
    }
}
