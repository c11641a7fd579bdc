import Testing

@testable import GatewayConfiguration

@Suite("Limits and tracing")
struct LimitsAndTracingTests {
    @Test("the reader keeps given limits and uses defaults for the others")
    func values() throws {
        let limits = try configuration(Examples.network).limits
        #expect(limits.connections == 100)
        #expect(limits.requestTimeout == .seconds(11))
        #expect(limits.handshakeTimeout == .seconds(12))
        #expect(limits.idleTimeout == .seconds(13))
        #expect(limits.connectionAge == .seconds(14))
        #expect(limits.headerBytes == 2048)
        #expect(limits.batchBodyBytes == 4096)
        #expect(limits.clientBodyBytes == 2_097_152)
        #expect(limits.totalBodyBytes == 4_194_304)
        let plain = try configuration(Examples.least)
        #expect(plain.limits == .init())
        #expect(plain.limits.connections == 4096)
        #expect(plain.limits.requestTimeout == .seconds(10))
        #expect(plain.tracing == nil)
    }

    @Test(
        "the reader accepts an endpoint with or without TLS and a port",
        arguments: [
            "http://127.0.0.1:4318/v1/traces", "https://collector.example.com/otlp/v1/traces", "http://[::1]/t",
            "https://[::1]:1/t",
        ])
    func endpoints(_ text: String) throws {
        let tracing = try #require(
            try configuration("tracing: {endpoint: \"\(text)\"}\n" + Examples.least).tracing)
        #expect(tracing.endpoint == text)
        #expect(tracing.sampling == 1)
        #expect(tracing.serviceName == "privyseal")
    }

    @Test("sampling is a fraction", arguments: [("0", 0.0), ("1", 1), ("0.1", 0.1), ("1.0", 1)])
    func sampling(_ text: String, _ value: Double) throws {
        let tracing = try configuration(Examples.network("sampling: 0.1", "sampling: \(text)")).tracing
        #expect(tracing?.sampling == value)
        #expect(tracing?.serviceName == "shop-signer")
    }

    @Test(
        "the reader refuses values out of bounds",
        arguments: [
            ("connections: 100", "connections: 0", "limits.connections: is 0; it must be from 1 to 1000000."),
            (
                "requestTimeout: 11", "requestTimeout: 0",
                "limits.requestTimeout: is 0; it must be from 1 to 3600 seconds."
            ),
            (
                "handshakeTimeout: 12", "handshakeTimeout: 301",
                "limits.handshakeTimeout: is 301; it must be from 1 to 300 seconds."
            ),
            ("idleTimeout: 13", "idleTimeout: 3601", "limits.idleTimeout: is 3601; it must be from 1 to 3600 seconds."),
            ("headerBytes: 2048", "headerBytes: 1023", "limits.headerBytes: is 1023; it must be from 1024 to 65536."),
            (
                "batchBodyBytes: 4096", "batchBodyBytes: 16777217",
                "limits.batchBodyBytes: is 16777217; it must be from 1024 to 16777216."
            ),
            (
                "idleTimeout: 13", "idelTimeout: 13",
                "limits.idelTimeout: is not a known key; did you mean idleTimeout? The keys are "
                    + GatewayConfiguration.Limits.settings.map(\.name).joined(separator: ", ") + "."
            ),
            (
                "connectionAge: 14", "connectionAge: 86401",
                "limits.connectionAge: is 86401; it must be from 1 to 86400 seconds."
            ),
            (
                "batchBodyBytes: 4096", "batchBodyBytes: 2097153",
                "limits.clientBodyBytes: is 2097152, which is less than limits.batchBodyBytes, 2097153; raise this one, or set that one lower."
            ),
            (
                "totalBodyBytes: 4194304", "totalBodyBytes: 2097151",
                "limits.totalBodyBytes: is 2097151, which is less than limits.clientBodyBytes, 2097152; raise this one, or set that one lower."
            ),
            ("sampling: 0.1", "sampling: 1.5", "tracing.sampling: is 1.5; it must be from 0 to 1."),
            ("sampling: 0.1", "sampling: -0.5", "tracing.sampling: is -0.5; it must be from 0 to 1."),
            (
                "sampling: 0.1", "sampling: .1",
                "tracing.sampling: must be a number, but is text; write it in decimal digits, such as 0.5, without quotes or a "
                    + "unit."
            ),
            (
                "sampling: 0.1", "sampling: \"0.1\"",
                "tracing.sampling: must be a number, but is text; write it in decimal digits, such as 0.5, without quotes or a "
                    + "unit."
            ),
            ("sampling: 0.1", "sampling:", "tracing.sampling: has no value; give a number, or leave it out."),
            (
                "  endpoint: http://127.0.0.1:4318/v1/traces\n", "",
                "tracing.endpoint: is missing; give the URL of a collector that accepts OTLP over HTTP, such as "
                    + "http://127.0.0.1:4318/v1/traces."
            ),
            (
                "http://127.0.0.1:4318/v1/traces", "127.0.0.1:4318",
                "tracing.endpoint: must begin with http:// or https://, such as http://127.0.0.1:4318/v1/traces."
            ),
            (
                "http://127.0.0.1:4318/v1/traces", "http://127.0.0.1:4318/",
                "tracing.endpoint: has no path; collectors accept traces at /v1/traces, as in "
                    + "http://127.0.0.1:4318/v1/traces."
            ),
            (
                "http://127.0.0.1:4318/v1/traces", "http:///v1/traces",
                "tracing.endpoint: must name a host, and a port from 1 to 65535 unless it is 80, as in "
                    + "http://127.0.0.1:4318/v1/traces."
            ),
            (
                "http://127.0.0.1:4318/v1/traces", "https://a:0/v1/traces",
                "tracing.endpoint: must name a host, and a port from 1 to 65535 unless it is 443, as in "
                    + "http://127.0.0.1:4318/v1/traces."
            ),
            (
                "http://127.0.0.1:4318/v1/traces", "http://unix:/v1/traces",
                "tracing.endpoint: must name a host, and a port from 1 to 65535 unless it is 80, as in "
                    + "http://127.0.0.1:4318/v1/traces."
            ),
        ] as [(String, String, String)])
    func refused(_ text: String, _ replacement: String, _ fault: String) throws {
        let lines = faults(in: Examples.network(text, replacement))
        #expect(lines.count == 1)
        #expect(try #require(lines.first).hasSuffix(": " + fault))
    }
}
