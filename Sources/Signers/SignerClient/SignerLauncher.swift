import Foundation
import Glibc
import ProcessSandbox
import SigningKit
import Synchronization

/// Makes the blocking system calls of signer management on one thread: starting, ending and connecting.
///
/// The thread never ends. A signer asks the kernel to end it with its parent, and for that the parent is the thread
/// that started it (PR_SET_PDEATHSIG in prctl(2)).
final class SignerLauncher: Sendable {
    static let shared = SignerLauncher()

    private typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var hasThread = false
    }

    private let state = Mutex(State())
    private let signal = Semaphore()

    private init() {}

    /// Starts the thread at the first call. False while the system has no thread left.
    private func hasThread() -> Bool {
        state.withLock { state in
            if !state.hasThread { state.hasThread = SystemThread.start("privyseal-signer") { [self] in runJobs() } }
            return state.hasThread
        }
    }

    private func runJobs() {
        while true {
            signal.wait()
            let due = state.withLock { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            for job in due { job() }
        }
    }

    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        guard hasThread() else { throw .unavailable("The system has no thread left to start a signer.") }
        let result: Result<Value, KeyError> = await withCheckedContinuation { continuation in
            enqueue {
                let result: Result<Value, KeyError>
                do throws(KeyError) { result = .success(try body()) } catch { result = .failure(error) }
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }

    func enqueue(_ job: @escaping @Sendable () -> Void) {
        state.withLock { $0.jobs.append(job) }
        signal.signal()
    }
}

/// A started signer process: its ID, and the gateway's ends of its socket and of its standard error.
public struct LaunchedSigner: Sendable {
    let pid: pid_t
    let socket: Int32
    let standardError: Int32

    /// The descriptor of the socket in a signer process.
    public static let descriptor: Int32 = 3

    /// Starts this program again, as `privyseal signer`. Runs on the thread of `SignerLauncher`.
    ///
    /// - Parameter withCloud: see `spawn`.
    static func launch(withCloud: Bool) throws(KeyError) -> LaunchedSigner {
        var sockets: [Int32] = [-1, -1]
        var pipe: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &sockets) == 0 else {
            throw .unavailable("No socket for a signer could be made: \(String(cString: strerror(errno))).")
        }
        guard Glibc.pipe(&pipe) == 0 else {
            let sentence = "No pipe for a signer could be made: \(String(cString: strerror(errno)))."
            for descriptor in sockets { close(descriptor) }
            throw .unavailable(sentence)
        }
        // Another thread may start a process before the flag is set; it would only get the end of a pipe for messages.
        _ = fcntl(pipe[0], F_SETFD, FD_CLOEXEC)
        _ = fcntl(pipe[1], F_SETFD, FD_CLOEXEC)
        let (pid, code) = spawn(socket: sockets[1], standardError: pipe[1], withCloud: withCloud)
        close(sockets[1])
        close(pipe[1])
        guard code == 0 else {
            close(sockets[0])
            close(pipe[0])
            throw .unavailable("No signer process could be started: \(String(cString: strerror(code))).")
        }
        return LaunchedSigner(pid: pid, socket: sockets[0], standardError: pipe[0])
    }

    /// - Parameters:
    ///   - socket: becomes the new process's end of its connection.
    ///   - standardError: becomes its standard output and standard error.
    ///   - withCloud: whether it keeps the variables of AWS's tools, which may hold credentials.
    /// - Returns: the process ID, or an errno.
    public static func spawn(
        socket: Int32, standardError: Int32, withCloud: Bool
    ) -> (pid: Int32, code: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, standardError, 1)
        posix_spawn_file_actions_adddup2(&actions, standardError, 2)
        posix_spawn_file_actions_adddup2(&actions, socket, descriptor)
        guard SignerDescriptors.close(from: descriptor + 1, in: &actions) == 0 else { return (-1, ENOMEM) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The launcher's thread blocks all signals, and the gateway ignores some.
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments = cStrings(["privyseal", "signer", "--parent", "\(getpid())"])
        var variables = cStrings(environment(withCloud: withCloud))
        defer { for text in arguments + variables { free(text) } }
        var pid = pid_t()
        // The running program, even if its file has been replaced.
        let code = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, &arguments, &variables)
        return (pid, code)
    }

    private static func environment(withCloud: Bool) -> [String] {
        SignerEnvironment.filter(ProcessInfo.processInfo.environment, keepsAWS: withCloud).map {
            "\($0.key)=\($0.value)"
        }
    }

    /// The caller must free each.
    private static func cStrings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { text in text.withCString { strdup($0) } } + [nil]
    }

    /// Ends the process, with the processes of its session, and removes it from the process table.
    ///
    /// - Parameter grace: milliseconds for the process to end by itself.
    /// - Returns: how it had ended by itself, for a sentence; nil if it had not.
    static func end(_ pid: Int32, grace: Int) -> String? {
        var status: Int32 = 0
        func hasEnded(within milliseconds: Int) -> Bool {
            for _ in 0..<milliseconds {
                if waitpid(pid, &status, WNOHANG) == pid { return true }
                usleep(1000)
            }
            return false
        }
        let endedByItself = hasEnded(within: grace)
        kill(-pid, SIGKILL)
        if endedByItself { return text(ofStatus: status) }
        kill(pid, SIGKILL)
        // A process in an uninterruptible system call ends later. It stays in the table until the gateway ends.
        let wasKilled = !hasEnded(within: 1000) || status & 0x7F == SIGKILL
        // The signal does not change the status of a process that was already ending.
        return wasKilled ? nil : text(ofStatus: status)
    }

    /// wait(2): the low seven bits are the signal, the next byte is the exit status.
    private static func text(ofStatus status: Int32) -> String {
        let signal = status & 0x7F
        guard signal != 0 else { return "with the exit status \(status >> 8 & 0xFF)" }
        return "by the signal \(signal) (\(String(cString: strsignal(signal))))"
    }
}
