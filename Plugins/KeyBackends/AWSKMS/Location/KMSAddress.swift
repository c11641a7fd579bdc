import Encodings
import SigningKit

/// The parts of an `awskms:` URI: `awskms:REGION/KEY-ID`, `awskms:REGION/alias/NAME`, or `awskms:` and an ARN. The
/// attribute `endpoint` names another server than the region's.
///
/// The region is in the path, because messages and the register omit the query.
struct KMSAddress: Hashable, Sendable {
    let region: AWSRegion
    /// Nil for the endpoint of the environment or of the region.
    let endpoint: HTTPAddress?
    /// Nil for a location without a key.
    let key: KMSKeyName?

    init(_ uri: KeyURI) throws(KeyError) {
        endpoint = try Self.endpoint(uri)
        let path = uri.path.hasPrefix("///") ? uri.path.dropFirst(3) : uri.path
        if path.hasPrefix("arn:") {
            let arn = try KMSARN(String(path))
            (region, key) = (arn.region, arn.name)
            return
        }
        let name = path.prefix { $0 != "/" }
        guard let region = AWSRegion(name) else {
            throw .invalidURI(
                "it must begin with the region or an ARN, as in awskms:eu-west-1/alias/appstore or "
                    + "awskms:arn:aws:kms:eu-west-1:111122223333:key/ID")
        }
        self.region = region
        let resource = path[name.endIndex...].dropFirst()
        key = resource.isEmpty ? nil : try KMSKeyName(resource: resource)
    }

    private static func endpoint(_ uri: KeyURI) throws(KeyError) -> HTTPAddress? {
        var endpoint: HTTPAddress?
        for attribute in uri.query {
            let name = attribute.prefix { $0 != "=" }
            guard name != "region" else {
                throw .invalidURI(
                    "its region belongs in the path, not in the query: awskms:eu-west-1/alias/appstore")
            }
            guard name == "endpoint" else {
                throw .invalidURI(
                    "it has an unknown attribute; an awskms: URI has endpoint only, and credentials never belong in it")
            }
            guard endpoint == nil else { throw .invalidURI("it has endpoint twice; keep one of them") }
            endpoint = try read(PercentEncoding.decode(attribute.dropFirst(name.count + 1).utf8), "its endpoint")
        }
        return endpoint
    }

    /// - Parameter name: the source of the text, for messages.
    static func read(_ text: String?, _ name: String) throws(KeyError) -> HTTPAddress {
        guard let address = text.flatMap({ HTTPAddress($0) }), address.target == "/", address.isConfidential else {
            throw .invalidURI(
                "\(name) must be like https://kms.example.com, without a path; http is for this machine only, as in "
                    + "http://127.0.0.1:5000")
        }
        return address
    }

    /// The location and the key, in one form for equal locations.
    var address: KeyAddress {
        get throws(KeyError) {
            guard let key else {
                throw .invalidURI(
                    "it must name the key after the region, as in awskms:\(region.name)/alias/appstore or "
                        + "awskms:\(region.name)/1234abcd-12ab-34cd-56ef-1234567890ab")
            }
            return KeyAddress(
                locator: KeyLocator(try KeyURI("awskms:\(region.name)\(query)")),
                selector: KeySelector(try KeyURI("awskms:\(key.text)")))
        }
    }

    /// The same location, with the alias for a new key if the URI names no key.
    func naming(_ keyID: String) throws(KeyError) -> KeyURI {
        if let key { return try KeyURI("awskms:\(key.account == nil ? "\(region.name)/" : "")\(key.text)\(query)") }
        let key = try KMSKeyName(resource: "alias/\(keyID)")
        return try KeyURI("awskms:\(region.name)/\(key.text)\(query)")
    }

    private var query: String {
        endpoint.map { "?endpoint=" + PercentEncoding.encode($0.origin, Self.escaping) } ?? ""
    }

    private static let escaping = PercentEncoding.Form(kept: "-._~/:")

    /// - Parameter selector: as `address` makes it.
    static func key(_ selector: KeySelector) throws(KeyError) -> KMSKeyName {
        let path = selector.uri.path
        return path.hasPrefix("arn:") ? try KMSARN(String(path)).name : try KMSKeyName(resource: path)
    }
}
