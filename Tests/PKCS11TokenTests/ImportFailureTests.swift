import Crypto
import PKCS11
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

@Suite("Failing imports", .serialized, .softHSM, .timeLimit(.minutes(2)))
struct ImportFailureTests {
    private let module: FaultyModule
    private let token: SoftHSMToken
    private let key = P256.Signing.PrivateKey()
    private var uri: String { token.uri("object=KEY", modulePath: module.path) }

    init() throws {
        module = try FaultyModule.shared.get()
        token = try SoftHSM.shared.get().makeToken(modulePath: module.path)
        try module.fresh()
    }

    @Test(
        "a failed import leaves no object, whichever call fails",
        arguments: [
            "C_GenerateKey rv=0x30", "C_EncryptInit from=50 rv=0x30", "C_UnwrapKey rv=0x30",
            "C_GetAttributeValue from=10 rv=0x30", "C_SignInit rv=0x30", "C_Sign corrupt", "C_CreateObject rv=0xB3",
        ])
    func nothingLeft(_ rule: String) async throws {
        try module.follow(rule)
        #expect(await sentence { try await importKey(.plain(material(key)), uri) } != nil)
        try module.follow()
        #expect(try token.objectCount() == 0)
        try await importKey(.plain(material(key)), uri)
        try await withKey(uri) { _, opened in #expect(await fault(opened) == nil) }
    }

    @Test(
        "an import is refused and removed if the token does not report CKA_EXTRACTABLE of the new key",
        arguments: ["rv=0x12", "length=0"])
    func unreported(_ answer: String) async throws {
        try module.follow("C_GetAttributeValue attribute=0x162 \(answer)")
        let refused = await sentence { try await importKey(.plain(material(key)), uri) }
        #expect(refused?.contains("CKA_EXTRACTABLE is not there") == true, "\(refused ?? "")")
        try module.follow()
        #expect(try token.objectCount() == 0)
    }

    @Test("an import reports an object that it cannot remove, and continues when it is repeated")
    func hungCalls() async throws {
        // The first two objects to be destroyed are the template trial's and the AES key; the third is the private key.
        try module.follow("C_SignInit rv=0x30", "C_DestroyObject from=3 rv=0x30")
        let told = await sentence { try await importKey(.plain(material(key)), uri) }
        #expect(told?.contains("could not be removed") == true)
        try module.follow()
        #expect(try token.objects([Attribute(.privateKey)]).count == 1)
        #expect(try await importKey(.plain(material(key)), uri).method == .found)
        #expect(try token.objectCount() == 2)
    }

    @Test("an error of the token during the proof of an interrupted import destroys nothing")
    func errorInProof() async throws {
        try module.follow("C_SignInit rv=0x30", "C_DestroyObject from=3 rv=0x30")
        #expect(await sentence { try await importKey(.plain(material(key)), uri) } != nil)
        let destroyed = module.count("C_DestroyObject")
        try module.follow("C_SignInit rv=0x30")
        #expect(await sentence { try await importKey(.plain(material(key)), uri) } != nil)
        #expect(module.count("C_DestroyObject") == destroyed)
        try module.follow()
        #expect(try await importKey(.plain(material(key)), uri).method == .found)
        #expect(try token.objectCount() == 2)
    }

    @Test("a repeated import replaces a private key without a value")
    func keyWithoutValue() async throws {
        let id = Array(Insecure.SHA1.hash(data: key.publicKey.x963Representation))
        try token.importKey(key, label: "KEY", id: id, .with { $0.hasPublicKey = false })
        // Only the first key has no value: the third signature is the new key's.
        try module.follow("C_GetAttributeValue attribute=0x180 to=2 length=0", "C_Sign to=2 rv=0x5")
        #expect(try await importKey(.plain(material(key)), uri, isResumed: true).method == .unwrapped)
        #expect(try token.objectCount() == 2)
    }

    @Test(
        "an import keeps a private key that only hides its curve, fails for a moment, or is not known to be unfinished",
        arguments: [
            (isResumed: true, rule: "C_Sign from=99", id: ""), (isResumed: true, rule: "C_Sign to=1 rv=0x5", id: ""),
            (isResumed: true, rule: "C_Sign rv=0x30", id: ""), (isResumed: false, rule: "C_Sign rv=0x5", id: ""),
            (isResumed: true, rule: "C_Sign rv=0x5", id: ";id=%07"),
        ])
    func keyWithHiddenCurve(_ example: (isResumed: Bool, rule: String, id: String)) async throws {
        let id = example.id.isEmpty ? Array(Insecure.SHA1.hash(data: key.publicKey.x963Representation)) : [7]
        try token.importKey(key, label: "KEY", id: id, .with { $0.hasPublicKey = false })
        let uri = token.uri("object=KEY\(example.id)", modulePath: module.path)
        let destroyed = module.count("C_DestroyObject")
        try module.follow("C_GetAttributeValue attribute=0x180 length=0", example.rule)
        #expect(
            await sentence {
                try await importKey(.plain(material(key)), uri, isResumed: example.isResumed)
            } != nil)
        #expect(module.count("C_DestroyObject") == destroyed)
        try module.follow()
        #expect(try token.objects([Attribute(.privateKey)]).count == 1)
    }

    @Test("a repeated generation replaces a pair whose private key has no value")
    func pairWithoutValue() async throws {
        try token.generateKey(label: "KEY", id: [9])
        try module.follow("C_GetAttributeValue attribute=0x180 to=2 length=0", "C_Sign to=2 rv=0x5")
        let made = try await withProvisioningSession(uri) {
            try await $0.generate(as: $1, isResumed: true, tell: { _ in })
        }
        #expect(made.method == .generated)
        #expect(try token.objectCount() == 2)
    }

    @Test("an import reports a full token and a read-only token")
    func noRoom() async throws {
        try module.follow("C_UnwrapKey rv=0x31")
        #expect(await sentence { try await importKey(.plain(material(key)), uri) }?.contains("is full") == true)
        try module.follow("C_GetTokenInfo flags=2")
        #expect(await sentence { try await importKey(.plain(material(key)), uri) }?.contains("is read-only") == true)
        try module.follow()
        #expect(try token.objectCount() == 0)
    }

    @Test("an import into a token that cannot unwrap requires allowsClear and reports it")
    func clear() async throws {
        try module.follow("C_GetMechanismInfo mechanism=0x210a rv=0x70")
        let refused = await sentence { try await importKey(.plain(material(key)), uri) }
        #expect(refused?.contains("--allow-clear-import") == true)
        #expect(refused?.contains("CKM_AES_KEY_WRAP_KWP or CKM_AES_KEY_WRAP_PAD") == true)
        #expect(module.count("C_CreateObject") == 0)
        #expect(try token.objectCount() == 0)
        let placed = try await importKey(.plain(material(key)), uri, allowsClear: true)
        #expect(placed.method == .created)
        #expect(placed.warnings.contains { $0.contains("in the clear") })
        #expect(placed.attributes.contains { $0.name == "CKA_EXTRACTABLE" && $0.value == "false" })
        try await withKey(uri) { _, opened in #expect(await fault(opened) == nil) }
    }

    @Test("an import succeeds if the token does not destroy the trial object and the transport key")
    func indestructible() async throws {
        try module.follow("C_DestroyObject rv=0x1b")
        #expect(try await importKey(.plain(material(key)), uri).method == .unwrapped)
        let made = try await withProvisioningSession(token.uri("object=MADE", modulePath: module.path)) {
            try await $0.generate(as: $1, isResumed: false, tell: { _ in })
        }
        #expect(made.evidence["CKA_LABEL"] == "MADE")
        try module.follow()
        #expect(try token.objectCount() == 4, "two pairs; what is left of trials ends with the session")
    }

    @Test("an import sends a refused PIN to the token once")
    func wrongPIN() async throws {
        let pinFile = try token.pinFile(holding: "not-the-pin-\(UInt64.random(in: 0 ... .max))\n")
        let wrong = token.uri("object=KEY", modulePath: module.path, pinFile: pinFile)
        for _ in 0..<3 { #expect(await sentence { try await importKey(.plain(material(key)), wrong) } != nil) }
        #expect(module.count("C_Login") == 1)
    }
}
