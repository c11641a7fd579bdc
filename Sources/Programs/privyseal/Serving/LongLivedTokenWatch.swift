import AuditKit
import GatewayHTTP
import Logging
import NIOPosix
import PrometheusMetrics
import ServiceLifecycle
import SigningKit

/// Sets a gauge to the end of each token that is valid for 30 days or longer, so that an alert can come before it.
struct LongLivedTokenWatch: Service {
    let reading: any AuditReading
    let prometheus: PrometheusRegistry

    /// Of the metric. A token for some days is renewed by the program that uses it.
    private static let minimumLifetime: Int64 = 30 * 86_400
    private static let interval = Duration.seconds(60)

    func run() async throws {
        // Cancelled when the services stop.
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await report()
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    private func report() async {
        do {
            let tokens = try await NIOThreadPool.singleton.runIfActive { [reading] in
                let reader = try reading.reader()
                defer { reader.close() }
                return try reader.longLivedTokens(at: .now()).tokens
            }
            // Of several tokens for one purpose, the one that expires last is in use.
            var latest: [[String]: Timestamp] = [:]
            for token in tokens where token.expires >= token.issuedAt.later(by: Self.minimumLifetime) {
                let use = [token.service, token.client]
                latest[use] = max(latest[use] ?? token.expires, token.expires)
            }
            prometheus.replaceGauges(
                "privyseal_service_token_expiry_timestamp_seconds",
                with: latest.map { use, expires in
                    ([("service", use[0]), ("client", use[1])], Double(expires.seconds))
                })
        } catch {
            Logger(label: "privyseal.tokens").debug("The long-lived tokens could not be read: \(error)")
        }
    }
}
