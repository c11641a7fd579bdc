import Foundation
import PKCS11
import SoftHSMTesting
import Synchronization
import Testing

@Suite("Modules, sessions and objects", .serialized, .softHSM, .timeLimit(.minutes(1)))
struct ModuleTests {
    private let hsm: SoftHSM
    private let token: SoftHSMToken

    init() throws {
        hsm = try SoftHSM.shared.get()
        token = try hsm.makeToken()
        try token.generateKey(label: "KEY", id: [1])
    }

    private func withSession(_ body: (Session) throws -> Void) throws {
        let module = try Module.open(path: hsm.modulePath)
        defer { module.close() }
        let session = try Session(on: slot(in: module), of: module)
        try Array(token.pin.utf8).withUnsafeBytes { try session.login(pin: $0) }
        try body(session)
        try session.close()
    }

    private func slot(in module: Module) throws -> SlotID {
        try #require(try module.slots().first { try module.tokenInfo(of: $0).serial == token.serial })
    }

    @Test("one library is one module, whichever path opens it")
    func shared() throws {
        let link = hsm.directory.appending(path: "link-\(UUID().uuidString).so").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: hsm.modulePath)
        let one = try Module.open(path: hsm.modulePath)
        let other = try Module.open(path: link)
        #expect(one === other)
        one.close()
        // The other user still has the module open.
        #expect(try !other.slots().isEmpty)
        other.close()
        #expect(throws: PKCS11Error(.getSlotList, .cryptokiNotInitialized)) { try other.slots() }
    }

    @Test("opening a missing file or a file that is not a module is an error")
    func unloadable() throws {
        let error = #expect(throws: PKCS11Error.self) { try Module.open(path: "/no/such.so") }
        #expect(error?.function == .loadModule)
        #expect(error?.description.contains("/no/such.so") == true)
        #expect(throws: PKCS11Error.self) { try Module.open(path: "/etc/passwd") }
    }

    @Test("tokenInfo returns the label, manufacturer and flags of the token")
    func tokenInfo() throws {
        let module = try Module.open(path: hsm.modulePath)
        defer { module.close() }
        let info = try module.tokenInfo(of: slot(in: module))
        #expect(info.label == token.label)
        #expect(info.manufacturer == "SoftHSM project")
        #expect(info.flags.contains([.loginRequired, .tokenInitialized]))
        #expect(info.flagNames.contains("CKF_USER_PIN_INITIALIZED"))
        #expect(!info.flags.contains(.userPINLocked))
        #expect(info.maximumSessions == nil)
        #expect(info.uriAttributes["token"] == Array(token.label.utf8))
        #expect(info.uriAttributes["serial"] == Array(token.serial.utf8))
    }

    @Test("a text field ends at its padding, which is blanks or a NUL")
    func padding() {
        for field in ["my shop", "my shop   ", "my shop\0\0", "my shop \0rest"] {
            #expect(TokenInfo.withoutPadding(field.utf8) == Array("my shop".utf8))
        }
        #expect(TokenInfo.withoutPadding("   ".utf8).isEmpty)
    }

    @Test("a wrong PIN is an error with the function and the name of the return value")
    func wrongPIN() throws {
        let module = try Module.open(path: hsm.modulePath)
        defer { module.close() }
        let session = try Session(on: slot(in: module), of: module)
        let error = #expect(throws: PKCS11Error.self) {
            try Array("wrong".utf8).withUnsafeBytes { try session.login(pin: $0) }
        }
        #expect(error?.description == "C_Login answered CKR_PIN_INCORRECT")
        #expect(try !session.isLoggedIn())
    }

    @Test("objects are found by their attributes, and their values can be read")
    func objects() throws {
        try withSession { session in
            #expect(try session.isLoggedIn())
            let keys = try session.objects(with: [Attribute(.privateKey), Attribute(.label, text: "KEY")])
            let key = try #require(keys.first)
            #expect(keys.count == 1)
            #expect(try session.value(of: .id, in: key) == [1])
            #expect(try session.number(.keyType, of: key) == KeyType.ec.rawValue)
            #expect(try session.flag(.sensitive, of: key) == true)
            #expect(try session.value(of: .ecPoint, in: key) == nil)
            #expect(throws: PKCS11Error(.getAttributeValue, .attributeSensitive)) {
                try session.value(of: .value, in: key)
            }
            #expect(try session.objects(with: [Attribute(.privateKey), Attribute(.label, text: "NONE")]).isEmpty)
        }
    }

    @Test("a signature over P-256 has 64 bytes")
    func signs() throws {
        try withSession { session in
            let key = try #require(try session.objects(with: [Attribute(.privateKey)]).first)
            let signer = Signer(session, .ecdsa)
            let digest = [UInt8](repeating: 7, count: 32)
            for _ in 0..<10 {
                let count = try digest.withUnsafeBytes { try signer.sign($0, with: key).count }
                #expect(count == 64)
            }
            #expect(throws: PKCS11Error.self) {
                try digest.withUnsafeBytes { _ = try signer.sign($0, with: ObjectHandle(rawValue: 9999)) }
            }
        }
    }

    @Test("reinitialize makes old sessions fail without a call, and acts once for one cause")
    func reinitialised() throws {
        let module = try Module.open(path: hsm.modulePath)
        defer { module.close() }
        let session = try Session(on: slot(in: module), of: module)
        let generation = module.generation
        #expect(try module.reinitialize(after: generation, within: 1000))
        #expect(module.generation == generation + 1)
        #expect(try module.reinitialize(after: generation, within: 1000))
        #expect(module.generation == generation + 1)
        #expect(throws: PKCS11Error(.getSessionInfo, .cryptokiNotInitialized)) { try session.isLoggedIn() }
        #expect(try Session(on: slot(in: module), of: module).isLoggedIn() == false)
    }

    @Test("reinitialize runs between the calls of signing threads without a crash")
    func reinitialisedUnderLoad() async throws {
        let module = try Module.open(path: hsm.modulePath)
        defer { module.close() }
        let isDone = Flag(), hasBegun = Flag()
        let slots = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                var calls = 0
                while !isDone.value.load(ordering: .relaxed) {
                    calls += try module.slots().isEmpty ? 0 : 1
                    hasBegun.value.store(true, ordering: .relaxed)
                }
                return calls
            }
            while !hasBegun.value.load(ordering: .relaxed) { await Task.yield() }
            for _ in 0..<20 { #expect(try module.reinitialize(after: module.generation, within: 5000)) }
            isDone.value.store(true, ordering: .relaxed)
            return try await group.reduce(0, +)
        }
        #expect(slots > 0)
    }

    @Test("return values have the names of the standard")
    func names() {
        #expect(ReturnValue.sessionHandleInvalid.description == "CKR_SESSION_HANDLE_INVALID")
        #expect(ReturnValue(rawValue: 0x8000_0001).description == "CKR 0x80000001")
    }
}

private final class Flag: Sendable {
    let value = Atomic<Bool>(false)
}
