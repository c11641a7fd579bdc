import Glibc

/// How the process ends.
enum ProcessEnd {
    /// EX_SOFTWARE of sysexits.h.
    fileprivate static let brokenByLibrary: Int32 = 70

    /// Ends the process with a message and a failure when a library calls `exit(3)` or `quick_exit(3)`: with the status
    /// of the library, 0 for one, a command would seem to have done its work. `_exit(2)` runs no handler, so a library
    /// that calls it is not noticed.
    ///
    /// The process itself ends by `leave` only, which runs no exit handlers.
    static func reportForeignExits() {
        atexit { ProcessEnd.report("exit()") }
        at_quick_exit { ProcessEnd.report("quick_exit()") }
    }

    private static func report(_ call: String) -> Never {
        StandardError.print(
            "privyseal: a library ended the process by calling \(call); what was asked for is not done. The PKCS #11 "
                + "module is the likely one: try it with its vendor's own tool.")
        leave(brokenByLibrary)
    }

    /// Ends it at once, when what was printed and logged has left.
    ///
    /// `exit(3)` would first have every library that is loaded clean up, libcrypto and the token's among them, while other
    /// threads may still be in a call of theirs: a command that had done its work, and said so, would end by a signal.
    static func leave(_ status: Int32) -> Never {
        LogStream.standardError.flush()
        fflush(nil)
        _exit(status)
    }
}
