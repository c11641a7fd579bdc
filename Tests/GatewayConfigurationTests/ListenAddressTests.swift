import GatewayConfiguration
import Testing

@Suite("The gateway listens on this machine only")
struct ListenAddressTests {
    typealias ListenAddress = GatewayConfiguration.ListenAddress

    @Test(
        "loopback addresses and Unix sockets are read, and written as they came",
        arguments: [
            ("127.0.0.1:8080", ListenAddress.tcp(host: "127.0.0.1", port: 8080)),
            ("127.255.255.254:1", .tcp(host: "127.255.255.254", port: 1)),
            ("localhost:65535", .tcp(host: "localhost", port: 65535)),
            ("[::1]:0", .tcp(host: "::1", port: 0)),
            ("[0:0:0:0:0:0:0:1]:8080", .tcp(host: "0:0:0:0:0:0:0:1", port: 8080)),
            ("unix:/run/privyseal/gateway.sock", .unixSocket(path: "/run/privyseal/gateway.sock")),
        ])
    func allowed(_ text: String, _ address: ListenAddress) throws {
        let configuration = try configuration(Examples.least, environment: ["PRIVYSEAL_LISTEN": text])
        #expect(configuration.listen == address)
        #expect(configuration.listen.description == text)
    }

    @Test(
        "all other addresses are refused with the cure",
        arguments: [
            ("0.0.0.0:8080", "is not a loopback address; until callers can be told apart"),
            ("192.168.1.2:8080", "is not a loopback address"), ("[::]:8080", "is not a loopback address"),
            ("[::ffff:127.0.0.1]:8080", "is not a loopback address"), ("example.com:80", "is not a loopback address"),
            (":8080", "is not a loopback address"), ("127.1:8080", "is not a loopback address"),
            ("127.0.0.01:8080", "is not a loopback address"), ("127.0.0.1.:8080", "is not a loopback address"),
            ("::1:8080", "must have an IPv6 address in brackets"), ("[::1]", "must have an IPv6 address in brackets"),
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
