/// A file that is read more than once, and each time the same: of one that grows, what was there first; what can be read only
/// once, such as a pipe, is kept.
struct EvidenceCopy {
    private let path: String
    private let length: Int
    private let bytes: [UInt8]?

    init(of path: String) throws(AuditSetupError) {
        self.path = path
        let facts = FileFacts(path)
        // What is not there is said when it is opened.
        let isFile = facts?.isRegular ?? true
        bytes = isFile ? nil : try EvidenceFile.contents(of: path, limit: EvidenceFile.Limit.archive)
        length = isFile ? facts?.size ?? 0 : 0
    }

    /// Piece by piece.
    func read(_ visit: (ArraySlice<UInt8>) -> Void) throws(AuditSetupError) {
        guard let bytes else { return try EvidenceFile.read(path, first: length, visit) }
        for start in stride(from: 0, to: bytes.count, by: EvidenceFile.pieceSize) {
            visit(bytes[start..<min(start + EvidenceFile.pieceSize, bytes.count)])
        }
    }
}
