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
