import Foundation
import Metrics
import PKCS11Token
import PrometheusMetrics
import SigningKit
import SoftHSMTesting
import Testing

@Suite("Reports and metrics of a token", .serialized, .softHSM, .timeLimit(.minutes(1)))
struct ReportTests {
    private let module: FaultyModule
    private let token: SoftHSMToken
    private let uri: String
    private let registry = PrometheusRegistry()

    init() throws {
        module = try FaultyModule.shared.get()
        token = try SoftHSM.shared.get().makeToken()
        try token.generateKey(label: "KEY", id: [1])
        uri = token.uri("object=KEY", modulePath: module.path)
        try module.fresh()
    }

    @Test("a report names the token and has consistent figures of an idle, busy and stuck pool")
    func figures() async throws {
        let settings: [String: PluginSettings.Value] = [
            "sessions": .integer(1), "queueLimit": .integer(3), "operationTimeout": .integer(1),
        ]
        try await withKey(uri, settings) { backend, key in
            var idle = KeyBackendReport.Pool(
                wanted: 1, ready: 1, busy: 0, hungCalls: 0, queueDepth: 0, queueLimit: 3, reconnects: 0)
            let report = await backend.report()
            #expect(report.health == .ready)
            #expect(report.name == token.label)
            #expect(report.token?.label == token.label)
            #expect(report.token?.manufacturer == "SoftHSM project")
            #expect(report.token?.model == "SoftHSM v2")
            #expect(report.token?.serial.isEmpty == false)
            #expect(report.token?.firmware.wholeMatch(of: /\d+\.\d+/) != nil)
            #expect(report.pool == idle)

            let barrier = module.barrier()
            try module.follow("C_Sign to=1 hang=\(barrier.file.path)")
            async let outcomes = faults(3, key)
            try await eventually("one hangs and two wait") {
                let pool = await backend.report().pool
                return pool?.busy == 1 && pool?.queueDepth == 2
            }
            try await eventually("the hanging call is set aside") { await backend.report().pool?.hungCalls == 1 }
            #expect(await outcomes.allSatisfy { $0 != nil })
            try await eventually("another lane signs") { await fault(key) == nil }
            try barrier.letGo()
            idle.reconnects = 1
            try await eventually("all is as before") { await backend.report().pool == idle }
        }
    }

    @Test("the metrics separate queue time from call time and count each signature once")
    func timings() async throws {
        try await withMetricsFactory(registry) {
            try await withKey(uri, ["sessions": .integer(1)]) { _, key in
                for _ in 0..<3 { #expect(await fault(key) == nil) }
                try module.follow("C_Sign delay=60")
                #expect(await faults(2, key) == [nil, nil])
            }
        }
        let label = "{token=\"\(token.label)\"}"
        #expect(sample("privyseal_token_call_seconds_count\(label)") == 5)
        #expect(sample("privyseal_token_queue_seconds_count\(label)") == 5)
        let inCall = try #require(sample("privyseal_token_call_seconds_sum\(label)"))
        #expect(inCall >= 0.12, "two calls of 60 ms")
        #expect(sample("privyseal_token_reconnects_total\(label)") == 0)
    }

    @Test("waiting counts as queue time and not as call time")
    func waiting() async throws {
        try await withMetricsFactory(registry) {
            try await withKey(uri, ["sessions": .integer(1)]) { _, key in
                let barrier = module.barrier()
                try module.follow("C_Sign to=1 hang=\(barrier.file.path)")
                async let first = fault(key)
                try await eventually("a call hangs") { module.count("C_SignInit") == 1 }
                async let second = fault(key)
                // The minimum time in the queue; the time until the request enters it does not count.
                try await Task.sleep(for: .milliseconds(200))
                try barrier.letGo()
                #expect(await first == nil)
                #expect(await second == nil)
            }
        }
        let bucket = "{token=\"\(token.label)\",le=\"0.1\"}"
        #expect(sample("privyseal_token_call_seconds_bucket\(bucket)") == 1, "the one that did not hang")
        #expect(sample("privyseal_token_queue_seconds_bucket\(bucket)") == 1, "the one that did not wait")
    }

    @Test("a session that is lost and opened again counts as a reconnect")
    func reconnect() async throws {
        try await withMetricsFactory(registry) {
            try await withKey(uri, ["sessions": .integer(1)]) { backend, key in
                // CKR_SESSION_HANDLE_INVALID
                try module.follow("C_Sign to=1 rv=0xb3")
                _ = await fault(key)
                try await eventually("it is back") { await fault(key) == nil }
                try await eventually("it is told") { await backend.report().pool?.reconnects == 1 }
            }
        }
        #expect(sample("privyseal_token_reconnects_total{token=\"\(token.label)\"}") == 1)
    }

    private func sample(_ series: String) -> Double? {
        String(decoding: registry.exposition(), as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("\(series) ") }?
            .split(separator: " ").last.flatMap { Double($0) }
    }
}
