/// A type that reads itself from a JSON value, and refuses all unknown members. Off the signing path, types are
/// `Decodable`; see `JSONValue.decode`.
public protocol JSONReadable {
    init(from value: JSONValue) throws(JSONReadError)
}
