import GatewayConfiguration
import GatewayHTTP
import Glibc
import NIOCore

extension ListenerName {
    init(_ role: GatewayConfiguration.Listener.Role) {
        switch role {
        case .public: self = .public
        case .admin: self = .admin
        case .metrics: self = .metrics
        }
    }
}

extension ServerAddress {
    init(_ address: GatewayConfiguration.ListenAddress) {
        switch address {
        case .tcp(let host, let port): self = .tcp(host: host, port: port)
        case .unixSocket(let path): self = .unixSocket(path: path)
        }
    }
}

extension TLSSettings {
    init(_ tls: GatewayConfiguration.TLS) {
        let certificates: ClientCertificates =
            switch tls.clientCertificates {
            case .notAsked: .none
            case .optional: .optional
            case .required: .required
            }
        self.init(
            certificate: tls.certificate.path, key: tls.key.path,
            minimumVersion: tls.minimumVersion == .tls13 ? .v13 : .v12, clientCertificates: certificates,
            trustRoots: tls.trustRoots?.path)
    }
}

extension ConnectionBounds {
    init(_ limits: GatewayConfiguration.Limits) {
        self.init()
        connections = limits.connections
        requestTimeout = TimeAmount(limits.requestTimeout)
        handshakeTimeout = TimeAmount(limits.handshakeTimeout)
        idleTimeout = TimeAmount(limits.idleTimeout)
        connectionAge = TimeAmount(limits.connectionAge)
        headerBytes = limits.headerBytes
        batchBodyBytes = limits.batchBodyBytes
        clientBodyBytes = limits.clientBodyBytes
        totalBodyBytes = limits.totalBodyBytes
    }
}

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
