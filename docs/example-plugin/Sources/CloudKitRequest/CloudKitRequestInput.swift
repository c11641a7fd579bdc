import Encodings
import SigningKit
import StrictJSON

/// What is signed of a request, as the caller sends it.
public struct CloudKitRequestInput: JSONReadable, Sendable {
    public let subpath: String
    public let body: [UInt8]

    public init(from value: JSONValue) throws(JSONReadError) {
        // Members that are not named here are refused, so that no typo goes by unseen.
        let object = try value.object(members: CloudKitRequest.descriptor.fields.map(\.name))
        subpath = try object.required("subpath") { value throws(JSONReadError) in try Self.subpath(value) }
        body = try object.optional("body") { value throws(JSONReadError) in try Self.body(value) } ?? []
    }

    private static func subpath(_ value: JSONValue) throws(JSONReadError) -> String {
        let path = try value.identifier()
        guard path.hasPrefix("/database/1/"), !path.contains("?") else {
            throw JSONReadError(
                .invalid("must be a path such as /database/1/iCloud.com.example.app/development/public/users/caller"))
        }
        return path
    }

    private static func body(_ value: JSONValue) throws(JSONReadError) -> [UInt8] {
        guard let bytes = Base64.standard.decode(try value.string().utf8) else {
            throw JSONReadError(.invalid("is not Base64, padded with ="))
        }
        return bytes
    }
}
