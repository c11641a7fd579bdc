/// A type that reads itself from a JSON value, and refuses all unknown members.
public protocol JSONReadable {
    init(from value: JSONValue) throws(JSONReadError)
}
