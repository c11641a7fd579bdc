import NIOHTTP1
import SigningKit

/// Why a request is refused by its head alone. The HTTP parser accepts all of these but `unknownMethod`.
enum RequestHeadFault: Error, Equatable {
    /// HTTP/1.1 without `Host`, or more than one `Host` (RFC 9112 §3.2).
    case hostCount(Int)
    /// `Host` is not a host with an optional port (RFC 9112 §3.2).
    case invalidHost
    /// The request-target has a `#` (RFC 9112 §3.2). Clients do not send fragments.
    case fragment
    /// `Transfer-Encoding` is in an HTTP/1.0 request, occurs twice, or occurs with `Content-Length` (RFC 9112 §6.1).
    case ambiguousLength
    /// `Transfer-Encoding` is something other than `chunked`.
    case unknownTransferCoding
    /// `Content-Length` is larger than `Int.max`.
    case contentLength
    /// The method is CONNECT: the gateway is not a proxy.
    case connect
    /// The parser does not know the method.
    case unknownMethod
}

extension RequestHeadFault {
    /// - Returns: the first fault of this head; nil if it has none.
    init?(_ head: HTTPRequestHead) {
        if head.method == .CONNECT {
            self = .connect
        } else if head.uri.utf8.contains(UInt8(ascii: "#")) {
            self = .fragment
        } else if let fault = Self.hostFault(head) ?? Self.lengthFault(head) {
            self = fault
        } else {
            return nil
        }
    }

    private static func hostFault(_ head: HTTPRequestHead) -> RequestHeadFault? {
        let hosts = head.headers["host"]
        // HTTP/1.0 has no Host (RFC 1945).
        let isOptional = head.version == .http1_0
        guard hosts.count == 1 || isOptional && hosts.isEmpty else { return .hostCount(hosts.count) }
        return hosts.allSatisfy { HostField.isValid(trim($0)) } ? nil : .invalidHost
    }

    private static func lengthFault(_ head: HTTPRequestHead) -> RequestHeadFault? {
        let lengths = head.headers["content-length"]
        let codings = head.headers["transfer-encoding"]
        guard let coding = codings.first else {
            return lengths.contains { Int(Substring(trim($0))) == nil } ? .contentLength : nil
        }
        guard codings.count == 1, lengths.isEmpty, head.version != .http1_0 else { return .ambiguousLength }
        return trim(coding).equalsIgnoringASCIICase("chunked") ? nil : .unknownTransferCoding
    }

    /// White space around a field value is not part of it (RFC 9110 §5.5).
    private static func trim(_ value: String) -> Substring.UTF8View {
        var bytes = value.utf8[...]
        while let first = bytes.first, isWhiteSpace(first) { bytes.removeFirst() }
        while let last = bytes.last, isWhiteSpace(last) { bytes.removeLast() }
        return bytes
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}

/// The value of `Host`: `uri-host [ ":" port ]` (RFC 9110 §7.2, RFC 3986 §3.2.2 and §3.2.3).
private enum HostField {
    /// - Parameter value: without surrounding white space. Empty if the request-target has no authority.
    static func isValid(_ value: Substring.UTF8View) -> Bool {
        guard value.first == UInt8(ascii: "[") else {
            let name = value.prefix { $0 != UInt8(ascii: ":") }
            return isName(name) && isPort(value[name.endIndex...])
        }
        let address = value.dropFirst().prefix { $0 != UInt8(ascii: "]") }
        guard address.endIndex < value.endIndex else { return false }
        return isAddress(address) && isPort(value[address.endIndex...].dropFirst())
    }

    /// `[ ":" *DIGIT ]`
    private static func isPort(_ rest: Substring.UTF8View) -> Bool {
        guard let colon = rest.first else { return true }
        return colon == UInt8(ascii: ":") && rest.dropFirst().allSatisfy(isDigit)
    }

    /// The characters of an IPv6 address. `IPvFuture` is not accepted.
    private static func isAddress(_ address: Substring.UTF8View) -> Bool {
        address.contains(UInt8(ascii: ":"))
            && address.allSatisfy { isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
    }

    /// An IPv4 address or `reg-name`: unreserved, sub-delims, and `%` with two hexadecimal digits.
    private static func isName(_ name: Substring.UTF8View) -> Bool {
        var rest = name
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.prefix(2).count == 2, rest.prefix(2).allSatisfy(isHexadecimal) else { return false }
                rest = rest.dropFirst(2)
            } else if !isNameByte(byte) {
                return false
            }
        }
        return true
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: isDigit(byte) || "-._~!$&'()*+,;=".utf8.contains(byte)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: isDigit(byte)
        }
    }
}
