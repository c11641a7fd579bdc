import Crypto
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

@Suite("Key lookup", .serialized, .softHSM, .timeLimit(.minutes(1)))
struct LookupTests {
    private let hsm: SoftHSM
    private let token: SoftHSMToken

    init() throws {
        hsm = try SoftHSM.shared.get()
        token = try hsm.makeToken()
    }

    @Test("a message shortens a long label and a long ID")
    func longLabel() async throws {
        let long = String(repeating: "x", count: 10_000)
        try token.generateKey(label: long, id: [UInt8](repeating: 0x0A, count: 10_000))
        guard case .notFound(let sentence) = await refusal(of: token.uri("object=ABSENT")) else {
            Issue.record("a key answers to a label that no key has")
            return
        }
        #expect(sentence.contains("object=xxx") && sentence.utf8.count < 2000)
        // The search compares the whole label.
        try await withKey(token.uri("object=\(long)")) { _, key in #expect(await fault(key) == nil) }
    }

    @Test("two keys with one label are refused with a list of both, and each is found by its ID")
    func twins() async throws {
        try token.generateKey(label: "TWIN", id: [0x0A])
        try token.generateKey(label: "TWIN", id: [0x0B])
        guard case .ambiguous(let sentence) = await refusal(of: token.uri("object=TWIN")) else {
            Issue.record("two keys answer to one label")
            return
        }
        #expect(sentence.contains("id=%0A") && sentence.contains("id=%0B"))
        try await withKey(token.uri("object=TWIN;id=%0A")) { _, first in
            try await withKey(token.uri("object=TWIN;id=%0B")) { _, second in
                #expect(first.publicKey.x963Representation != second.publicKey.x963Representation)
                #expect(await fault(first) == nil)
                #expect(await fault(second) == nil)
            }
        }
    }

    @Test("a URI without key attributes means the token's only key")
    func onlyKey() async throws {
        try token.generateKey(label: "ONLY", id: [1])
        try await withKey(token.uri("")) { _, key in #expect(await fault(key) == nil) }
        try token.generateKey(label: "SECOND", id: [2])
        guard case .ambiguous = await refusal(of: token.uri("")) else {
            Issue.record("a token with two keys has no only key")
            return
        }
    }

    @Test("the error for a missing key lists the existing keys")
    func missing() async throws {
        try token.generateKey(label: "PRESENT", id: [0xC5])
        guard case .notFound(let sentence) = await refusal(of: token.uri("object=ABSENT")) else {
            Issue.record("a key was found that is not there")
            return
        }
        #expect(sentence.contains("object=PRESENT, id=%C5"))
    }

    @Test("a token whose texts are padded with NUL is found by its label and serial number")
    func nulPadding() async throws {
        let module = try FaultyModule.shared.get()
        let padded = try hsm.makeToken(modulePath: module.path)
        try padded.generateKey(label: "KEY", id: [1])
        try module.fresh()
        try module.follow("C_GetTokenInfo nulpad")
        try await withKey(padded.uri("serial=\(padded.serial);object=KEY")) { _, key in
            #expect(await fault(key) == nil)
        }
        try module.follow()
    }

    @Test("the error distinguishes a module without initialized tokens from one without slots")
    func uninitialized() async throws {
        try hsm.removeTokens()
        guard case .notFound(let sentence) = await refusal(of: token.uri("object=KEY")) else {
            Issue.record("a token was found where there is none")
            return
        }
        #expect(sentence.contains("None of the module's 1 slots holds an initialized token"), "\(sentence)")
    }

    @Test("a library that cannot lock is refused with the cure and not tried again")
    func cannotLock() async throws {
        let module = try FaultyModule.shared.get()
        try module.fresh()
        try module.follow("C_Initialize rv=0xa")
        guard case .unfit(let sentence) = await refusal(of: token.uri("object=KEY", modulePath: module.path)) else {
            Issue.record("a library that does not lock was taken")
            return
        }
        #expect(sentence.contains("CKR_CANT_LOCK") && sentence.contains("CKF_OS_LOCKING_OK"), "\(sentence)")
        try module.follow()
    }

    @Test("the error for a missing token lists the existing ones, and for two equal labels their serials")
    func tokens() async throws {
        let uri = "pkcs11:token=absent;object=KEY?module-path=\(token.modulePath)"
        guard case .notFound(let sentence) = await refusal(of: uri) else {
            Issue.record("a token was found that is not there")
            return
        }
        #expect(sentence.contains(token.label) && sentence.contains(token.serial))
        let twin = try hsm.makeToken(label: token.label)
        guard case .ambiguous(let list) = await refusal(of: token.uri("object=KEY")) else {
            Issue.record("two tokens answer to one label")
            return
        }
        #expect(list.contains(token.serial) && list.contains(twin.serial))
    }

    @Test("an unprotected key is refused with the reason unless a setting allows it")
    func unprotected() async throws {
        try token.generateKey(label: "READABLE", id: [1], .with { ($0.isSensitive, $0.isExtractable) = (false, true) })
        try token.generateKey(label: "WRAPPABLE", id: [2], .with { $0.isExtractable = true })
        let faults = [
            "READABLE": ["CKA_SENSITIVE is false", "CKA_EXTRACTABLE is true", "CKA_VALUE can be read"],
            "WRAPPABLE": ["CKA_EXTRACTABLE is true"],
        ]
        for (label, mentions) in faults {
            guard case .unfit(let sentence) = await refusal(of: token.uri("object=\(label)")) else {
                Issue.record("an unprotected key was accepted")
                return
            }
            for mention in mentions { #expect(sentence.contains(mention), "\(sentence)") }
            try await withKey(token.uri("object=\(label)"), ["allowUnprotectedKeys": .boolean(true)]) { _, key in
                #expect(await fault(key) == nil)
            }
        }
    }

    @Test("a key that may not sign is refused under any setting")
    func cannotSign() async throws {
        try token.generateKey(label: "MUTE", id: [1], .with { $0.signs = false })
        guard
            case .unfit(let sentence) = await refusal(
                of: token.uri("object=MUTE"), ["allowUnprotectedKeys": .boolean(true)])
        else {
            Issue.record("a key was accepted that may not sign")
            return
        }
        #expect(sentence.contains("CKA_SIGN is false"))
    }

    @Test("a key on another curve is refused by the curve's name")
    func otherCurves() async throws {
        try token.generateKey(.secp256k1, label: "COIN", id: [1])
        try token.generateKey(.p384, label: "WIDE", id: [2])
        for (label, curve) in [("COIN", "secp256k1"), ("WIDE", "P-384")] {
            guard case .unfit(let sentence) = await refusal(of: token.uri("object=\(label)")) else {
                Issue.record("\(curve) was accepted")
                return
            }
            #expect(sentence.contains("is on \(curve);"), "\(sentence)")
        }
    }

    @Test("the configured public key is used if the token has neither public key nor certificate")
    func configuredPublicKey() async throws {
        let key = P256.Signing.PrivateKey()
        try token.importKey(key, label: "BARE", id: [1], .with { $0.hasPublicKey = false })
        guard case .unfit(let sentence) = await refusal(of: token.uri("object=BARE")) else {
            Issue.record("a public key came from nowhere")
            return
        }
        #expect(sentence.contains("public key into the configuration"))
        try await withKey(token.uri("object=BARE"), publicKey: Array(key.publicKey.x963Representation)) { _, found in
            #expect(await fault(found) == nil)
        }
        var offCurve = Array(key.publicKey.x963Representation)
        offCurve[40] ^= 1
        guard case .unfit = await refusal(of: token.uri("object=BARE"), publicKey: offCurve) else {
            Issue.record("a point off the curve was accepted")
            return
        }
    }

    @Test("the public key of another key with the same label is not used")
    func foreignPublicKey() async throws {
        try token.generateKey(label: "SHARED", id: [1])
        try token.generateKey(label: "SHARED", id: [2], .with { $0.hasPublicKey = false })
        guard case .unfit = await refusal(of: token.uri("id=%02")) else {
            Issue.record("the public key of another key was taken")
            return
        }
    }

    @Test("a public key that the token holds twice is used, and two different ones are refused")
    func twoPublicKeys() async throws {
        let key = P256.Signing.PrivateKey()
        try token.importKey(key, label: "TWICE", id: [1])
        try token.importPublicKey(key.publicKey, label: "TWICE", id: [1])
        try await withKey(token.uri("object=TWICE")) { _, found in
            #expect(found.publicKey.x963Representation == key.publicKey.x963Representation)
            #expect(await fault(found) == nil)
        }
        try token.importPublicKey(P256.Signing.PrivateKey().publicKey, label: "TWICE", id: [1])
        guard case .unfit(let sentence) = await refusal(of: token.uri("object=TWICE")) else {
            Issue.record("one of two public keys was taken")
            return
        }
        #expect(sentence.contains("or several that differ"))
    }

    @Test("a public key with the key's label and no ID is preferred to several of other labels with its ID")
    func labelledPublicKey() async throws {
        let key = P256.Signing.PrivateKey()
        try token.importKey(key, label: "MINE", id: [1], .with { $0.hasPublicKey = false })
        for label in ["X", "Y"] {
            try token.importPublicKey(P256.Signing.PrivateKey().publicKey, label: label, id: [1])
        }
        try token.importPublicKey(key.publicKey, label: "MINE", id: [])
        try await withKey(token.uri("object=MINE")) { _, found in
            #expect(found.publicKey.x963Representation == key.publicKey.x963Representation)
        }
    }

    @Test("the configured public key must match the token's")
    func mismatch() async throws {
        try token.generateKey(label: "KEY", id: [1])
        let other = Array(P256.Signing.PrivateKey().publicKey.x963Representation)
        guard case .unfit(let sentence) = await refusal(of: token.uri("object=KEY"), publicKey: other) else {
            Issue.record("two public keys for one private key")
            return
        }
        #expect(sentence.contains("differs from the configured one"))
    }

    @Test("a certificate provides the public key", arguments: [true, false])
    func certificate(_ hasVersion: Bool) async throws {
        let key = P256.Signing.PrivateKey()
        try token.importKey(key, label: "CERTIFIED", id: [7], .with { $0.hasPublicKey = false })
        try token.importCertificate(Certificate.der(for: key.publicKey, version: hasVersion), label: "CERT", id: [7])
        try await withKey(token.uri("object=CERTIFIED")) { _, found in
            #expect(found.publicKey.x963Representation == key.publicKey.x963Representation)
            #expect(await fault(found) == nil)
        }
    }

    @Test("a truncated certificate provides no public key and causes no crash")
    func brokenCertificate() async throws {
        let key = P256.Signing.PrivateKey()
        let der = Certificate.der(for: key.publicKey)
        try token.importKey(key, label: "CUT", id: [1], .with { $0.hasPublicKey = false })
        try token.importCertificate(Array(der.dropLast()), label: "CUT", id: [1])
        guard case .unfit = await refusal(of: token.uri("object=CUT")) else {
            Issue.record("a certificate that is cut off was accepted")
            return
        }
    }

    @Test("a module's name is found in p11-kit's directory, with or without its extension")
    func moduleNames() async throws {
        for name in ["p11-kit-trust", "p11-kit-trust.so"] {
            guard case .notFound(let sentence) = await refusal(of: "pkcs11:token=absent?module-name=\(name)") else {
                Issue.record("\(name) has a token that it has not")
                return
            }
            #expect(sentence.contains("No token matches"), "\(sentence)")
        }
        guard case .notFound(let sentence) = await refusal(of: "pkcs11:token=absent?module-name=no-such") else {
            Issue.record("a module was found that is not there")
            return
        }
        #expect(sentence.contains("no-such"))
    }
}
