import Foundation
import SignerClient
import SigningKit
import Testing

@Suite("The history of logins")
final class LoginHistoryFileTests {
    static let attempt = LoginAttempt(token: "m/t/1/a", secret: "1:2:3:4.5")

    private let directory = FileManager.default.temporaryDirectory.appending(path: "logins-\(UUID())").path

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    @Test("Another process sees a refused secret, and a changed file is another secret")
    func refusal() throws {
        let first = LoginHistoryFile(directory: directory)
        #expect(try first.record(of: Self.attempt) == nil)
        try first.note(.begun, of: Self.attempt)
        try first.note(.refused, of: Self.attempt)
        let second = LoginHistoryFile(directory: directory)
        #expect(try second.record(of: Self.attempt)?.state == .refused)
        #expect(try second.record(of: LoginAttempt(token: "m/t/1/a", secret: "1:9:3:4.5")) == nil)
        #expect(try second.record(of: LoginAttempt(token: "m/t/2/a", secret: "1:2:3:4.5")) == nil)
    }

    @Test("Attempts without a result are counted until a clear one")
    func unclear() throws {
        let history = LoginHistoryFile(directory: directory)
        for count in 1...3 {
            try history.note(.begun, of: Self.attempt)
            #expect(try history.record(of: Self.attempt)?.unclearCount == count)
        }
        try history.note(.accepted, of: Self.attempt)
        #expect(try history.record(of: Self.attempt)?.wasAccepted == true)
        try history.note(.begun, of: Self.attempt)
        let record = try #require(try history.record(of: Self.attempt))
        #expect((record.state, record.wasAccepted, record.unclearCount) == (.begun, true, 1))
    }

    @Test("An attempt that the token did not check counts as one without a result")
    func unchecked() throws {
        let history = LoginHistoryFile(directory: directory)
        for count in 1...3 {
            try history.note(.begun, of: Self.attempt)
            try history.note(.unchecked, of: Self.attempt)
            let record = try #require(try history.record(of: Self.attempt))
            #expect((record.state, record.wasAccepted, record.unclearCount) == (.unchecked, false, count))
        }
    }

    @Test("The gateway knows when it began an attempt, for each of its signers; another process does not")
    func attemptTime() throws {
        let history = LoginHistoryFile(directory: directory)
        let before = MonotonicTime.nanoseconds()
        var own = Self.attempt
        own.signer = "own"
        try history.note(.begun, of: own)
        let time = try #require(try history.record(of: Self.attempt)?.attemptedAt)
        #expect((before...MonotonicTime.nanoseconds()).contains(time))
        try history.note(.unclear, of: own)
        #expect(try history.record(of: own)?.attemptedAt == time)
        let elsewhere = try #require(try LoginHistoryFile(directory: directory).record(of: own))
        #expect(elsewhere.attemptedAt == nil)
    }

    @Test("If the time of an attempt is forgotten, no order before that permits another one")
    func forgottenAttemptTime() throws {
        let history = LoginHistoryFile(directory: directory + "/none", makesDirectory: false)
        try history.note(.begun, of: Self.attempt)
        let time = try #require(try history.record(of: Self.attempt)?.attemptedAt)
        for number in 0..<4096 {
            var madeUp = LoginAttempt(token: "\(number)", secret: "s")
            madeUp.signer = "other"
            try history.note(.begun, of: madeUp)
        }
        #expect(try #require(try history.record(of: Self.attempt)?.attemptedAt) > time)
    }

    @Test("The file holds at most 256 entries of a signer, and other users cannot read it")
    func limits() throws {
        let history = LoginHistoryFile(directory: directory)
        for number in 0..<300 {
            try history.note(.accepted, of: LoginAttempt(token: "t", secret: "\(number)"))
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/logins.json")
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let text = try String(contentsOfFile: directory + "/logins.json", encoding: .utf8)
        #expect(text.components(separatedBy: "attempt").count - 1 == 256)
        #expect(try LoginHistoryFile(directory: directory).record(of: LoginAttempt(token: "t", secret: "299")) != nil)
    }

    @Test("The attempts of one signer neither displace nor change those of another")
    func signers() throws {
        let history = LoginHistoryFile(directory: directory)
        var (own, other) = (Self.attempt, Self.attempt)
        (own.signer, other.signer) = ("own", "other")
        try history.note(.refused, of: own)
        // A signer with a new name begins with what is known of the token and the secret.
        #expect(try history.record(of: other)?.state == .refused)
        // What one signer was told about a PIN holds for all.
        try history.note(.begun, of: other)
        #expect(try history.record(of: own)?.state == .refused)
        for number in 0..<300 {
            var attempt = LoginAttempt(token: "t", secret: "\(number)")
            attempt.signer = "other"
            try history.note(.accepted, of: attempt)
        }
        #expect(try LoginHistoryFile(directory: directory).record(of: own)?.state == .refused)
    }

    @Test("A damaged file permits no login")
    func damage() throws {
        let history = LoginHistoryFile(directory: directory)
        try history.note(.accepted, of: Self.attempt)
        try Data("[{".utf8).write(to: URL(filePath: directory + "/logins.json"))
        #expect(throws: KeyError.self) { try history.record(of: Self.attempt) }
        #expect(throws: KeyError.self) { try history.note(.begun, of: Self.attempt) }
    }
}
