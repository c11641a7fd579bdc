import Crypto
import PKCS11
import SigningKit
import SwiftASN1

/// Finds the public key of a private key: in its public key object, else in its certificate, else in the configuration.
enum PublicKeySearch {
    static func find(
        for key: FoundKey, _ selector: KeySelector, in session: Session
    ) throws(KeyError) -> P256.Signing.PublicKey {
        let shown = try opening(key.name) { () throws(PKCS11Error) in
            let point = try publicObject(of: key, session)
            return if let point { point } else { try certificate(of: key, session) }
        }
        if let shown, let configured = selector.publicKey, shown != configured {
            throw .unfit("\(key.sentence) has a public key on its token that differs from the configured one.")
        }
        guard let point = shown ?? selector.publicKey else {
            throw .unfit(
                "The token holds neither a public key nor a certificate for \(key.name), or several that differ. Import one, or put "
                    + "the public key into the configuration.")
        }
        guard let publicKey = try? P256.Signing.PublicKey(x963Representation: point) else {
            throw .unfit("The public key of \(key.name) is not a point of P-256.")
        }
        return publicKey
    }

    /// `CKA_EC_POINT`: 65 raw bytes, or a DER OCTET STRING of 67 bytes.
    private static func publicObject(of key: FoundKey, _ session: Session) throws(PKCS11Error) -> [UInt8]? {
        try point(.publicKey, of: key, session, in: .ecPoint) { point in
            point.count == 67 && point.starts(with: [0x04, 0x41, 0x04]) ? Array(point.dropFirst(2)) : point
        }
    }

    private static func certificate(of key: FoundKey, _ session: Session) throws(PKCS11Error) -> [UInt8]? {
        try point(.certificate, of: key, session, in: .value, read: point(inCertificate:))
    }

    /// The point that all companions of the key have; nil if there are none, or if they differ.
    private static func point(
        _ kind: ObjectClass, of key: FoundKey, _ session: Session, in attribute: Attribute.Kind,
        read: ([UInt8]) -> [UInt8]?
    ) throws(PKCS11Error) -> [UInt8]? {
        var points: Set<[UInt8]> = []
        for object in try companions(kind, of: key, session) {
            if let value = try session.value(of: attribute, in: object), let point = read(value) {
                points.insert(point)
            }
        }
        return points.count == 1 ? points.first : nil
    }

    /// The public key of a P-256 certificate (RFC 5280 §4.1): its X9.63 point of 65 bytes. Other fields are not read.
    static func point(inCertificate der: [UInt8]) -> [UInt8]? {
        guard let certificate = try? DER.parse(der), let toBeSigned = certificate.members?.first,
            // Without the version, the sixth field follows serial number, algorithm, issuer, validity and subject.
            let information = toBeSigned.members?.drop(while: { $0.identifier.tagClass == .contextSpecific })
                .dropFirst(5).first,
            let publicKey = P256.Signing.PublicKey(subjectPublicKeyInfo: Array(information.encodedBytes))
        else { return nil }
        return Array(publicKey.x963Representation)
    }

    /// The one object with the key's ID. If there are none or several, those with the ID and the label; else those with the
    /// label and no ID of another key; else those with the ID.
    private static func companions(
        _ kind: ObjectClass, of key: FoundKey, _ session: Session
    ) throws(PKCS11Error) -> [ObjectHandle] {
        let label = Attribute(.label, bytes: key.label)
        var found: [ObjectHandle] = []
        if !key.id.isEmpty {
            let id = Attribute(.id, bytes: key.id)
            found = try session.objects(with: [Attribute(kind), id], limit: mostCompanions)
            if found.count == 1 { return found }
            if found.count > 1 {
                let both = try session.objects(with: [Attribute(kind), id, label], limit: mostCompanions)
                if !both.isEmpty { return both }
            }
        }
        var named: [ObjectHandle] = []
        for object in try session.objects(with: [Attribute(kind), label]) {
            let id = try session.value(of: .id, in: object) ?? []
            if id.isEmpty || key.id.isEmpty { named.append(object) }
        }
        return named.isEmpty ? found : named
    }

    /// Two imports at the same time can store the public key twice.
    private static let mostCompanions = 16
}

extension ASN1Node {
    /// The elements of a SEQUENCE; nil for another element.
    fileprivate var members: [ASN1Node]? {
        if identifier == .sequence, case .constructed(let nodes) = content { Array(nodes) } else { nil }
    }
}
