package import AuditKit
package import Testing

extension AuditStore {
    /// Appends bodies in one transaction, as the log appender does: closes segments and sets the head.
    @discardableResult
    package func append(_ bodies: [[UInt8]]) throws(AuditStoreError) -> Int {
        try write { (transaction) throws(AuditStoreError) in
            var next = try transaction.head()?.size ?? 0
            for body in bodies {
                try transaction.append(
                    StoredEntry(index: next, body: body, mark: UInt64(next) &* 0x9e37_79b9_7f4a_7c15))
                next += 1
                if next.isMultiple(of: AuditSegment.size) {
                    let segment = next / AuditSegment.size - 1
                    try transaction.close(segment: segment, root: TestRoot.of(segment))
                }
            }
            try transaction.setHead(SignedTreeHead(size: next, note: "note \(next)"))
            return next
        }
    }

    @discardableResult
    package func append(_ texts: String...) throws(AuditStoreError) -> Int { try append(texts.map { Array($0.utf8) }) }
}

package enum TestRoot {
    package static func of(_ segment: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: segment + 1), count: 32)
    }
}

extension AuditReader {
    package func bodies(_ range: Range<Int> = 0..<Int.max) throws -> [String] {
        var bodies: [String] = []
        try entries(in: range) { entry in
            bodies.append(String(decoding: entry.body, as: UTF8.self))
            return true
        }
        return bodies
    }
}

/// The case of an error, without its sentence.
package enum ErrorKind: Equatable {
    case missing, full, readOnly, busy, replaced, fenced, damaged, unfit, failed, closed

    package init(_ error: AuditStoreError) {
        self =
            switch error {
            case .missing: .missing
            case .full: .full
            case .readOnly: .readOnly
            case .busy: .busy
            case .replaced: .replaced
            case .fenced: .fenced
            case .damaged: .damaged
            case .unfit: .unfit
            case .failed: .failed
            case .closed: .closed
            }
    }
}

package func expect<Value>(
    _ kind: ErrorKind, _ location: SourceLocation = #_sourceLocation, _ body: () throws(AuditStoreError) -> Value
) {
    do throws(AuditStoreError) {
        _ = try body()
        Issue.record("nothing was thrown instead of \(kind)", sourceLocation: location)
    } catch {
        #expect(ErrorKind(error) == kind, "\(error)", sourceLocation: location)
        #expect(error.description.hasSuffix("."), sourceLocation: location)
    }
}
