import Crypto
import Encodings
import Foundation
import PKCS11
public import SigningKit

/// The visible properties of a key and its token, whether or not the key is fit to sign.
struct InspectedTokenKey {
    struct Attribute: Equatable {
        /// The standard's name, such as `CKA_EXTRACTABLE`.
        var name: String
        /// `TRUE`, `FALSE`, a standard name, a text or hexadecimal digits; nil if the token does not reveal it.
        var value: String?
        /// The return value that explains a missing value, such as `CKR_ATTRIBUTE_TYPE_INVALID`.
        var answer: String?
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

    /// A token, its slot and its module, as they describe themselves.
    struct Token {
        var info: TokenInfo
        /// Standard names, such as `CKF_USER_PIN_COUNT_LOW`, read before this process logged in: a login clears some.
        var flags: [String]
        var slotFlags: [String]
        /// Standard names, or numbers.
        var mechanisms: [String]
        var library: ModuleInfo
        /// The path of the library, with symbolic links resolved.
        var path: String
        /// SHA-256 of the library's file now, in hexadecimal digits; nil if it cannot be read.
        var digest: String?
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
        func find(_ attributes: [PKCS11.Attribute]) throws(PKCS11Error) -> [ObjectHandle] {
            try session.objects(with: [PKCS11.Attribute(.privateKey)] + attributes)
        }
        let found = try find(wanted)
        self.init(token: try Token(connection), objects: Objects(uri: found.count))
        guard let object = found.first, found.count == 1 else { return }
        let key = try FoundKey(object, in: session)
        if !key.id.isEmpty { objects.id = try find([PKCS11.Attribute(.id, bytes: key.id)]).count }
        if !key.label.isEmpty { objects.label = try find([PKCS11.Attribute(.label, bytes: key.label)]).count }
        attributes = try KeyAttribute.all.map { attribute throws(PKCS11Error) in
            try attribute.read(object, in: session)
        }
        probes = try NegativeProbes.run(on: object, in: session)
        fingerprint = (try? PublicKeySearch.find(for: key, selector, in: session)).map { PublicKeyFingerprint(of: $0) }
    }

    func inspection(_ provenance: KeyProvenance) -> KeyInspection {
        var evidence = [
            "tokenLabel": token.info.label, "tokenSerial": token.info.serial, "tokenModel": token.info.model,
        ]
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
        let (module, slot) = (connection.module, connection.anchor.slot)
        self.init(
            info: connection.info, flags: connection.infoBeforeLogin.flagNames, slotFlags: try module.flags(of: slot),
            mechanisms: try module.mechanisms(on: slot).map(\.name), library: try module.info(), path: module.path,
            digest: Self.digest(of: module.path))
    }

    /// SHA-256 in hexadecimal; nil if the file cannot be read. The process may have loaded an older version.
    private static func digest(of path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: path), options: .alwaysMapped)).map { file in
            Hexadecimal.encode(SHA256.hash(data: file))
        }
    }

    var facts: [KeyInspection.Fact] {
        [
            .init("Token", info.label), .init("Serial number", info.serial),
            .init("Manufacturer, model", "\(info.manufacturer), \(info.model)"),
            .init("Firmware, hardware", "\(info.firmware), \(info.hardware)"),
            .init("Token flags", flags.joined(separator: " ")), .init("Slot flags", slotFlags.joined(separator: " ")),
            .init("Library", "\(library.description) \(library.version), by \(library.manufacturer)"),
            .init("Library's interface", "Cryptoki \(library.cryptokiVersion)"),
            .init("Mechanisms", "\(mechanisms.count): \(mechanisms.joined(separator: " "))"),
        ]
    }

    /// Known software tokens, as prefixes. The model matters only for a manufacturer that also makes hardware.
    private static let software: [(manufacturer: String, model: String)] = [
        ("SoftHSM project", ""), ("Mozilla Foundation", ""), ("Kryoptic", ""), ("IBM", "Soft"),
        ("GNOME Keyring", ""), ("PKCS#11 Kit", ""),
    ]

    var protection: KeyInspection.Protection {
        let name = "\(info.manufacturer), \(info.model)"
        if Self.software.contains(where: {
            info.manufacturer.hasPrefix($0.manufacturer) && info.model.hasPrefix($0.model)
        }) {
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

extension PKCS11TokenBackend: KeyInspecting {
    /// Runs on the maintenance thread, in parallel with signatures.
    public func inspect(
        _ selector: KeySelector, provenance: KeyProvenance
    ) async throws(KeyError) -> KeyInspection {
        try await inspectedKey(selector).inspection(provenance)
    }

    public static func checks(provenance: KeyProvenance, uninspected error: KeyError) -> [ComplianceCheck] {
        TokenKeyChecks(provenance: provenance, inspected: .failure(error)).all
    }

    func inspectedKey(_ selector: KeySelector) async throws(KeyError) -> InspectedTokenKey {
        let wanted = try TokenURI(selector.uri).keyAttributes
        return try await onMaintenanceThread { [self] () throws(KeyError) in
            try opening(connection.info.name) { () throws(PKCS11Error) in
                try InspectedTokenKey(selector, wanted, connection)
            }
        }
    }
}
