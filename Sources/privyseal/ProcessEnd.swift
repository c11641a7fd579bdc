import Glibc

/// How the process ends.
enum ProcessEnd {
    /// EX_SOFTWARE of sysexits.h.
    fileprivate static let brokenByLibrary: Int32 = 70

    /// Sees to it that a library that calls `exit(3)` ends the process with a message and a failure: with the status of
    /// the library, 0 for one, a command would seem to have done its work.
    ///
    /// The process itself ends by `leave` only, which runs no exit handlers.
    static func reportForeignExits() {
        atexit {
            StandardError.print(
                "privyseal: a library ended the process by calling exit(); what was asked for is not done. The PKCS #11 "
                    + "module is the likely one: try it with its vendor's own tool.")
            ProcessEnd.leave(ProcessEnd.brokenByLibrary)
        }
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
