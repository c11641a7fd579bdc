import Glibc
public import SigningKit

extension P8Backend: KeyInspecting {
    /// A key file has no key attributes, only an owner and a mode. The key itself is in this process.
    public func inspect(_ selector: KeySelector) async throws(KeyError) -> KeyInspection {
        guard !key.isClosed else { throw .closed }
        var status = stat()
        let isThere = stat(path, &status) == 0
        let memory: InspectedFile.Memory =
            switch SecureHeap.protection {
            case .locked: .locked
            case .unlocked: .unlocked
            case .none: .ordinary
            }
        return KeyInspection(
            custody: .process, fingerprint: PublicKeyFingerprint(of: key.publicKey),
            file: InspectedFile(
                path: path, mode: isThere ? String(status.st_mode & 0o7777, radix: 8) : nil,
                owner: isThere ? "\(status.st_uid):\(status.st_gid)" : nil, memory: memory))
    }
}
