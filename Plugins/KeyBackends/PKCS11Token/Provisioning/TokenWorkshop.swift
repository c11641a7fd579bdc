internal import PKCS11
public import SigningKit

extension PKCS11TokenBackend: KeyProvisioning {
    public static func workshop(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> any KeyWorkshop {
        try await TokenWorkshop.open(locator, in: environment)
    }
}

/// Work on the keys of a token. Its calls block, so they run on a thread of its own.
final class TokenWorkshop: KeyWorkshop {
    private let bench: TokenBench
    private let worker: Worker
    private let watch: Worker

    /// In milliseconds: a smart card takes a minute for an RSA pair.
    private static let patience = 180_000

    private init(_ bench: TokenBench, _ worker: Worker, _ watch: Worker) {
        (self.bench, self.worker, self.watch) = (bench, worker, watch)
    }

    static func open(
        _ locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> TokenWorkshop {
        let (worker, watch) = (Worker(), Worker())
        guard worker.start("privyseal-bench"), watch.start("privyseal-watch") else {
            worker.end()
            throw .unavailable("The system has no thread left for a token.")
        }
        do throws(KeyError) {
            let bench = try await worker.perform(
                within: patience, watchedBy: watch, late: late, forsaken: { $0.close() },
                { () throws(KeyError) in try TokenBench(locator, in: environment) })
            return TokenWorkshop(bench, worker, watch)
        } catch {
            worker.end()
            watch.end()
            throw error
        }
    }

    var token: KeyBackendReport.Token {
        KeyBackendReport.Token(
            label: bench.info.label, manufacturer: bench.info.manufacturer, model: bench.info.model,
            serial: bench.info.serial, firmware: bench.info.firmware)
    }

    func take(
        _ key: IncomingKey, as selector: KeySelector, isResumed: Bool, allowsClear: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> PlacedKey {
        try await perform { bench throws(KeyError) in
            let name = try KeyName(selector, publicKey: key.publicKey)
            return try KeyImport(bench: bench, key: key, name: name, allowsClear: allowsClear, tell: tell)
                .run(isResumed: isResumed)
        }
    }

    func generate(
        as selector: KeySelector, isResumed: Bool, tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> PlacedKey {
        try await perform { bench throws(KeyError) in
            try KeyGeneration(bench: bench, selector: selector, tell: tell).run(isResumed: isResumed)
        }
    }

    func makeWrappingKey(as selector: KeySelector) async throws(KeyError) -> MadeWrappingKey {
        try await perform { bench throws(KeyError) in
            try WrappingPair.make(KeyName(selector, publicKey: nil), on: bench)
        }
    }

    func destroy(
        _ selector: KeySelector, expecting fingerprint: PublicKeyFingerprint?, isResumed: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> DestroyedKey {
        try await perform { bench throws(KeyError) in
            try KeyDestruction(
                bench: bench, selector: selector, fingerprint: fingerprint, isResumed: isResumed, tell: tell
            ).run()
        }
    }

    func close() async {
        _ = try? await perform { bench throws(KeyError) in bench.close() }
        worker.end()
        watch.end()
    }

    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable (TokenBench) throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        try await worker.perform(within: Self.patience, watchedBy: watch, late: Self.late) {
            [bench] () throws(KeyError) in try body(bench)
        }
    }

    private static var late: KeyError { .unavailable("The token did not answer within \(patience / 1000) s.") }
}
