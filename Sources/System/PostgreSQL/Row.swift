import CLibPQ

/// A row of a result, valid during the visit. Columns count from 0, in the binary format.
public struct Row {
    let result: OpaquePointer

    public func isNull(_ column: Int32) -> Bool { PQgetisnull(result, 0, column) != 0 }

    /// A `bigint` column; 0 for NULL or another type.
    public func integer(_ column: Int32) -> Int {
        withBytes(column) { bytes in
            guard bytes.count == 8 else { return 0 }
            return Int(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        }
    }

    /// A `text` column; empty for NULL.
    public func text(_ column: Int32) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }

    /// A `bytea` column; empty for NULL.
    public func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

    private func withBytes<Value>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        let count = max(0, Int(PQgetlength(result, 0, column)))
        return body(UnsafeRawBufferPointer(start: PQgetvalue(result, 0, column), count: count))
    }

    /// The bytes of all values.
    var byteCount: Int { (0..<PQnfields(result)).reduce(0) { $0 + max(0, Int(PQgetlength(result, 0, $1))) } }
}
