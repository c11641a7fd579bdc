internal import Crypto
internal import Encodings
internal import Foundation
internal import PKCS11
internal import SigningKit

/// The visible properties of a key and its token, whether or not the key is fit to sign.
struct InspectedTokenKey: Equatable {
    struct Attribute: Equatable {
        /// The standard's name, such as `CKA_EXTRACTABLE`.
        var name: String
        /// `TRUE`, `FALSE`, a standard name, a text or hexadecimal digits; nil if the token does not reveal it.
        var value: String?
        /// The return value that explains a missing value, such as `CKR_ATTRIBUTE_TYPE_INVALID`.
        var answer: String?

        init(_ name: String, _ value: String?, answer: String? = nil) {
            (self.name, self.value, self.answer) = (name, value, answer)
        }
    }

    /// How many private keys of the token match the names of this key.
    struct Objects: Equatable {
        /// Matches of the whole URI.
        var uri: Int
        /// Matches of its `CKA_ID`; nil if it has none.
        var id: Int?
        /// Matches of its `CKA_LABEL`; nil if it has none.
        var label: Int?
    }

    /// A token and its slot, as they describe themselves.
    struct Token: Equatable {
        var label: String
        var manufacturer: String
        var model: String
        var serial: String
        var firmware: String
        var hardware: String
        /// Standard names, such as `CKF_USER_PIN_COUNT_LOW`, read before this process logged in: a login clears some.
        var flags: [String]
        var slotFlags: [String]
        /// Standard names, or numbers.
        var mechanisms: [String]
        var module: Module
    }

    /// The module of a token (`CK_INFO`).
    struct Module: Equatable {
        /// The path of the library, with symbolic links resolved.
        var path: String
        /// SHA-256 of the file now, in hexadecimal digits; nil if it cannot be read.
        var digest: String?
        var manufacturer: String
        var description: String
        var version: String
        /// The version of the Cryptoki interface, such as `2.40`.
        var cryptoki: String
    }

    var token: Token
    var objects: Objects
    /// Nil if the public key is not visible.
    var fingerprint: PublicKeyFingerprint?
    /// In display order; empty if not exactly one key matches.
    var attributes: [Attribute] = []
    /// Nil if not exactly one key matches.
    var probes: NegativeProbes.Answers?

    /// Nil if the value is not known.
    func value(of name: String) -> String? { attributes.first { $0.name == name }?.value }
}

extension InspectedTokenKey {
    /// Call this on the maintenance thread. It also tries to extract the key.
    ///
    /// - Parameter wanted: the selector's attributes.
    init(
        _ selector: KeySelector, _ wanted: [PKCS11.Attribute], _ connection: TokenConnection
    ) throws(PKCS11Error) {
        let session = connection.anchor
        func count(_ kind: PKCS11.Attribute.Kind, _ value: [UInt8]) throws(PKCS11Error) -> Int? {
            guard !value.isEmpty else { return nil }
            return try session.objects(with: [PKCS11.Attribute(.privateKey), PKCS11.Attribute(kind, bytes: value)])
                .count
        }
        let found = try session.objects(with: [PKCS11.Attribute(.privateKey)] + wanted)
        self.init(token: try Token(connection), objects: Objects(uri: found.count))
        guard let object = found.first, found.count == 1 else { return }
        let key = try FoundKey(object, in: session)
        objects.id = try count(.id, key.id)
        objects.label = try count(.label, key.label)
        attributes = try KeyAttribute.all.map { attribute throws(PKCS11Error) in
            try attribute.read(object, in: session)
        }
        probes = try NegativeProbes(session).try(on: object)
        fingerprint = (try? PublicKeySearch.find(for: key, selector, in: session)).map { PublicKeyFingerprint(of: $0) }
    }

    func inspection(_ provenance: KeyProvenance) -> KeyInspection {
        var evidence = ["tokenLabel": token.label, "tokenSerial": token.serial, "tokenModel": token.model]
        for attribute in attributes {
            guard let value = attribute.value else { continue }
            evidence[attribute.name] = ["TRUE", "FALSE"].contains(value) ? value.lowercased() : value
        }
        return KeyInspection(
            custody: .token, protection: token.protection, matches: objects.uri, fingerprint: fingerprint,
            facts: token.facts, evidence: evidence,
            checks: TokenKeyChecks(provenance: provenance, inspected: .success(self)).all)
    }
}

extension InspectedTokenKey.Token {
    fileprivate init(_ connection: TokenConnection) throws(PKCS11Error) {
        let (module, info) = (connection.module, connection.info)
        let library = try module.info()
        self.init(
            label: info.label, manufacturer: info.manufacturer, model: info.model, serial: info.serial,
            firmware: info.firmware, hardware: info.hardware, flags: connection.infoBeforeLogin.flagNames,
            slotFlags: try module.flags(of: connection.anchor.slot),
            mechanisms: try module.mechanisms(on: connection.anchor.slot).map(\.name),
            module: InspectedTokenKey.Module(
                path: module.path, digest: Self.digest(of: module.path), manufacturer: library.manufacturer,
                description: library.description, version: library.version, cryptoki: library.cryptokiVersion))
    }

    /// SHA-256 in hexadecimal; nil if the file cannot be read. The process may have loaded an older version.
    private static func digest(of path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: path), options: .alwaysMapped)).map { file in
            Hexadecimal.encode(SHA256.hash(data: file))
        }
    }

    var facts: [KeyInspection.Fact] {
        [
            .init("Token", label), .init("Serial number", serial),
            .init("Manufacturer, model", "\(manufacturer), \(model)"),
            .init("Firmware, hardware", "\(firmware), \(hardware)"),
            .init("Token flags", flags.joined(separator: " ")), .init("Slot flags", slotFlags.joined(separator: " ")),
            .init("Library", "\(module.description) \(module.version), by \(module.manufacturer)"),
            .init("Library's interface", "Cryptoki \(module.cryptoki)"),
            .init("Mechanisms", "\(mechanisms.count): \(mechanisms.joined(separator: " "))"),
        ]
    }

    /// Known software tokens, as prefixes. The model matters only for a manufacturer that also makes hardware.
    private static let software: [(manufacturer: String, model: String)] = [
        ("SoftHSM project", ""), ("Mozilla Foundation", ""), ("Kryoptic", ""), ("IBM", "Soft"),
        ("GNOME Keyring", ""), ("PKCS#11 Kit", ""),
    ]

    var protection: KeyInspection.Protection {
        let name = "\(manufacturer), \(model)"
        if Self.software.contains(where: { manufacturer.hasPrefix($0.manufacturer) && model.hasPrefix($0.model) }) {
            return .init(.software, "software that plays a token (\(name)), not hardware")
        }
        guard slotFlags.contains("CKF_HW_SLOT") else {
            return .init(
                .unknown, "a token of a kind that is not known (\(name))",
                detail: "Its slot does not say that it is hardware.")
        }
        return .init(
            .hardware, "a token in hardware (\(name))",
            detail: "This is the module's own statement. Look up its certificate by model and firmware.")
    }
}
