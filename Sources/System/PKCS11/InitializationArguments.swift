internal import CP11Kit
internal import Glibc

/// An argument for `C_Initialize` (`pReserved` of `CK_C_INITIALIZE_ARGS`) that some libraries need, such as NSS.
final class InitializationArguments: Sendable {
    let text: String
    /// Never freed, because a library may keep the pointer.
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
