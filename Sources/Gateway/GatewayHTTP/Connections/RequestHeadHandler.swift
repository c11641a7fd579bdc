import Encodings
import NIOCore
import NIOHTTP1
import SigningKit

/// Refuses requests that the parser accepts but RFC 9112 forbids. Discards input after a connection's last request.
///
/// It is next to the parser, because `HTTPRequest` has neither the version nor every `Host`.
final class RequestHeadHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private enum Phase {
        case open
        /// The connection ends with the answer to this request.
        case last
        case over
    }

    private let acceptHandler: AcceptHandler
    private var phase = Phase.open

    init(_ acceptHandler: AcceptHandler) {
        self.acceptHandler = acceptHandler
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase != .over else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): check(head, context)
        case .body: context.fireChannelRead(data)
        case .end:
            context.fireChannelRead(data)
            if phase == .last { end() }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Errors after the last request do not matter, because that input is discarded.
        guard phase != .over else { return }
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        end()
        if error == .invalidMethod && acceptHandler.beginsWithMethod || acceptHandler.beginsWithForeignMethod {
            context.fireErrorCaught(Problem.unknownMethod)
        } else if error == .invalidContentLength, acceptHandler.hasOverlongContentLength {
            context.fireErrorCaught(Problem.contentLength)
        } else {
            context.fireErrorCaught(error)
        }
    }

    private func check(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        if let problem = HeadCheck.problem(in: head) {
            end()
            return context.fireErrorCaught(problem)
        }
        // After a request with `Upgrade`, the parser may stop and keep all further bytes. The gateway supports no
        // upgrade, so it answers the request and closes (RFC 9110 §7.8).
        guard head.isKeepAlive, !head.headers.contains(name: "upgrade") else {
            phase = .last
            var head = head
            head.headers.replaceOrAdd(name: "connection", value: "close")
            return context.fireChannelRead(wrapInboundOut(.head(head)))
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func end() {
        phase = .over
        acceptHandler.discardRest()
    }
}

extension Problem {
    /// The parser does not know the method.
    fileprivate static let unknownMethod = Problem(
        .notImplemented, "The gateway does not know this method; docs/http-api.md lists each path's methods.")

    /// `Content-Length` is larger than `Int.max`.
    fileprivate static let contentLength = Problem(
        .bodyTooLarge, "The Content-Length is larger than any body that the gateway accepts.")
}

/// Finds why a request is refused by its head alone. The HTTP parser accepts all of these heads.
private enum HeadCheck {
    /// - Returns: nil if the head has no fault.
    static func problem(in head: HTTPRequestHead) -> Problem? {
        if head.method == .CONNECT {
            return Problem(.notImplemented, "The gateway is not a proxy: CONNECT is not implemented.")
        }
        // Clients do not send fragments (RFC 9112 §3.2).
        if head.uri.utf8.contains(UInt8(ascii: "#")) {
            return Problem(
                .malformedRequest, "The request-target has a \"#\"; write %23 where it belongs to a value.")
        }
        return hostProblem(head) ?? lengthProblem(head)
    }

    private static func hostProblem(_ head: HTTPRequestHead) -> Problem? {
        let hosts = head.headers["host"]
        // HTTP/1.0 has no Host (RFC 1945).
        let isOptional = head.version == .http1_0
        guard hosts.count == 1 || isOptional && hosts.isEmpty else {
            let has = hosts.isEmpty ? "no header Host" : "\(hosts.count) headers Host"
            return Problem(
                .malformedRequest, "The request has \(has); an HTTP/1.1 request has exactly one (RFC 9112 §3.2).")
        }
        guard hosts.allSatisfy({ isHost(trim($0)) }) else {
            return Problem(
                .malformedRequest, "The header Host is not a host with an optional port (RFC 9112 §3.2).")
        }
        return nil
    }

    /// RFC 9112 §6.1.
    private static func lengthProblem(_ head: HTTPRequestHead) -> Problem? {
        let lengths = head.headers["content-length"]
        let codings = head.headers["transfer-encoding"]
        guard let coding = codings.first else {
            return lengths.contains { Int(Substring(trim($0))) == nil } ? .contentLength : nil
        }
        guard codings.count == 1, lengths.isEmpty, head.version != .http1_0 else {
            return Problem(
                .malformedRequest,
                "The end of the body is ambiguous: send either one Content-Length or, in HTTP/1.1, one"
                    + " \"Transfer-Encoding: chunked\" (RFC 9112 §6.1).")
        }
        guard trim(coding).equalsIgnoringASCIICase("chunked") else {
            return Problem(
                .notImplemented, "The only supported transfer coding is chunked; send the body as it is.")
        }
        return nil
    }

    /// White space around a field value is not part of it (RFC 9110 §5.5).
    private static func trim(_ value: String) -> Substring.UTF8View {
        var bytes = value.utf8[...]
        while let first = bytes.first, isWhiteSpace(first) { bytes.removeFirst() }
        while let last = bytes.last, isWhiteSpace(last) { bytes.removeLast() }
        return bytes
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// The value of `Host`: `uri-host [ ":" port ]` (RFC 9110 §7.2, RFC 3986 §3.2.2 and §3.2.3).
    ///
    /// - Parameter value: without surrounding white space. Empty if the request-target has no authority.
    private static func isHost(_ value: Substring.UTF8View) -> Bool {
        let (colon, percent) = (UInt8(ascii: ":"), UInt8(ascii: "%"))
        let isAddress = value.first == UInt8(ascii: "[")
        let host = value.prefix { $0 != (isAddress ? UInt8(ascii: "]") : colon) }
        var port = value[host.endIndex...]
        if isAddress, port.popFirst() == nil { return false }
        guard port.isEmpty || port.first == colon && port.dropFirst().allSatisfy(isDigit) else { return false }
        if isAddress {
            // The characters of an IPv6 address. `IPvFuture` is not accepted.
            return host.contains(colon)
                && host.dropFirst().allSatisfy {
                    Hexadecimal.value($0) != nil || $0 == colon || $0 == UInt8(ascii: ".")
                }
        }
        // An IPv4 address or `reg-name`: unreserved, sub-delims, and `%` with two hexadecimal digits.
        return host.allSatisfy { isNameByte($0) || $0 == percent }
            && (!host.contains(percent) || PercentEncoding.decodeBytes(host) != nil)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-._~!$&'()*+,;=".utf8.contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
