public import SigningKit

/// The ID of a drill: its start time and scenario, so that IDs sort by time.
public enum DrillID {
    /// Such as `20261121T120000Z-compromise`.
    public static func of(_ scenario: DrillScenario, begun: Timestamp) -> String {
        let text = begun.text.filter { $0 != "-" && $0 != ":" }
        return "\(text.prefix(15))Z-\(scenario.rawValue)"
    }

    /// Whether the ID is safe as a file name: only ASCII letters, digits and hyphens.
    public static func isWellFormed(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= 100
            && id.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            }
    }
}
