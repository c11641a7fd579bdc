import Glibc

/// CLOCK_MONOTONIC, which a process cannot set, and which all processes of a machine share: a signer can compare a deadline of
/// the gateway.
public enum MonotonicTime {
    public static func nanoseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    /// The time after this duration.
    public static func after(_ duration: Duration) -> UInt64 {
        let parts = duration.components
        return nanoseconds() + UInt64(clamping: parts.seconds) * 1_000_000_000
            + UInt64(clamping: parts.attoseconds / 1_000_000_000)
    }
}
