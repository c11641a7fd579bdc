import GatewayConfiguration
import Testing

@Suite("Listener addresses")
struct ListenAddressTests {
    typealias ListenAddress = GatewayConfiguration.ListenAddress

    @Test(
        "loopback addresses and Unix sockets are unchanged after reading and printing",
        arguments: [
            ("127.0.0.1:8080", ListenAddress.tcp(host: "127.0.0.1", port: 8080)),
            ("127.255.255.254:1", .tcp(host: "127.255.255.254", port: 1)),
            ("localhost:65535", .tcp(host: "localhost", port: 65535)),
            ("[::1]:0", .tcp(host: "::1", port: 0)),
            ("[0:0:0:0:0:0:0:1]:8080", .tcp(host: "0:0:0:0:0:0:0:1", port: 8080)),
            ("unix:/run/privyseal/gateway.sock", .unixSocket(path: "/run/privyseal/gateway.sock")),
        ])
    func local(_ text: String, _ address: ListenAddress) throws {
        let configuration = try configuration(Examples.least, environment: ["PRIVYSEAL_LISTEN": text])
        #expect(configuration.publicListener.address == address)
        #expect(configuration.publicListener.address.description == text)
        #expect(configuration.publicListener.address.staysOnMachine)
    }

    @Test(
        "an address that other machines reach needs TLS or a proxy",
        arguments: [
            "0.0.0.0:8080", "192.168.1.2:8080", "[::]:8080", "[::ffff:127.0.0.1]:8080", "[fe80::1]:8080",
            "example.com:80",
            "gateway:80", "localhost.example.com:80", "LOCALHOST:1", "126.0.0.1:1", "[::2]:1",
        ])
    func elsewhere(_ text: String) throws {
        #expect(
            faults(in: Examples.least, environment: ["PRIVYSEAL_LISTEN": text]) == [
                "PRIVYSEAL_LISTEN: can be reached from other machines without TLS, so others could read the traffic; "
                    + "give listeners.public.tls with a certificate and a key, or set listeners.public.behindProxy: "
                    + "true if a proxy in front terminates TLS, or listen on 127.0.0.1, [::1] or a Unix socket."
            ])
        let configuration = try configuration(Examples.network, environment: ["PRIVYSEAL_LISTEN": text])
        #expect(configuration.publicListener.address.description == text)
        #expect(!configuration.publicListener.address.staysOnMachine)
    }

    @Test(
        "the reader refuses an invalid address and names the cure",
        arguments: [
            (":8080", "has no address before its port; write one such as 127.0.0.1:8080"),
            ("127.1:8080", "has neither an IPv4 address nor a host name before its port"),
            ("127.0.0.01:8080", "has neither an IPv4 address"), ("127.0.0.1.:8080", "has neither an IPv4 address"),
            ("256.0.0.1:80", "has neither an IPv4 address"), ("ex ample:80", "has neither an IPv4 address"),
            ("-a.example:80", "has neither"), ("exämple.com:80", "has neither"),
            ("::1:8080", "must have an IPv6 address in brackets"), ("[::1]", "must have an IPv6 address in brackets"),
            ("[127.0.0.1]:80", "has brackets, but no IPv6 address in them"),
            ("[fe80::1%eth0]:80", "has brackets, but no IPv6 address in them"),
            ("[::1\0x]:80", "has brackets, but no IPv6 address in them"),
            ("127.0.0.1\0:80", "has neither an IPv4 address"),
            ("127.0.0.1", "has no port"),
            ("127.0.0.1:65536", "must end in a port from 0 to 65535"), ("127.0.0.1:-1", "must end in a port"),
            ("127.0.0.1:+80", "must end in a port"), ("127.0.0.1:", "must end in a port"),
            ("/run/gateway.sock", "is a path; write unix: in front of it"),
            ("unix:run/gateway.sock", "must name the socket by its absolute path"),
            ("unix:/run/", "is not the path of a file"), ("unix:/run/a\nb", "is not the path of a file"),
            ("unix:/" + String(repeating: "a", count: 200), "has a path of 201 bytes"),
        ])
    func refused(_ text: String, _ beginning: String) throws {
        let lines = faults(in: Examples.least, environment: ["PRIVYSEAL_LISTEN": text])
        #expect(lines.count == 1)
        #expect(try #require(lines.first).hasPrefix("PRIVYSEAL_LISTEN: " + beginning))
    }
}
