package import Foundation
import Glibc
import ProcessSandbox

/// Programs that tests start.
package enum Program {
    /// Starts a program without blocked signals. The threads of tests block most of them, and a shell without SIGCHLD waits
    /// forever.
    ///
    /// - Parameters:
    ///   - arguments: the path or name first.
    ///   - descriptors: those that become 0, 1 and 2. The program gets no others.
    /// - Returns: the process ID.
    package static func spawn(
        _ arguments: [String], _ environment: [String: String] = ProcessInfo.processInfo.environment,
        descriptors: [Int32]
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        guard SignerDescriptors.close(from: Int32(descriptors.count), in: &actions) == 0 else {
            throw ProgramError("the descriptors cannot be closed")
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var strings = arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for string in strings + variables { free(string) } }
        var pid = pid_t()
        let code = posix_spawnp(&pid, arguments[0], &actions, &attributes, &strings, &variables)
        guard code == 0 else { throw ProgramError("\(arguments[0]) did not start: \(String(cString: strerror(code)))") }
        return pid
    }

    /// Waits for the end of a child process, which leaves the process table.
    ///
    /// - Returns: the exit status, or 128 and the number of the signal that ended it; -1 if it is no child.
    @discardableResult
    package static func wait(for pid: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) != pid { if errno != EINTR { return -1 } }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}
