import Glibc
import ServiceManager
import Testing

@Suite("The notification socket")
struct NotifySocketTests {
    @Test(
        "messages reach a path socket and an abstract socket", arguments: [Listener.Place.path, .abstract])
    func places(_ place: Listener.Place) throws {
        let listener = try #require(Listener(place))
        let socket = try #require(NotifySocket(address: listener.address))
        #expect(socket.send(.ready))
        #expect(listener.receive() == "READY=1\n")
        #expect(socket.send(.stopping))
        #expect(listener.receive() == "STOPPING=1\n")
        #expect(socket.send(.watchdog))
        #expect(listener.receive() == "WATCHDOG=1\n")
        #expect(listener.receive() == nil)
    }

    @Test("related messages share one datagram")
    func together() throws {
        let listener = try #require(Listener(.abstract))
        let socket = try #require(NotifySocket(address: listener.address))
        socket.send(.ready, .status("3 keys are ready"))
        #expect(listener.receive() == "READY=1\nSTATUS=3 keys are ready\n")
    }

    @Test("a reload message carries the monotonic time in microseconds")
    func reloading() throws {
        let listener = try #require(Listener(.abstract))
        let before = Self.monotonic()
        try #require(NotifySocket(address: listener.address)).send(.reloading)
        let after = Self.monotonic()
        let lines = try #require(listener.receive()).split(separator: "\n")
        #expect(lines.first == "RELOADING=1")
        let time = try #require(lines.last?.split(separator: "=").last.flatMap { Int($0) })
        #expect(lines.last?.hasPrefix("MONOTONIC_USEC=") == true)
        #expect((before...after).contains(time))
    }

    @Test("a status cannot inject another message")
    func status() throws {
        let listener = try #require(Listener(.abstract))
        try #require(NotifySocket(address: listener.address)).send(.status("late\nMAINPID=1\r\u{7F}é"))
        #expect(listener.receive() == "STATUS=late MAINPID=1  é\n")
    }

    @Test("send returns false if the service manager is gone")
    func gone() throws {
        let socket = try #require(NotifySocket(address: "/tmp/privyseal-nobody-listens-here"))
        #expect(!socket.send(.ready))
    }

    @Test("an unusable NOTIFY_SOCKET gives no socket")
    func environment() {
        let useless: [String?] = [
            nil, "", "@", "/", "relative/path", "vsock:2:1234", "/nul\u{0}", "/" + String(repeating: "p", count: 107),
        ]
        for value in useless {
            #expect(NotifySocket { name in name == "NOTIFY_SOCKET" ? value : nil } == nil, "\(value ?? "nil")")
        }
        #expect(NotifySocket { name in name == "NOTIFY_SOCKET" ? "/run/systemd/notify" : nil } != nil)
        #expect(NotifySocket(address: "/" + String(repeating: "p", count: 106)) != nil)
    }

    private static func monotonic() -> Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1_000_000 + now.tv_nsec / 1000
    }
}
