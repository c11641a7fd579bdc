import GatewayConfiguration
import Signing
import Testing

@Suite("Environment variables")
struct EnvironmentTests {
    @Test("each variable overrides the file")
    func overrides() throws {
        let configuration = try configuration(
            Examples.full,
            environment: [
                "PRIVYSEAL_LISTEN": "unix:/run/privyseal/gateway.sock", "PRIVYSEAL_VERIFICATION": "sampled:7",
                "PRIVYSEAL_LOG_LEVEL": "critical", "PRIVYSEAL_LOG_FORMAT": "text",
                "PRIVYSEAL_ADMIN_LISTEN": "unix:/run/admin.sock", "PRIVYSEAL_METRICS_LISTEN": "127.0.0.1:9464",
                "PRIVYSEAL_SHUTDOWN_GRACE_PERIOD": "5", "PRIVYSEAL_DRAIN_DELAY": "0", "HOME": "/nowhere",
            ])
        #expect(configuration.publicListener.address == .unixSocket(path: "/run/privyseal/gateway.sock"))
        #expect(configuration.publicListener.origin?.description == "PRIVYSEAL_LISTEN")
        #expect(configuration.adminListener?.address == .unixSocket(path: "/run/admin.sock"))
        #expect(configuration.metricsListener?.address == .tcp(host: "127.0.0.1", port: 9464))
        #expect(configuration.verification == .sampled(every: 7))
        #expect(configuration.logging.level == .critical)
        #expect(configuration.logging.format == .text)
        #expect(configuration.drainDelay == .zero)
        #expect(configuration.shutdownGracePeriod == .seconds(5))
        #expect(configuration.warnings.isEmpty)
    }

    @Test(
        "the reader refuses an invalid variable as in the file, under the variable's name",
        arguments: [
            ("PRIVYSEAL_LISTEN", "", "has no value; give text, or leave it out."),
            ("PRIVYSEAL_LISTEN", "8080", "has no port; write an address and a port, such as 127.0.0.1:8080."),
            (
                "PRIVYSEAL_LOG_LEVEL", "Info",
                "is \"Info\", which is not known; did you mean info? The choices are trace, debug, info, notice, warning, "
                    + "error, critical."
            ),
            ("PRIVYSEAL_LOG_FORMAT", "xml", "is \"xml\", which is not known; the choices are text, json."),
            (
                "PRIVYSEAL_VERIFICATION", "never",
                "is \"never\"; give always, off or, for one signature of a hundred, sampled:100."
            ),
            (
                "PRIVYSEAL_VERIFICATION", "sampled:01",
                "must sample one signature of N, with N a whole number from 2 to 1000000; give always to verify each of them."
            ),
            (
                "PRIVYSEAL_SHUTDOWN_GRACE_PERIOD", "soon",
                "must be a whole number, but is text; write it in decimal digits, without quotes or a unit."
            ),
        ])
    func refused(_ name: String, _ value: String, _ sentence: String) {
        #expect(faults(in: Examples.least, environment: [name: value]) == ["\(name): \(sentence)"])
    }

    @Test("an address from a variable is validated with the other listener settings of the file")
    func listeners() throws {
        let text = Examples.network
        let moved = try configuration(text, environment: ["PRIVYSEAL_LISTEN": "0.0.0.0:443"])
        #expect(moved.publicListener.address == .tcp(host: "0.0.0.0", port: 443))
        #expect(moved.publicListener.tls?.certificate.path == "/etc/privyseal/tls/cert.pem")
        #expect(
            faults(in: Examples.least, environment: ["PRIVYSEAL_METRICS_LISTEN": "10.0.0.1:9464"]).first?.hasPrefix(
                "PRIVYSEAL_METRICS_LISTEN: can be reached from other machines without TLS") == true)
        #expect(
            faults(in: Examples.least, environment: ["PRIVYSEAL_ADMIN_LISTEN": "10.0.0.1:1"]).first?.hasPrefix(
                "PRIVYSEAL_ADMIN_LISTEN: can be reached from other machines, so administrators") == true)
        #expect(
            faults(in: text, environment: ["PRIVYSEAL_LISTEN": "unix:/run/gateway.sock"]) == [
                "gateway.yaml:5: listeners.public.tls: is for TCP, but this listener is a Unix socket; remove it."
            ])
        let section = Examples.least("accounts:", "listeners: {admin: {mode: \"0600\"}}\naccounts:")
        let admin = try configuration(section, environment: ["PRIVYSEAL_ADMIN_LISTEN": "unix:/run/a.sock"])
            .adminListener
        #expect(admin?.mode?.bits == 0o600)
    }

    @Test("the reader refuses an invalid value in the file even if a variable overrides it")
    func both() {
        let text = "listen: nowhere\n" + Examples.least
        #expect(faults(in: text, environment: ["PRIVYSEAL_LISTEN": "127.0.0.1:1"]).count == 1)
    }

    @Test("the reader warns about an unknown PRIVYSEAL variable and ignores it")
    func unknown() throws {
        let configuration = try configuration(Examples.least, environment: ["PRIVYSEAL_LISTN": "127.0.0.1:1"])
        #expect(configuration.publicListener.address == .standard)
        #expect(
            configuration.warnings.map(\.description) == [
                "PRIVYSEAL_LISTN: is not a known variable; did you mean PRIVYSEAL_LISTEN? The variables are "
                    + "PRIVYSEAL_LISTEN, PRIVYSEAL_ADMIN_LISTEN, PRIVYSEAL_METRICS_LISTEN, PRIVYSEAL_VERIFICATION, "
                    + "PRIVYSEAL_LOG_LEVEL, PRIVYSEAL_LOG_FORMAT, PRIVYSEAL_DRAIN_DELAY, PRIVYSEAL_SHUTDOWN_GRACE_PERIOD."
            ])
    }
}
