import Foundation

/// The two files of a report in a directory.
struct ComplianceFiles {
    let json: String
    let html: String

    init(id: String, in directory: String) {
        json = "\(directory)/compliance-\(id).json"
        html = "\(directory)/compliance-\(id).html"
    }

    /// The directory is made where there is none.
    func write(_ report: [UInt8], page: String) throws(AuditSetupError) {
        do {
            try FileManager.default.createDirectory(
                at: URL(filePath: json).deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o750])
            try Data(report).write(to: URL(filePath: json), options: [.atomic])
            try Data(page.utf8).write(to: URL(filePath: html), options: [.atomic])
        } catch {
            throw AuditSetupError("The report cannot be written to \(json): \(error.localizedDescription)")
        }
    }
}
