/// Why a drill cannot continue: a sentence with the remedy.
public struct DrillError: Error, CustomStringConvertible, Sendable {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}
