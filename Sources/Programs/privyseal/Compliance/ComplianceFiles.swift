import Foundation
import Glibc

struct ComplianceFiles {
    let json: String
    let html: String

    init(id: String, in directory: String) {
        json = "\(directory)/compliance-\(id).json"
        html = "\(directory)/compliance-\(id).html"
    }

    /// Writes both files or none: both are durable under temporary names before the first one is renamed.
    func write(_ report: [UInt8], page: String) throws(AuditSetupError) {
        do {
            try FileManager.default.createDirectory(
                at: URL(filePath: json).deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o750])
        } catch {
            throw AuditSetupError("The report cannot be written to \(json): \(error.localizedDescription)")
        }
        defer { for path in [json, html] { unlink(Self.draft(path)) } }
        try Self.write(report, to: Self.draft(json))
        try Self.write(Array(page.utf8), to: Self.draft(html))
        guard rename(Self.draft(json), json) == 0 else { throw Self.refusal(json) }
        guard rename(Self.draft(html), html) == 0 else {
            let refusal = Self.refusal(html)
            unlink(json)
            throw refusal
        }
        try DurableWrite.synchronize(directoryOf: json)
    }

    private static func draft(_ path: String) -> String { "\(path).part" }

    private static func write(_ bytes: [UInt8], to path: String) throws(AuditSetupError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw refusal(path) }
        defer { close(descriptor) }
        guard DurableWrite.all(bytes, to: descriptor) else { throw refusal(path) }
    }

    private static func refusal(_ path: String) -> AuditSetupError {
        AuditSetupError("The report cannot be written to \(path): \(String(cString: strerror(errno))).")
    }
}
