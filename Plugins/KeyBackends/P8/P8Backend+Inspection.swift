import Glibc
public import SigningKit

extension P8Backend: KeyInspecting {
    /// A key file has no key attributes, only an owner and a mode. The key itself is in this process.
    public func inspect(
        _ selector: KeySelector, provenance: KeyProvenance
    ) async throws(KeyError) -> KeyInspection {
        guard !key.isClosed else { throw .closed }
        var status = stat()
        let isThere = stat(path, &status) == 0
        let mode = isThere ? String(status.st_mode & 0o7777, radix: 8) : nil
        return KeyInspection(
            custody: .process,
            protection: .init(.software, "software: the private key is in the memory of a process on this machine"),
            fingerprint: PublicKeyFingerprint(of: key.publicKey),
            facts: [
                .init("File", path), .init("Owner", isThere ? "\(status.st_uid):\(status.st_gid)" : "not known"),
            ], checks: [Self.curve, Self.mode(mode), Self.memory])
    }

    public static func checks(provenance: KeyProvenance, uninspected error: KeyError) -> [ComplianceCheck] {
        [curve, mode(nil), memory].map { check in
            var check = check
            (check.value, check.result, check.detail) = (nil, .unavailable, "\(error)")
            return check
        }
    }

    private static let curve = ComplianceCheck(
        "identity.curve", "Is it a key on P-256?", [.nist57("5.6"), .pci("3.7.1")], value: "P-256", expected: "P-256",
        .notApplicable, detail: "A file with a key on another curve is refused when it is read.")

    /// - Parameter mode: octal, such as `600`; nil if the file is missing or inaccessible.
    private static func mode(_ mode: String?) -> ComplianceCheck {
        let isFit = mode == "600" || mode == "400"
        return ComplianceCheck(
            "file.mode", "Can only its owner read it?", [], value: mode, expected: "600 or 400",
            isFit ? .pass : mode == nil ? .unavailable : .fail,
            detail: isFit
                ? nil : mode == nil ? "The file no longer exists, or cannot be examined." : "Run chmod 600 on it.")
    }

    private static var memory: ComplianceCheck {
        let memory =
            switch SecureHeap.protection {
            case .locked: "locked"
            case .unlocked: "unlocked"
            case .none: "ordinary"
            }
        return ComplianceCheck(
            "file.memory", "Is the key in memory that is never swapped or dumped?", [.pci("3.7.3")], value: memory,
            expected: "locked", memory == "locked" ? .pass : .fail,
            detail: "As of the process that made this report.")
    }
}
