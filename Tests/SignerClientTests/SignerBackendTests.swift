import Crypto
import SignerProtocol
import SigningKitTesting
import Synchronization
import Testing

@testable import SignerClient
@testable import SigningKit

@Suite("Keys in signers")
struct SignerBackendTests {
    typealias Backend = SignerBackend<FakeKeyBackend>

    static let digest = SHA256.hash(data: Array("a digest".utf8))

    static func environment(
        _ signer: TestSigner, processes: Int = 1, name: String, _ events: ReportedEvents = ReportedEvents()
    ) -> KeyBackendEnvironment {
        var settings = SignerSettings(name: name)
        settings.socket = signer.path
        settings.processes = processes
        return KeyBackendEnvironment(
            settings: PluginSettings(defaultsOf: FakeKeyBackend.settings), secrets: NoSecrets(), signer: settings,
            report: events.note)
    }

    static func open(
        _ uri: String, _ environment: KeyBackendEnvironment
    ) async throws -> (backend: Backend, key: any SigningKey) {
        let address = try Backend.address(of: KeyURI(uri))
        let backend = try await Backend.open(address.locator, in: environment)
        return (backend, try await backend.key(address.selector))
    }

    @Test("A key in a signer signs, and its backend reports what the signer reports")
    func signs() async throws {
        let place = FakeBackendLocation("signer-signs")
        let uri = place.add("k")
        let signer = try TestSigner()
        defer { signer.close() }
        let (backend, key) = try await Self.open(uri, Self.environment(signer, name: "signs"))
        #expect(key.publicKey.verifies(try await key.sign(Self.digest), of: Self.digest))
        #expect(await backend.health() == .ready)
        place.health = .degraded("Something.")
        #expect(await backend.health() == .degraded("Something."))
        await backend.close()
        #expect(!place.isOpen)
        await #expect(throws: KeyError.self) { try await key.sign(Self.digest) }
    }

    @Test("An error of the hosted backend arrives as it is")
    func errors() async throws {
        let place = FakeBackendLocation("signer-errors")
        let uri = place.add("k")
        let signer = try TestSigner()
        defer { signer.close() }
        let environment = Self.environment(signer, name: "errors")
        place.openingFault = .loginRefused("The PIN is wrong.")
        await #expect(throws: KeyError.loginRefused("The PIN is wrong.")) { try await Self.open(uri, environment) }
        place.openingFault = nil
        await #expect(throws: KeyError.self) { try await Self.open("fake:signer-errors;key=absent", environment) }
        let (backend, key) = try await Self.open(uri, environment)
        place.failNext(.busy, .failed("No."))
        await #expect(throws: KeyError.busy) { try await key.sign(Self.digest) }
        await #expect(throws: KeyError.failed("No.")) { try await key.sign(Self.digest) }
        #expect(key.publicKey.verifies(try await key.sign(Self.digest), of: Self.digest))
        await backend.close()
    }

    @Test("After the loss of its process, a key signs again in a new one")
    func loss() async throws {
        let place = FakeBackendLocation("signer-loss")
        let uri = place.add("k")
        let signer = try TestSigner()
        defer { signer.close() }
        let events = ReportedEvents()
        let (backend, key) = try await Self.open(uri, Self.environment(signer, name: "loss", events))
        _ = try await key.sign(Self.digest)
        signer.cut()
        #expect(await events.first(.signerLost)?.label == "loss")
        #expect(key.publicKey.verifies(try await signature(of: Self.digest, by: key), of: Self.digest))
        #expect(signer.count == 2)
        await backend.close()
    }

    @Test("With two processes, the loss of one fails no request")
    func twoProcesses() async throws {
        let place = FakeBackendLocation("signer-two")
        let uri = place.add("k")
        let signer = try TestSigner()
        defer { signer.close() }
        let (backend, key) = try await Self.open(uri, Self.environment(signer, processes: 2, name: "two"))
        #expect(signer.count == 2)
        for round in 1...20 {
            let tasks = (0..<2).map { _ in Task { try await key.sign(Self.digest) } }
            if round % 5 == 0 { signer.cut() }
            for task in tasks { #expect(key.publicKey.verifies(try await task.value, of: Self.digest)) }
            if round % 5 == 0 { try await Self.wait { signer.count == 2 + round / 5 && Self.report("two").count == 2 } }
        }
        await backend.close()
    }

    @Test("A location with another key under the same name is refused after a loss")
    func otherKey() async throws {
        let place = FakeBackendLocation("signer-other")
        let uri = place.add("k")
        let signer = try TestSigner()
        defer { signer.close() }
        let (backend, key) = try await Self.open(uri, Self.environment(signer, name: "other"))
        place.add("k", P256.Signing.PrivateKey())
        signer.cut()
        try await Self.wait { signer.count == 2 && Self.report("other").count == 1 }
        await #expect {
            try await key.sign(Self.digest)
        } throws: { error in
            (error as? KeyError)?.description.contains("another key") == true
        }
        await backend.close()
    }

    @Test("A key that is absent after a loss signs again when it is back")
    func absentKey() async throws {
        let place = FakeBackendLocation("signer-absent")
        let known = P256.Signing.PrivateKey()
        let uri = place.add("k", known)
        let signer = try TestSigner()
        defer { signer.close() }
        let (backend, key) = try await Self.open(uri, Self.environment(signer, name: "absent"))
        place.remove("k")
        signer.cut()
        try await Self.wait { signer.count == 2 && Self.report("absent").count == 1 }
        await #expect(throws: KeyError.self) { try await key.sign(Self.digest) }
        place.add("k", known)
        #expect(key.publicKey.verifies(try await signature(of: Self.digest, by: key), of: Self.digest))
        #expect(signer.count == 2)
        await backend.close()
    }

    @Test("A process in which a key fails for a second is replaced, if a new one can sign with it")
    func wornOut() async throws {
        let place = FakeBackendLocation("signer-worn")
        let uri = place.add("k")
        let signer = try TestSigner()
        defer { signer.close() }
        let events = ReportedEvents()
        let (backend, key) = try await Self.open(uri, Self.environment(signer, name: "worn", events))
        _ = try await key.sign(Self.digest)
        // A single failure shows nothing.
        place.failNext(.unavailable("Once."))
        await #expect(throws: KeyError.unavailable("Once.")) { try await key.sign(Self.digest) }
        _ = try await key.sign(Self.digest)
        place.wearOut(.unavailable("It has no descriptor left."))
        #expect(key.publicKey.verifies(try await signature(of: Self.digest, by: key), of: Self.digest))
        #expect(signer.count == 2 && Self.report("worn").count == 1)
        #expect(await events.first(.signerReplaced)?.reason == "A key failed in it. It has no descriptor left.")
        await backend.close()
    }

    @Test("A process stays if a new one cannot sign with the key either")
    func absentForAll() async throws {
        let place = FakeBackendLocation("signer-out")
        let uri = place.add("k")
        let signer = try TestSigner()
        defer { signer.close() }
        let events = ReportedEvents()
        let (backend, key) = try await Self.open(uri, Self.environment(signer, name: "out", events))
        let first = Self.report("out")
        place.outage = .unavailable("The token is away.")
        let end = ContinuousClock.now + .seconds(10)
        while signer.count < 2, .now < end {
            await #expect(throws: KeyError.unavailable("The token is away.")) { try await key.sign(Self.digest) }
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(signer.count == 2)
        // It waits for the attempt, and fails for the same reason.
        await #expect(throws: KeyError.unavailable("The token is away.")) {
            try await Signers.shared.restart("out", because: "A test.")
        }
        #expect(Self.report("out").map(\.pid) == first.map(\.pid))
        place.outage = nil
        #expect(key.publicKey.verifies(try await key.sign(Self.digest), of: Self.digest))
        #expect(events.all.filter { $0.kind == .signerReplaced }.isEmpty)
        await backend.close()
    }

    @Test("A restart replaces the process without a failed signature; one that cannot open the key changes nothing")
    func restart() async throws {
        let place = FakeBackendLocation("signer-restart")
        let uri = place.add("k")
        let signer = try TestSigner()
        defer { signer.close() }
        let events = ReportedEvents()
        let (backend, key) = try await Self.open(uri, Self.environment(signer, name: "restart", events))
        let stop = Flag()
        let load = Task { try await Self.load(key, until: stop) }
        for number in 1...5 {
            #expect(try await Signers.shared.restart("restart", because: "A test."))
            #expect(signer.count == 1 + number)
        }
        place.openingFault = .unavailable("The token is gone.")
        await #expect(throws: KeyError.unavailable("The token is gone.")) {
            try await Signers.shared.restart("restart", because: "A test.")
        }
        #expect(Self.report("restart").count == 1)
        stop.isSet.withLock { $0 = true }
        #expect(try await load.value > 0)
        #expect(events.all.filter { $0.kind == .signerReplaced }.count == 5)
        #expect(try await !Signers.shared.restart("nothing of this name", because: "A test."))
        await backend.close()
    }

    @Test("A cancelled caller returns at once, and its late signature disturbs no one")
    func cancellation() async throws {
        let place = FakeBackendLocation("signer-cancel")
        let uri = place.add("k")
        let signer = try TestSigner()
        defer { signer.close() }
        let (backend, key) = try await Self.open(uri, Self.environment(signer, name: "cancel"))
        place.hold()
        let task = Task { try await key.sign(Self.digest) }
        try await Self.wait { Signers.shared.report().first { $0.name == "cancel" }?.processes.first?.inProgress == 1 }
        task.cancel()
        await #expect(throws: KeyError.cancelled) { try await task.value }
        place.release()
        #expect(key.publicKey.verifies(try await key.sign(Self.digest), of: Self.digest))
        #expect(signer.count == 1)
        await backend.close()
    }

    @Test("A signature past the dispatcher is a signature without a record")
    func withoutRecord() async throws {
        let place = FakeBackendLocation("signer-record")
        let uri = place.add("k")
        let signer = try TestSigner()
        defer { signer.close() }
        let (backend, key) = try await Self.open(uri, Self.environment(signer, name: "record"))
        // Other tests sign at the same time, so this number may grow by more.
        let before = SignatureCounts.shared.returnedCount
        _ = try await key.sign(Self.digest)
        #expect(SignatureCounts.shared.returnedCount > before)
        let counts = SignatureCounts()
        counts.noteReturned()
        #expect(counts.withoutRecord == 1)
        counts.settle()
        #expect(counts.withoutRecord == 0)
        await backend.close()
    }

    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }

    static func report(_ name: String) -> [SignerStatus.Process] {
        Signers.shared.report().filter { $0.name == name }.flatMap(\.processes)
    }

    private static func load(_ key: any SigningKey, until stop: Flag) async throws -> Int {
        var count = 0
        while !stop.isSet.withLock({ $0 }) {
            _ = try await key.sign(digest)
            count += 1
        }
        return count
    }

    /// For ten seconds at most.
    static func wait(_ condition: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(10)
        while !condition(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(condition())
    }
}
