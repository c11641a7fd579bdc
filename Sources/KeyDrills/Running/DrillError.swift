/// Why a drill cannot go on: a sentence with its cure.
public struct DrillError: Error, CustomStringConvertible, Sendable {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}
