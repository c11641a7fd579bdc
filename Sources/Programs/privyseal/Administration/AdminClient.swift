import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import StrictJSON

/// An HTTP client of a running gateway's admin listener.
struct AdminClient {
    /// As given, for messages.
    private let address: String
    private let base: String
    private let tls: TLSConfiguration
    private let token: String?

    /// - Parameter address: `unix:/path`, or a URL without a path.
    init(_ address: String, _ option: AdminOption) throws {
        self.address = address
        let prefix = "unix:"
        if address.hasPrefix(prefix) {
            guard let url = URL(httpURLWithSocketPath: String(address.dropFirst(prefix.count))) else {
                throw AdminError.unreachable("\(address) is not the path of a socket")
            }
            base = Self.withoutSlash(url.absoluteString)
        } else if address.hasPrefix("http://") || address.hasPrefix("https://") {
            base = Self.withoutSlash(address)
        } else {
            throw AdminError.unreachable("\(address) is neither unix:/path nor an http:// or https:// URL")
        }
        tls = try Self.tls(option)
        token = try option.tokenFile.map(Self.token)
    }

    /// - Parameter body: JSON; nil for none.
    /// - Returns: the body of a successful answer; empty if it has none.
    func ask(_ method: HTTPMethod, _ path: String, body: [UInt8]? = nil, accept: String?) async throws -> String {
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.timeout = .init(connect: .seconds(5), read: .seconds(120))
        // If no process listens on the socket, five seconds of retries do not help.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let answer = try await ask(client, method, path, body, accept)
            try await client.shutdown()
            return answer
        } catch {
            try? await client.shutdown()
            if error is AdminError { throw error }
            if AdminError.isAbsence(error) { throw AdminError.absent(address) }
            throw AdminError.unreachable("\(address): \(Self.reason(error))")
        }
    }

    private func ask(
        _ client: HTTPClient, _ method: HTTPMethod, _ path: String, _ body: [UInt8]?, _ accept: String?
    ) async throws -> String {
        var request = HTTPClientRequest(url: base + path)
        request.method = method
        // Over a Unix socket, AsyncHTTPClient sends no Host, which HTTP/1.1 requires (RFC 9112 §3.2).
        if address.hasPrefix("unix:") { request.headers.add(name: "Host", value: "localhost") }
        if let accept { request.headers.add(name: "Accept", value: accept) }
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(body)
        }
        let answer = try await client.execute(request, timeout: .minutes(5))
        let text = String(buffer: try await answer.body.collect(upTo: Self.longestAnswer))
        switch answer.status {
        case .ok, .created, .accepted, .noContent: return text
        default: throw AdminError.refused(Self.detail(text) ?? "The gateway answered \(answer.status.code).")
        }
    }

    /// Paths begin with a slash.
    private static func withoutSlash(_ address: String) -> String {
        var address = address
        while address.hasSuffix("/") { address.removeLast() }
        return address
    }

    /// In bytes: enough for the history of a thousand keys.
    private static let longestAnswer = 16 << 20

    /// The `detail` of a problem document.
    private static func detail(_ text: String) -> String? {
        try? JSONDocument(parsing: Array(text.utf8)).root.anyObject().decode("detail")
    }

    private static func reason(_ error: any Error) -> String {
        guard let error = error as? HTTPClientError, error == .connectTimeout else { return "\(error)" }
        return "the connection timed out; check that the gateway runs"
    }

    private static func tls(_ option: AdminOption) throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        do {
            if let path = option.trustRoots { tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path)) }
            if let certificate = option.certificate, let key = option.certificateKey {
                tls.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) }
                tls.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
            }
        } catch {
            throw AdminError.unreachable("the certificates or the private key cannot be read as PEM")
        }
        return tls
    }

    private static func token(_ path: String) throws -> String {
        do throws(AuditSetupError) { return try EvidenceFile.token(in: path) } catch {
            throw AdminError.unreachable("\(error)")
        }
    }
}

/// Why a request to a running gateway failed.
enum AdminError: Error, CustomStringConvertible {
    /// No process listens at this address, so no gateway runs there.
    case absent(String)
    /// A sentence without its full stop.
    case unreachable(String)
    /// The gateway's answer.
    case refused(String)

    var description: String {
        switch self {
        case .absent(let address):
            "The gateway was not reached: \(address): no process listens there, so the gateway is not running."
        case .unreachable(let sentence): "The gateway was not reached: \(sentence)."
        case .refused(let detail): detail
        }
    }

    /// Whether no process listens: the socket is missing, or its process has ended (connect(2): ENOENT, ECONNREFUSED).
    /// A socket without access permission is a different error.
    static func isAbsence(_ error: any Error) -> Bool {
        switch error {
        case let error as IOError: [ENOENT, ECONNREFUSED].contains(error.errnoCode)
        case let error as NIOConnectionError:
            !error.connectionErrors.isEmpty && error.connectionErrors.allSatisfy { isAbsence($0.error) }
        default: false
        }
    }
}
