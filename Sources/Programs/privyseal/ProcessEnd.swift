import Glibc

enum ProcessEnd {
    /// Ends the process with an error when a library calls `exit(3)` or `quick_exit(3)`. With the library's status 0,
    /// the command would seem to have succeeded. `_exit(2)` runs no handler, so its calls are not noticed.
    ///
    /// The process itself ends only by `leave`, which runs no exit handlers.
    static func reportForeignExits() {
        atexit { ProcessEnd.report("exit()") }
        at_quick_exit { ProcessEnd.report("quick_exit()") }
    }

    private static func report(_ call: String) -> Never {
        StandardError.print(
            "privyseal: a library ended the process by calling \(call), so the command is not done. The library is "
                + "probably the PKCS #11 module: try it with its vendor's own tool.")
        // EX_SOFTWARE of sysexits.h.
        leave(70)
    }

    /// Ends the process at once, after flushing output and log.
    ///
    /// `exit(3)` would run the cleanup of all libraries, such as libcrypto and the PKCS #11 module, while other threads
    /// may still be in their calls. A command that has done its work could then end by a signal.
    static func leave(_ status: Int32) -> Never {
        LogStream.standardError.flush()
        fflush(nil)
        _exit(status)
    }
}
