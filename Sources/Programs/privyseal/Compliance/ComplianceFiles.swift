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
    func write(_ report: [UInt8], page: String) throws(CommandError) {
        do {
            try FileManager.default.createDirectory(
                at: URL(filePath: json).deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o750])
        } catch {
            throw CommandError("The report cannot be written to \(json): \(error.localizedDescription)")
        }
        let drafts: [(path: String, bytes: [UInt8])] = [(json, report), (html, Array(page.utf8))]
        defer { for draft in drafts { unlink("\(draft.path).part") } }
        for draft in drafts { try Self.write(draft.bytes, to: "\(draft.path).part") }
        // The ID is unique, so these names are free.
        for draft in drafts where rename("\(draft.path).part", draft.path) != 0 {
            let refusal = Self.refusal(draft.path)
            unlink(json)
            throw refusal
        }
        try DurableWrite.synchronize(directoryOf: json)
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(CommandError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw refusal(path) }
        defer { close(descriptor) }
        guard DurableWrite.all(bytes, to: descriptor) else { throw refusal(path) }
    }

    private static func refusal(_ path: String) -> CommandError {
        CommandError("The report cannot be written to \(path): \(String(cString: strerror(errno))).")
    }
}
