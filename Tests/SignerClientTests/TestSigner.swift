import Crypto
import Glibc
import SignerProtocol
import SigningKit
import SigningKitTesting
import Synchronization

@testable import SignerHost

/// A signer in the test's own process, behind a Unix socket. Each connection of the gateway gets a thread.
final class TestSigner: Sendable {
    let path: String
    private let listener: Int32
    private let connections = Mutex<[Int32]>([])

    /// - Parameter serve: gets the number of the connection, from 1, and its descriptor.
    init(_ serve: @escaping @Sendable (Int, Int32) -> Void = { TestSigner.host($1) }) throws {
        let path = "/tmp/privyseal-test-\(getpid())-\(UInt32.random(in: .min ... .max)).sock"
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let code = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        chmod(path, 0o600)
        guard code == 0, listen(listener, 16) == 0 else { throw TestSignerError() }
        (self.path, self.listener) = (path, listener)
        _ = SystemThread.start("test-signer") { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                let number = connections.withLock { connections in
                    connections.append(connection)
                    return connections.count
                }
                _ = SystemThread.start("test-connection") { serve(number, connection) }
            }
        }
    }

    var count: Int { connections.withLock { $0.count } }

    /// Ends the newest connection, as the end of a process does.
    func cut() {
        guard let last = connections.withLock({ $0.last }) else { return }
        shutdown(last, Int32(SHUT_RDWR))
    }

    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
        for connection in connections.withLock({ $0 }) { shutdown(connection, Int32(SHUT_RDWR)) }
        unlink(path)
    }

    /// Serves as a signer process does, without its protection: that cannot be taken back.
    static func host(_ descriptor: Int32) {
        let host = SignerHost(
            socket: descriptor, backends: [FakeKeyBackend.self], secrets: NoSecrets(),
            onEnd: { Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) })
        guard let input = try? host.start({ _ in SignerProtection(pid: descriptor, uid: 0, layers: [], missing: [:]) })
        else { return }
        Task { await host.serve(input) }
    }
}

struct TestSignerError: Error {}

struct NoSecrets: SecretSource {
    func secret(_ reference: String) throws(KeyError) -> Secret { throw .secretUnavailable("There is none.") }
}

/// Collects what a backend reports.
final class ReportedEvents: Sendable {
    private let events = Mutex<[KeyBackendEvent]>([])
    private let signal = AsyncSignal()

    func note(_ event: KeyBackendEvent) {
        events.withLock { $0.append(event) }
        signal.signal()
    }

    var all: [KeyBackendEvent] { events.withLock { $0 } }

    /// Waits for an event, for ten seconds at most.
    func first(_ kind: KeyBackendEvent.Kind) async -> KeyBackendEvent? {
        let end = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < end {
            if let event = all.first(where: { $0.kind == kind }) { return event }
            await signal.wait(atMost: .seconds(1))
        }
        return nil
    }
}

/// Signs until it succeeds, for ten seconds at most.
func signature(
    of digest: SHA256Digest, by key: any SigningKey
) async throws -> P256Signature {
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
        if let signature = try? await key.sign(digest) { return signature }
        try await Task.sleep(for: .milliseconds(10))
    }
    return try await key.sign(digest)
}
