import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SigningKit

/// Reads the text of a key set.
protocol KeySetSource: Sendable {
    func read() async throws(KeySetError) -> [UInt8]
}

extension KeySetLocation {
    var source: any KeySetSource {
        switch self {
        case .file(let path): KeySetFile(path: path)
        case .url(let url, let trustRoots): KeySetDownload(url: url, trustRoots: trustRoots)
        }
    }
}

struct KeySetFile: KeySetSource {
    let path: String

    func read() async throws(KeySetError) -> [UInt8] {
        do {
            // Opening a file can block, for example on a network file system.
            return try await NIOThreadPool.singleton.runIfActive { try Self.read(path) }
        } catch {
            throw error as? KeySetError ?? .unreadable("\(path) was not read, because the gateway stops")
        }
    }

    private static func read(_ path: String) throws(KeySetError) -> [UInt8] {
        do throws(BoundedFile.Failure) { return try BoundedFile.read(path, limit: KeySet.maximumLength) } catch {
            switch error {
            case .tooLong: throw .tooLarge
            case .directory, .notRegular: throw .unreadable("\(path) is not a regular file")
            case .system(let code): throw .unreadable("\(path) cannot be read: \(String(cString: strerror(code)))")
            }
        }
    }
}

/// One HTTP request, over a connection of its own: a key set is read once in some minutes.
struct KeySetDownload: KeySetSource {
    let url: String
    let trustRoots: String?

    /// From the name lookup to the last byte. A caller with a new key waits for it.
    private static let timeout = Duration.seconds(5)

    func read() async throws(KeySetError) -> [UInt8] {
        let client = HTTPClient(configuration: try configuration())
        // Without waiting: a server that does not answer the end of TLS would delay the callers.
        defer { client.shutdown { _ in } }
        do { return try await download(with: client) } catch let error as KeySetError {
            throw error
        } catch is NIOTooManyBytesError {
            throw .tooLarge
        } catch {
            throw .unreadable("\(url) did not answer: \(Self.reason(for: error))")
        }
    }

    /// A redirection counts as a failure: otherwise another server could supply the keys.
    private func configuration() throws(KeySetError) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let trustRoots {
            do { tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(trustRoots)) } catch {
                throw .unreadable("the file \(trustRoots) in trustRoots cannot be read as certificates in PEM")
            }
        }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: .init(connect: .seconds(3)),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // No header with a trace context leaves the gateway.
        configuration.tracing.tracer = nil
        return configuration
    }

    private func download(with client: HTTPClient) async throws -> [UInt8] {
        try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask {
                var request = HTTPClientRequest(url: url)
                request.headers.add(name: "Accept", value: "application/json")
                request.headers.add(name: "User-Agent", value: "privyseal")
                let answer = try await client.execute(request, timeout: .seconds(5))
                guard answer.status == .ok else {
                    throw KeySetError.unreadable("\(url) answered with the status \(answer.status.code)")
                }
                return Array(try await answer.body.collect(upTo: KeySet.maximumLength).readableBytesView)
            }
            // The client's own timeout ends with the header.
            group.addTask {
                try await Task.sleep(for: Self.timeout)
                return nil
            }
            defer { group.cancelAll() }
            guard let text = try await group.next() ?? nil else {
                throw KeySetError.unreadable("\(url) did not answer in \(Self.timeout.components.seconds) seconds")
            }
            return text
        }
    }

    private static func reason(for error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: error.shortDescription
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: tlsReason(for: error)
        case is HTTPParserError: "it does not speak HTTP"
        default: String("\(error)".unicodeScalars.prefix(200))
        }
    }

    /// BoringSSL's errors name a reason, such as CERTIFICATE_VERIFY_FAILED, among paths of its source code.
    private static func tlsReason(for error: any Error) -> String {
        let reason = "\(error)".firstMatch(of: /OPENSSL_internal:([A-Z0-9_]+)/).map { " (\($0.1))" } ?? ""
        return "the TLS handshake failed\(reason); check its certificate, its name and trustRoots"
    }
}
