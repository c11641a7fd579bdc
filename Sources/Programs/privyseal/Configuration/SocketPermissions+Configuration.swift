import GatewayConfiguration
import GatewayHTTP
import Glibc

extension SocketPermissions {
    /// - Throws: a sentence, if the user or the group does not exist.
    init(_ listener: GatewayConfiguration.Listener) throws(UnknownAccount) {
        self.init()
        if let mode = listener.mode { self.mode = UInt32(mode.bits) }
        guard let owner = listener.owner else { return }
        uid = try Self.uid(of: owner.user)
        if let group = owner.group { gid = try Self.gid(of: group) }
    }

    private static func uid(of user: String) throws(UnknownAccount) -> UInt32 {
        if let number = UInt32(user) { return number }
        guard let entry = getpwnam(user) else { throw UnknownAccount("There is no user \"\(user)\" on this machine.") }
        return entry.pointee.pw_uid
    }

    private static func gid(of group: String) throws(UnknownAccount) -> UInt32 {
        if let number = UInt32(group) { return number }
        guard let entry = getgrnam(group) else {
            throw UnknownAccount("There is no group \"\(group)\" on this machine.")
        }
        return entry.pointee.gr_gid
    }
}

struct UnknownAccount: Error, CustomStringConvertible {
    let description: String

    init(_ sentence: String) {
        description = sentence
    }
}
