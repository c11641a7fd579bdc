public import AuditKit
import Glibc
import SQLite

extension SQLiteAuditStore {
    public static func exists(at location: String) throws(AuditStoreError) -> Bool {
        try FileIdentity(LogLocation(location).path) != nil
    }

    /// Creates the database under a temporary name, and links it to its own name when it is complete.
    public static func create(at location: String, identity: AuditIdentity) throws(AuditStoreError) {
        let location = try LogLocation(location)
        guard try FileIdentity(location.directory) != nil else {
            throw .unfit("The directory \(location.directory) for the audit log does not exist: create it first.")
        }
        guard try FileIdentity(location.path) == nil else {
            throw .unfit("The file \(location.path) already exists.")
        }
        let draft = try emptyFile(beside: location)
        defer { unlink(draft) }
        try AuditStoreError.at(location.path) { () throws(SQLiteError) in
            try LogSchema.create(in: Connection(path: draft, access: .readWrite), identity: identity)
        }
        // Unlike rename(2), link(2) never replaces a file.
        guard link(draft, location.path) == 0 else { throw failure("make", location) }
        try synchronizeDirectory(of: location)
    }

    /// mkstemp(3) creates the file with mode 0600, and SQLite gives the -wal and -shm files the same mode.
    private static func emptyFile(beside location: LogLocation) throws(AuditStoreError) -> String {
        var template = Array("\(location.path).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure("make", location) }
        Glibc.close(descriptor)
        return template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    private static func synchronizeDirectory(of location: LogLocation) throws(AuditStoreError) {
        let descriptor = Glibc.open(location.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("synchronize", location) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("synchronize", location) }
    }

    private static func failure(_ verb: String, _ location: LogLocation) -> AuditStoreError {
        let error = errno
        let sentence =
            "The audit log \(location.path) could not be \(verb == "make" ? "created" : "synchronized"): "
            + "\(String(cString: strerror(error)))."
        return switch error {
        case ENOSPC, EDQUOT: .full(sentence)
        case EROFS, EACCES, EPERM: .readOnly(sentence)
        default: .failed(sentence)
        }
    }
}
