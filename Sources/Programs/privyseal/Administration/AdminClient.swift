import AsyncHTTPClient
import Foundation
import GatewayConfiguration
import GatewayHTTP
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
        token = try option.tokenFile.map(InputFile.token)
    }

    /// - Parameter body: JSON; nil for none.
    /// - Returns: the body of a successful answer; empty if it has none.
    func ask(_ method: HTTPMethod, _ path: String, body: [UInt8]? = nil, accept: String?) async throws -> String {
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
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        let limit = method == .GET ? Self.readLimit : Self.orderLimit
        configuration.timeout = .init(connect: .seconds(5), read: .init(limit))
        // If no process listens on the socket, five seconds of retries do not help.
        configuration.connectionPool.retryConnectionEstablishment = false
        do {
            return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
                let answer = try await client.execute(request, timeout: .minutes(5))
                let text = String(buffer: try await answer.body.collect(upTo: Self.longestAnswer))
                switch answer.status {
                case .ok, .created, .accepted, .noContent: return text
                case .notFound where Self.detail(text)?.hasPrefix("There is nothing at ") != false:
                    throw AdminError.unreachable(
                        "\(address) has no \(path), so it is not the admin listener: give the address of listeners.admin"
                    )
                default: throw AdminError.refused(Self.detail(text) ?? "The gateway answered \(answer.status.code).")
                }
            }
        } catch let error as AdminError {
            throw error
        } catch {
            if AdminError.isAbsence(error) { throw AdminError.absent(address) }
            if error as? HTTPClientError == .readTimeout { throw AdminError.silent(address, limit) }
            throw AdminError.unreachable("\(address): \(Self.reason(error))")
        }
    }

    /// Paths begin with a slash.
    private static func withoutSlash(_ address: String) -> String {
        var address = address
        while address.hasSuffix("/") { address.removeLast() }
        return address
    }

    /// How long the gateway may send nothing. An order may need work on several tokens, or other gateways of a fleet.
    private static let (readLimit, orderLimit) = (Duration.seconds(30), Duration.seconds(120))

    /// In bytes: enough for the history of a thousand keys.
    private static let longestAnswer = 16 << 20

    /// The `detail` of a problem document.
    private static func detail(_ text: String) -> String? {
        try? JSONDocument(parsing: Array(text.utf8)).root.anyObject().decode("detail")
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case is CancellationError: "the command was stopped"
        case let error as HTTPClientError where error == .connectTimeout:
            "the connection timed out; check that the gateway runs"
        case let error as HTTPClientError: error.shortDescription
        case let error as IOError where error.errnoCode == EACCES:
            "this user may not connect; run the command as root or as the gateway's user, or set listeners.admin.mode "
                + "and owner"
        case NIOSSLError.handshakeFailed(.sslError(let errors)) where "\(errors)".contains("WRONG_VERSION_NUMBER"):
            "it does not speak TLS; if the listener has no tls, give http://"
        case NIOSSLError.handshakeFailed(let error) where "\(error)".contains("CERTIFICATE_VERIFY_FAILED"):
            "its certificate is not from a trusted CA; give the CA's certificate with --trust-roots"
        default: "\(error)"
        }
    }

    private static func tls(_ option: AdminOption) throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let path = option.trustRoots {
            tls.trustRoots = .certificates(try pem(path, "certificates", NIOSSLCertificate.fromPEMFile))
        }
        if let certificate = option.certificate, let key = option.certificateKey {
            tls.certificateChain = try pem(certificate, "certificates", NIOSSLCertificate.fromPEMFile)
                .map { .certificate($0) }
            tls.privateKey = .privateKey(
                try pem(key, "a private key") { try NIOSSLPrivateKey(file: $0, format: .pem) })
        }
        return tls
    }

    /// - Parameter what: what the file should hold. The library's error has no reason that helps.
    private static func pem<Value>(_ path: String, _ what: String, _ read: (String) throws -> Value) throws -> Value {
        do { return try read(path) } catch {
            throw CommandError("\(path) cannot be read as \(what) in PEM.")
        }
    }
}
