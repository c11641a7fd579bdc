import Glibc

/// How the process ends.
enum ProcessEnd {
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
