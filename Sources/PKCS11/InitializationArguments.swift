internal import CP11Kit
internal import Glibc

/// A text that a library wants with `C_Initialize` (`pReserved` of `CK_C_INITIALIZE_ARGS`), as NSS does.
final class InitializationArguments: Sendable {
    let text: String
    /// Lives as long as the process: a library may keep the pointer.
    private nonisolated(unsafe) let copy: UnsafeMutablePointer<CChar>?

    init(_ text: String) {
        self.text = text
        copy = strdup(text)
    }

    func with(_ body: (UnsafeMutableRawPointer) -> UInt) -> UInt {
        var arguments = CK_C_INITIALIZE_ARGS()
        arguments.flags = CKF_OS_LOCKING_OK
        arguments.pReserved = UnsafeMutableRawPointer(copy)
        return body(&arguments)
    }
}
