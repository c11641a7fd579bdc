import ArgumentParser
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
        token = try option.tokenFile.map(EvidenceFile.token)
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
        configuration.timeout = .init(connect: .seconds(5), read: .seconds(120))
        // If no process listens on the socket, five seconds of retries do not help.
        configuration.connectionPool.retryConnectionEstablishment = false
        do {
            return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
                let answer = try await client.execute(request, timeout: .minutes(5))
                let text = String(buffer: try await answer.body.collect(upTo: Self.longestAnswer))
                switch answer.status {
                case .ok, .created, .accepted, .noContent: return text
                default: throw AdminError.refused(Self.detail(text) ?? "The gateway answered \(answer.status.code).")
                }
            }
        } catch let error as AdminError {
            throw error
        } catch {
            if AdminError.isAbsence(error) { throw AdminError.absent(address) }
            throw AdminError.unreachable("\(address): \(Self.reason(error))")
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
        switch error {
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
            "The gateway was not reached: \(address): no process listens there. Start the gateway, or correct the address."
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

/// How to reach the admin listener of a running gateway.
struct AdminOption: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The gateway's configuration, which has the admin listener's address.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var configuration: String?

    @Option(
        help: ArgumentHelp(
            "The admin listener's address: unix:/path, or a URL such as http://127.0.0.1:8081.", valueName: "address"))
    var admin: String?

    @Option(
        help: ArgumentHelp(
            "A file with an administrator's token. On a Unix socket, root and the gateway's own user need none.",
            valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Option(help: ArgumentHelp("The client certificate, in PEM.", valueName: "file"), completion: .file())
    var certificate: String?

    @Option(help: ArgumentHelp("The client certificate's private key, in PEM.", valueName: "file"), completion: .file())
    var certificateKey: String?

    @Option(
        help: ArgumentHelp("CA certificates for the gateway, in PEM; default: the system's.", valueName: "file"),
        completion: .file())
    var trustRoots: String?

    func validate() throws {
        guard (configuration == nil) != (admin == nil) else {
            throw ValidationError(
                "Give the gateway with --config FILE or --admin ADDRESS\(admin == nil ? "" : ", not with both").")
        }
        guard admin.map({ address in ["unix:", "http://", "https://"].contains { address.hasPrefix($0) } }) ?? true
        else {
            throw ValidationError("--admin must be unix:/path, or an http:// or https:// URL.")
        }
        guard (certificate == nil) == (certificateKey == nil) else {
            throw ValidationError("Give --certificate and --certificate-key together.")
        }
    }

    func ask(_ method: HTTPMethod, _ path: String, body: [UInt8]? = nil, accept: String?) async throws -> String {
        try await AdminClient(try address(), self).ask(method, path, body: body, accept: accept)
    }

    func address() throws -> String {
        if let admin { return admin }
        guard let configuration else { throw ExitCode.validationFailure }
        guard let address = Self.address(in: try ConfigurationOption.load(configuration)) else {
            throw AdminError.unreachable("\(configuration) has no listeners.admin; add it and restart the gateway")
        }
        return address
    }

    /// The admin listener's address in the form that `AdminClient` takes; nil if the configuration has none.
    static func address(in configuration: GatewayConfiguration) -> String? {
        guard let listener = configuration.adminListener else { return nil }
        switch listener.address {
        case .unixSocket: return "\(listener.address)"
        case .tcp: return (listener.tls == nil ? "http://" : "https://") + "\(listener.address)"
        }
    }
}

extension AdminOption {
    /// Nil with `--admin`. Load it once for each command, because loading prints the configuration's warnings.
    func loadConfiguration() throws -> GatewayConfiguration? { try configuration.map(ConfigurationOption.load) }

    /// A client of the running gateway. With `--config`, and if no process listens on the admin listener's address, it
    /// is a client of the register itself.
    ///
    /// - Parameter loaded: what `loadConfiguration()` returned, if the command has called it.
    /// - Throws: `AdminError`, or `ExitCode` after printing the error.
    func lifecycleClient(_ loaded: GatewayConfiguration? = nil) async throws -> any KeyLifecycleClient {
        guard let configuration = try loaded ?? loadConfiguration() else {
            return RemoteKeyLifecycleClient(try AdminClient(try address(), self))
        }
        let local = try LocalKeyLifecycleClient(configuration)
        guard let address = Self.address(in: configuration) else { return local }
        let client = try AdminClient(address, self)
        do { _ = try await client.ask(.GET, "/v1/keys", accept: "application/json") } catch AdminError.absent {
            return local
        }
        return RemoteKeyLifecycleClient(client)
    }

    /// The signers of the running gateway; nil if none runs.
    func signers(_ configuration: GatewayConfiguration) async throws -> SignersStatus? {
        guard let address = Self.address(in: configuration) else { return nil }
        let answer: String
        do {
            answer = try await AdminClient(address, self).ask(.GET, "/v1/signers", accept: "application/json")
        } catch AdminError.absent { return nil }
        return try JSONDocument(parsing: Array(answer.utf8)).root.decode()
    }

    /// The option that selects the same gateway or register for another command.
    var gatewayOption: String { configuration.map { "--config \($0)" } ?? admin.map { "--admin \($0)" } ?? "" }
}
