import Crypto
import SignerProtocol
import SigningKit
import Testing

@Suite("Frames between the gateway and a signer")
struct SignerFrameTests {
    static func frames(_ bytes: [UInt8], in pieces: Int) throws -> [SignerFrame] {
        var reader = SignerFrameReader()
        var found: [SignerFrame] = []
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { reader.append($0) }
            while let frame = try reader.next() { found.append(frame) }
        }
        return found
    }

    @Test("Frames arrive whole, however their bytes are split", arguments: [1, 2, 3, 5, 7, 64, 10_000])
    func split(pieces: Int) throws {
        let sent = [
            SignerFrame(.sign, [UInt8](repeating: 7, count: 52)), SignerFrame(.call, Array("{}".utf8)),
            SignerFrame(.notice, []), SignerFrame(.signatures, [UInt8](repeating: 1, count: 720)),
        ]
        let found = try Self.frames(sent.flatMap(\.bytes), in: pieces)
        #expect(found.map(\.kind) == sent.map(\.kind))
        #expect(found.map(\.payload) == sent.map(\.payload))
    }

    @Test(
        "A length out of range and an unknown kind end the stream",
        arguments: [
            [0, 0, 0, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF, 1], [0, 0x10, 0, 1, 1], [0, 2, 0, 1, 6], [0, 0, 0, 1, 0],
            [0, 0, 0, 1, 99],
        ] as [[UInt8]])
    func malformed(bytes: [UInt8]) {
        #expect(throws: SignerProtocolError.self) { try Self.frames(bytes, in: 100) }
    }

    @Test("The largest frame is accepted")
    func largest() throws {
        for (kind, length) in [
            (SignerFrame.Kind.call, SignerFrame.maximumLength), (.notice, SignerFrame.maximumMessageLength),
        ] {
            let frame = SignerFrame(kind, [UInt8](repeating: 32, count: length - 1))
            #expect(try Self.frames(frame.bytes, in: 65_536).count == 1)
        }
    }
}

@Suite("Records of digests and signatures")
struct SignRequestTests {
    @Test("A digest arrives as it was sent")
    func digests() throws {
        let digests = (0..<3).map { SHA256.hash(data: [UInt8($0)]) }
        var payload: [UInt8] = []
        for (index, digest) in digests.enumerated() {
            SignRequest.append(
                SignRequest(id: UInt64(index) << 40 | 5, key: 0xFFFF_FFFF, deadline: .max - 1, digest: digest),
                to: &payload)
        }
        let read = try SignRequest.read(payload)
        #expect(read.map(\.id) == [5, 1 << 40 | 5, 2 << 40 | 5])
        #expect(read.allSatisfy { $0.key == 0xFFFF_FFFF && $0.deadline == .max - 1 })
        #expect(read.map(\.digest) == digests)
    }

    @Test("A signature arrives as it was sent")
    func signatures() throws {
        let key = P256.Signing.PrivateKey()
        let digest = SHA256.hash(data: [1])
        let bytes = try key.signature(for: digest).rawRepresentation
        let signature = try #require(P256Signature(rawRepresentation: bytes))
        var payload: [UInt8] = []
        SignatureRecord.append(77, signature, to: &payload)
        let read = try #require(try SignatureRecord.read(payload).first)
        #expect(read.id == 77)
        #expect(read.signature == signature)
        #expect(key.publicKey.verifies(read.signature, of: digest))
    }

    @Test("A payload that is no number of records is refused", arguments: [0, 1, 51, 53, 103])
    func sizes(count: Int) {
        let payload = [UInt8](repeating: 0, count: count)
        #expect(throws: SignerProtocolError.self) { try SignRequest.read(payload) }
        #expect(throws: SignerProtocolError.self) { try SignatureRecord.read(payload) }
    }
}

@Suite("Messages in JSON")
struct SignerMessageTests {
    @Test("Calls arrive as they were sent")
    func calls() throws {
        let locator = KeyLocator(try KeyURI("pkcs11:token=a?module-path=/m.so"))
        let settings = PluginSettings(defaultsOf: [
            PluginSetting("sessions", .integer(default: 3, allowed: 1...9), ""),
            PluginSetting("region", .text(default: "x"), ""), PluginSetting("on", .boolean(default: true), ""),
        ])
        let call = SignerCall.open(OpenCall(4, scheme: "pkcs11", locator, settings, orderedAt: 7))
        let read: Numbered<SignerCall> = try SignerFrame.encoding(Numbered(9, call), as: .call).decode()
        guard case .open(let open) = read.message else {
            Issue.record("another call: \(read.message)")
            return
        }
        #expect(read.id == 9)
        #expect((open.number, open.scheme, open.locator) == (4, "pkcs11", locator.uri.text))
        #expect(open.settings == settings.byName)
        #expect(open.orderedAt == 7)
    }

    @Test("Each error of a key arrives as it was sent")
    func errors() throws {
        let errors: [KeyError] = [
            .invalidURI("a"), .invalidSetting(name: "b", "c"), .secretUnavailable("d"), .loginRefused("e"),
            .loginBlocked("f"), .notFound("g"), .ambiguous("h"), .unfit("i"), .busy, .cancelled, .closed,
            .unavailable("\"\u{0}\n"), .failed("l"),
        ]
        for error in errors {
            let frame = SignerFrame.encoding(Numbered(1, SignerAnswer.failed(error, secrets: ["file:/x"])), as: .answer)
            let read: Numbered<SignerAnswer> = try frame.decode()
            guard case .failed(error, ["file:/x"]) = read.message else {
                Issue.record("\(error) became \(read.message)")
                continue
            }
        }
    }

    @Test("Keys that were made, found and wrapped arrive as they were sent")
    func keys() throws {
        let key = P256.Signing.PrivateKey().publicKey
        let made = ProvisionedKey(
            publicKey: key, method: .unwrapped, summary: "s", attributes: [.init("CKA_B", "1"), .init("CKA_A", "2")],
            evidence: ["e": "v"], warnings: ["w"], lacksPublicKey: true)
        let answer: SignerAnswer = try SignerFrame.encoding(SignerAnswer.provisioned(made), as: .answer).decode()
        guard case .provisioned(let read) = answer else {
            Issue.record("another answer: \(answer)")
            return
        }
        #expect(read.publicKey.rawRepresentation == key.rawRepresentation)
        #expect(read.attributes.map(\.name) == ["CKA_B", "CKA_A"])
        #expect(read.evidence == ["e": "v"] && read.warnings == ["w"] && read.lacksPublicKey)
        let package = WrappedKey(
            wrappingKey: PublicKeyFingerprint(of: key), publicKey: key, hash: .sha256, encryptedAESKey: [1, 2],
            encryptedKey: [3])
        let take = TakeCall(
            ProvisionCall(session: 1, KeySelector(try KeyURI("pkcs11:object=a")), isResumed: true), .package(package),
            allowsClear: false)
        let call: SignerCall = try SignerFrame.encoding(SignerCall.take(take), as: .call).decode()
        guard case .take(let read) = call, case .package(let readPackage) = read.source else {
            Issue.record("another call: \(call)")
            return
        }
        #expect(readPackage == package)
    }

    @Test(
        "Text that is no message ends the connection",
        arguments: ["", "{", "[]", "{\"id\":1}", "{\"id\":-1,\"message\":{}}"])
    func garbage(text: String) {
        #expect(throws: SignerProtocolError.self) {
            let _: Numbered<SignerCall> = try SignerFrame(.call, Array(text.utf8)).decode()
        }
    }
}
