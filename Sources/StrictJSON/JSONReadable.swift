/// What can be read from a JSON value, and refuses everything that it does not know.
public protocol JSONReadable {
    init(from value: JSONValue) throws(JSONReadError)
}
