import Foundation
import Glibc

struct ComplianceFiles {
    let json: String
    let html: String

    init(id: String, in directory: String) {
        json = "\(directory)/compliance-\(id).json"
        html = "\(directory)/compliance-\(id).html"
    }

    /// Writes both files or none: both are durable before the JSON gets its name.
    func write(_ report: [UInt8], page: String) throws(AuditSetupError) {
        do {
            try FileManager.default.createDirectory(
                at: URL(filePath: json).deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o750])
        } catch {
            throw AuditSetupError("The report cannot be written to \(json): \(error.localizedDescription)")
        }
        let output = try AuditOutput.open(json)
        output.write(report)
        var hasPage = false
        do throws(AuditSetupError) {
            try output.finish { (_) throws(AuditSetupError) in
                let output = try AuditOutput.open(html)
                output.write(Array(page.utf8))
                try output.finish()
                hasPage = true
            }
        } catch {
            if hasPage { unlink(html) }
            throw error
        }
    }
}
