import Crypto
import CryptoExtras
import Encodings
import Foundation
import StrictJSON
import Synchronization

/// AWS KMS as a test double, with its documented answers. Import follows the documentation, because moto has none.
final class FakeKMS: Sendable {
    struct Key: Sendable {
        var id: String
        var privateKey: P256.Signing.PrivateKey?
        var state = "Enabled"
        var origin = "AWS_KMS"
        var spec = "ECC_NIST_P256"
        var usage = "SIGN_VERIFY"
        var description = ""
        var isMultiRegion = false
        var expirationModel: String?
        var deletionDate: Double?
        /// The private wrapping key in DER, its import token and the wrapping algorithm.
        var wrapping: (key: Data, token: String, algorithm: String)?
    }

    struct Call: Sendable {
        let name: String
        let body: String
        let accessKeyID: String
        let sessionToken: String?
    }

    private struct State {
        var keys: [String: Key] = [:]
        var aliases: [String: String] = [:]
        /// Answers for the next calls, in place of the real ones.
        var faults: [FakeServer.Answer] = []
        /// Error codes of calls that are refused, by name.
        var refused: [String: String] = [:]
        /// Access key IDs that are refused as expired.
        var expired: Set<String> = []
        var revision = 0
    }

    static let region = "eu-west-1"
    static let account = "111122223333"

    private let state = Mutex(State())
    let calls = Log<Call>()
    private let change = Mutex<(@Sendable (String, FakeServer.Answer) -> FakeServer.Answer)?>(nil)

    // MARK: Keys

    static func arn(_ id: String) -> String { "arn:aws:kms:\(region):\(account):key/\(id)" }

    /// Adds a key, and gives it the alias.
    @discardableResult
    func add(_ alias: String? = nil, _ change: (inout Key) -> Void = { _ in }) -> Key {
        var key = Key(id: UUID().uuidString.lowercased(), privateKey: P256.Signing.PrivateKey())
        change(&key)
        let added = key
        state.withLock { state in
            state.keys[added.id] = added
            if let alias { state.aliases["alias/\(alias)"] = added.id }
        }
        return added
    }

    func change(_ id: String, _ body: @Sendable (inout Key) -> Void) {
        state.withLock { state in
            guard var key = state.keys[id] else { return }
            body(&key)
            state.keys[id] = key
        }
    }

    func point(_ alias: String, to id: String) { state.withLock { $0.aliases["alias/\(alias)"] = id } }
    func key(_ alias: String) -> Key? {
        state.withLock { state in state.aliases["alias/\(alias)"].flatMap { state.keys[$0] } }
    }
    var keyCount: Int { state.withLock { $0.keys.count } }

    // MARK: Faults

    func fail(_ answers: [FakeServer.Answer]) { state.withLock { $0.faults = answers } }
    func refuse(_ name: String, _ code: String?) { state.withLock { $0.refused[name] = code } }
    func expire(_ accessKeyID: String) { state.withLock { _ = $0.expired.insert(accessKeyID) } }
    /// Changes each answer, by the name of the call.
    func changeAnswers(_ body: (@Sendable (String, FakeServer.Answer) -> FakeServer.Answer)?) {
        change.withLock { $0 = body }
    }

    func names() -> [String] { calls.all.map(\.name) }

    // MARK: Answers

    func answer(_ request: FakeServer.Request) -> FakeServer.Answer {
        let name = (request.header("x-amz-target") ?? "").replacing("TrentService.", with: "")
        let scope = (request.header("authorization") ?? "").split(separator: "Credential=").last ?? ""
        let accessKeyID = String(scope.prefix { $0 != "/" })
        calls.add(
            Call(
                name: name, body: request.body, accessKeyID: accessKeyID,
                sessionToken: request.header("x-amz-security-token")))
        if let fault = state.withLock({ $0.faults.isEmpty ? nil : $0.faults.removeFirst() }) { return fault }
        if state.withLock({ $0.expired.contains(accessKeyID) }) { return .error("ExpiredTokenException") }
        if let code = state.withLock({ $0.refused[name] }) { return .error(code) }
        guard scope.contains("/\(Self.region)/kms/aws4_request"), request.method == "POST", request.path == "/",
            request.header("content-type") == "application/x-amz-json-1.1"
        else { return .error("IncompleteSignature") }
        let members =
            (try? JSONDocument(parsing: Array(request.body.utf8)).root.decode([String: MemberText].self)) ?? [:]
        let answer = state.withLock { Self.answer(name, members.mapValues(\.text), &$0) }
        return change.withLock { $0 }?(name, answer) ?? answer
    }

    /// A member that is a text or a number.
    private struct MemberText: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                text = "\(number)"
            } else {
                text = try container.decode(String.self)
            }
        }
    }

    private static func answer(_ name: String, _ members: [String: String], _ state: inout State) -> FakeServer.Answer {
        switch name {
        case "CreateKey":
            state.revision += 1
            let isExternal = members["Origin"] == "EXTERNAL"
            let key = Key(
                id: UUID().uuidString.lowercased(), privateKey: isExternal ? nil : P256.Signing.PrivateKey(),
                state: isExternal ? "PendingImport" : "Enabled", origin: members["Origin"] ?? "AWS_KMS",
                spec: members["KeySpec"] ?? "SYMMETRIC_DEFAULT", usage: members["KeyUsage"] ?? "ENCRYPT_DECRYPT",
                description: members["Description"] ?? "")
            state.keys[key.id] = key
            return .json(metadata(key))
        case "CreateAlias":
            guard let alias = members["AliasName"], state.aliases[alias] == nil else {
                return .error("AlreadyExistsException")
            }
            state.aliases[alias] = members["TargetKeyId"]
            return FakeServer.Answer()
        default: break
        }
        let wanted = members["KeyId"] ?? ""
        let id = (state.aliases[wanted] ?? wanted).split(separator: "/").last.map(String.init) ?? ""
        guard var key = state.keys[id] else { return .error("NotFoundException") }
        let answer = answer(name, members, &key)
        state.keys[id] = key
        return answer
    }

    private static func answer(_ name: String, _ members: [String: String], _ key: inout Key) -> FakeServer.Answer {
        switch name {
        case "DescribeKey": return .json(metadata(key))
        case "GetPublicKey":
            guard let privateKey = key.privateKey, key.state != "PendingDeletion" else {
                return .error("KMSInvalidStateException")
            }
            return .json(
                #"{"KeyId":"\#(arn(key.id))","KeySpec":"\#(key.spec)","PublicKey":"\#(base64(privateKey.publicKey.derRepresentation))"}"#
            )
        case "Sign": return sign(members, key)
        case "UpdateKeyDescription": key.description = members["Description"] ?? ""
        case "GetParametersForImport":
            // Shorter than ordered, because the tests make many.
            guard key.origin == "EXTERNAL", let wrapping = try? _RSA.Encryption.PrivateKey(keySize: .bits2048)
            else { return .error("UnsupportedOperationException") }
            let token = base64(Data((0..<1800).map { _ in UInt8.random(in: 0...255) }))
            key.wrapping = (wrapping.derRepresentation, token, members["WrappingAlgorithm"] ?? "")
            return .json(
                #"{"KeyId":"\#(arn(key.id))","ImportToken":"\#(token)","PublicKey":"\#(base64(wrapping.publicKey.derRepresentation))","ParametersValidTo":\#(Date.now.timeIntervalSince1970 + 86_400)}"#
            )
        case "ImportKeyMaterial": return importMaterial(members, &key)
        case "DeleteImportedKeyMaterial": (key.privateKey, key.state) = (nil, "PendingImport")
        case "ScheduleKeyDeletion":
            let days = Double(members["PendingWindowInDays"] ?? "") ?? 0
            key.state = "PendingDeletion"
            key.deletionDate = (Date.now.timeIntervalSince1970 + days * 86_400).rounded()
            return .json(#"{"KeyId":"\#(arn(key.id))","KeyState":"PendingDeletion"}"#)
        default: return .error("UnknownOperationException")
        }
        return FakeServer.Answer()
    }

    private static func sign(_ members: [String: String], _ key: Key) -> FakeServer.Answer {
        guard key.state != "Disabled" else { return .error("DisabledException") }
        guard let privateKey = key.privateKey, key.state == "Enabled" else { return .error("KMSInvalidStateException") }
        guard members["MessageType"] == "DIGEST", members["SigningAlgorithm"] == "ECDSA_SHA_256",
            let bytes = members["Message"].flatMap({ Base64.standard.decode($0.utf8) }), bytes.count == 32,
            let signature = try? privateKey.signature(for: GivenDigest(bytes: bytes))
        else { return .error("ValidationException") }
        return .json(
            #"{"KeyId":"\#(arn(key.id))","Signature":"\#(base64(signature.derRepresentation))","SigningAlgorithm":"ECDSA_SHA_256"}"#
        )
    }

    /// Decrypts by the algorithm for which the wrapping key was given (KMS Developer Guide, "Encrypt the key material").
    private static func importMaterial(_ members: [String: String], _ key: inout Key) -> FakeServer.Answer {
        guard let wrapping = key.wrapping, members["ImportToken"] == wrapping.token,
            let wrappingKey = try? _RSA.Encryption.PrivateKey(derRepresentation: wrapping.key)
        else {
            return .error("InvalidImportTokenException")
        }
        guard members["ExpirationModel"] == "KEY_MATERIAL_DOES_NOT_EXPIRE",
            let encrypted = members["EncryptedKeyMaterial"].flatMap({ Base64.standard.decode($0.utf8) })
        else { return .error("ValidationException") }
        let padding = _RSA.Encryption.Padding.PKCS1_OAEP_SHA256
        let plain: Data?
        if wrapping.algorithm == "RSAES_OAEP_SHA_256" {
            plain = try? wrappingKey.decrypt(encrypted, padding: padding)
        } else {
            let size = wrappingKey.keySizeInBits / 8
            let aes = try? wrappingKey.decrypt(encrypted.prefix(size), padding: padding)
            plain = aes.flatMap { KeyWrap.unwrap(Array(encrypted.dropFirst(size)), under: SymmetricKey(data: $0)) }
        }
        guard let plain, let privateKey = try? P256.Signing.PrivateKey(derRepresentation: plain) else {
            return .error("InvalidCiphertextException")
        }
        (key.privateKey, key.state) = (privateKey, "Enabled")
        key.expirationModel = "KEY_MATERIAL_DOES_NOT_EXPIRE"
        return FakeServer.Answer()
    }

    private static func metadata(_ key: Key) -> String {
        var members = [
            #""AWSAccountId":"\#(account)","KeyId":"\#(key.id)","Arn":"\#(arn(key.id))","CreationDate":1764000000.123"#,
            #""Enabled":\#(key.state == "Enabled"),"Description":"\#(key.description)","KeyUsage":"\#(key.usage)""#,
            #""KeyState":"\#(key.state)","Origin":"\#(key.origin)","KeyManager":"CUSTOMER","KeySpec":"\#(key.spec)""#,
            #""MultiRegion":\#(key.isMultiRegion)"#,
        ]
        if let model = key.expirationModel { members.append(#""ExpirationModel":"\#(model)""#) }
        if let date = key.deletionDate { members.append(#""DeletionDate":\#(date)"#) }
        return #"{"KeyMetadata":{\#(members.joined(separator: ","))}}"#
    }

    private static func base64(_ bytes: Data) -> String { bytes.base64EncodedString() }
}

/// A digest that was computed elsewhere.
private struct GivenDigest: Digest {
    static let byteCount = 32
    let bytes: [UInt8]

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
    var description: String { "GivenDigest" }
}

/// Unwraps by RFC 5649, for the tests only.
private enum KeyWrap {
    static func unwrap(_ wrapped: [UInt8], under key: SymmetricKey) -> Data? {
        guard wrapped.count >= 24, wrapped.count.isMultiple(of: 8) else { return nil }
        let count = wrapped.count / 8 - 1
        var integrity = Array(wrapped[..<8])
        var blocks = (1...count).map { Array(wrapped[8 * $0..<8 * $0 + 8]) }
        for round in stride(from: 5, through: 0, by: -1) {
            for index in stride(from: count, through: 1, by: -1) {
                let counter = withUnsafeBytes(of: UInt64(count * round + index).bigEndian) { Array($0) }
                var block = zip(integrity, counter).map { $0 ^ $1 } + blocks[index - 1]
                guard (try? AES.inversePermute(&block, key: key)) != nil else { return nil }
                (integrity, blocks[index - 1]) = (Array(block[..<8]), Array(block[8...]))
            }
        }
        guard integrity[..<4] == [0xA6, 0x59, 0x59, 0xA6] else { return nil }
        let length = integrity[4...].reduce(0) { $0 << 8 | Int($1) }
        let plain = blocks.flatMap(\.self)
        guard length <= plain.count, plain.count - length < 8 else { return nil }
        return Data(plain[..<length])
    }
}
