/// A file that yields the same bytes at each read. Bytes appended later are ignored. The content of a pipe, which can
/// be read only once, is in memory.
struct EvidenceCopy {
    private let path: String
    private let length: Int
    private let bytes: [UInt8]?

    init(of path: String) throws(AuditSetupError) {
        self.path = path
        let facts = FileFacts(path)
        // A missing file is reported when it is opened.
        let isFile = facts?.isRegular ?? true
        bytes = isFile ? nil : try EvidenceFile.contents(of: path, limit: EvidenceFile.Limit.archive)
        length = isFile ? facts?.size ?? 0 : 0
    }

    func read(_ visit: (ArraySlice<UInt8>) -> Void) throws(AuditSetupError) {
        guard let bytes else { return try EvidenceFile.read(path, first: length, visit) }
        for start in stride(from: 0, to: bytes.count, by: EvidenceFile.pieceSize) {
            visit(bytes[start..<min(start + EvidenceFile.pieceSize, bytes.count)])
        }
    }
}
