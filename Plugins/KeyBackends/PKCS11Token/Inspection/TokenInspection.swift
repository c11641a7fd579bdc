internal import PKCS11
internal import SigningKit

/// Inspects a key, whether or not it is fit to sign.
struct TokenInspection {
    private let connection: TokenConnection
    private let session: Session

    /// Call this on the maintenance thread.
    init(_ connection: TokenConnection) {
        self.connection = connection
        session = connection.anchor
    }

    func inspect(_ selector: KeySelector) throws(KeyError) -> KeyInspection {
        let wanted = try TokenAddress.parse(selector.uri).objectAttributes.filter { $0.kind != .objectClass }
        do throws(PKCS11Error) {
            let found = try session.objects(with: [Attribute(.privateKey)] + wanted)
            var inspection = KeyInspection(custody: .token, token: try token())
            guard let object = found.first, found.count == 1 else {
                inspection.objects = KeyInspection.Objects(uri: found.count, id: nil, label: nil)
                return inspection
            }
            let key = try FoundKey(object, in: session)
            inspection.objects = KeyInspection.Objects(
                uri: 1, id: try count(.id, key.id), label: try count(.label, Array(key.label.utf8)))
            inspection.attributes = try AttributeReading.all.map { reading throws(PKCS11Error) in
                try reading.read(object, in: session)
            }
            inspection.probes = try NegativeProbes(session).try(on: object)
            inspection.fingerprint = (try? PublicKeySearch.find(for: key, selector, in: session))
                .map { PublicKeyFingerprint(of: $0) }
            return inspection
        } catch {
            throw error.whileOpening(connection.info.name)
        }
    }

    /// The number of private keys with this ID or label; nil if the key has none.
    private func count(_ kind: Attribute.Kind, _ value: [UInt8]) throws(PKCS11Error) -> Int? {
        guard !value.isEmpty else { return nil }
        return try session.objects(with: [Attribute(.privateKey), Attribute(kind, bytes: value)]).count
    }

    private func token() throws(PKCS11Error) -> InspectedToken {
        let module = connection.module
        let info = connection.info
        let library = try module.info()
        return InspectedToken(
            label: info.label, manufacturer: info.manufacturer, model: info.model, serial: info.serial,
            firmware: info.firmware, hardware: info.hardware, flags: connection.infoBeforeLogin.flagNames,
            slotFlags: try module.slotInfo(of: session.slot).flags,
            mechanisms: try module.mechanisms(on: session.slot).map(\.name),
            module: InspectedModule(
                path: module.path, digest: ModuleFile.digest(of: module.path), manufacturer: library.manufacturer,
                description: library.description, version: library.version, cryptoki: library.cryptokiVersion))
    }
}
