/// Gives the bodies of an archived segment, in order; nil when it does not have them.
public typealias AuditArchive = (_ segment: Int) throws(AuditStoreError) -> [[UInt8]]?
