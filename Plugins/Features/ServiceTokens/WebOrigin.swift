import SigningKit
import StrictJSON

/// The claim `origin`: websites that may use a token in a browser.
enum WebOrigin {
    /// Refuses a text that no browser sends as an origin. Apple compares it exactly, and MapKit accepts `*.example.com`.
    static func check(_ choices: ServiceTokenChoices) throws(JSONReadError) -> Int64? {
        for (index, origin) in choices.origins.enumerated() {
            guard isOrigin(origin) else {
                throw JSONReadError(
                    .invalid("is not an origin; write the scheme and the host, as in https://www.example.com"),
                    at: "origins[\(index)]")
            }
        }
        return nil
    }

    /// A scheme, a host and perhaps a port; or a host with `*.`. Nothing else may follow: a comma would add an origin.
    private static func isOrigin(_ text: String) -> Bool {
        guard let prefix = ["https://", "http://", "*."].first(where: text.hasPrefix) else { return false }
        let parts = text.dropFirst(prefix.count).split(separator: ":", omittingEmptySubsequences: false)
        guard let host = parts.first, host.contains(where: { $0.isLetter || $0.isNumber }), parts.count <= 2 else {
            return false
        }
        let isHost = host.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        return isHost && (parts.count == 1 || UInt16(parts[1]) != nil)
    }
}
