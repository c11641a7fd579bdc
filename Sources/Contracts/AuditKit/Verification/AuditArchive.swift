/// Returns the entries of an archived segment, in order; nil if the archive does not have it.
public typealias AuditArchive = (_ segment: Int) throws(AuditStoreError) -> [[UInt8]]?
