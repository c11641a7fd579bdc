import AuditKit
import GatewayConfiguration
import GatewayHTTP
import SigningKit
import StrictJSON

/// What `privyseal check` reports on the listeners: their addresses, TLS files, and the owners of their sockets.
struct ListenerCheck {
    let members: [JSONMembers]
    let sentences: [String]
    /// Whether `serve` could use every listener, and no certificate has expired.
    let isFine: Bool

    init(_ configuration: GatewayConfiguration) {
        let now = Timestamp.now()
        var members: [JSONMembers] = []
        var sentences: [String] = []
        var isFine = true
        for listener in configuration.listeners {
            let name = listener.role.rawValue
            do {
                let settings = try ListenerSettings(listener)
                try settings.requireUsableAddress()
                let expiry = settings.tls.map { Timestamp(seconds: Int64($0.expiry)) }
                members.append(["name": name, "certificateExpiresAt": expiry])
                guard let expiry else { continue }
                let hasExpired = expiry <= now
                isFine = isFine && !hasExpired
                sentences.append(
                    hasExpired
                        ? "The certificate of the listener \(name) expired at \(expiry.text). Replace it."
                        : "The certificate of the listener \(name) expires at \(expiry.text).")
            } catch {
                isFine = false
                members.append(["name": name, "reason": "\(error)"])
                sentences.append("The listener \(name) cannot be used. \(PlainText.of("\(error)"))")
            }
        }
        (self.members, self.sentences, self.isFine) = (members, sentences, isFine)
    }
}
