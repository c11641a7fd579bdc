import GatewayConfiguration
import GatewayHTTP
import Glibc

extension SocketPermissions {
    /// - Throws: a sentence, if the user or the group does not exist.
    init(_ listener: GatewayConfiguration.Listener) throws(CommandError) {
        self.init()
        if let mode = listener.mode { self.mode = UInt32(mode.bits) }
        guard let owner = listener.owner else { return }
        uid = try Self.number(owner.user, "user", getpwnam(owner.user)?.pointee.pw_uid)
        if let group = owner.group { gid = try Self.number(group, "group", getgrnam(group)?.pointee.gr_gid) }
    }

    private static func number(
        _ name: String, _ kind: String, _ known: @autoclosure () -> UInt32?
    ) throws(CommandError) -> UInt32 {
        guard let number = UInt32(name) ?? known() else {
            throw CommandError("owner names the \(kind) \"\(name)\", which this machine does not have.")
        }
        return number
    }
}
