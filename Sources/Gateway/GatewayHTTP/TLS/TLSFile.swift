import Glibc
import SigningKit

/// Reads a whole certificate or key file. It never blocks on a FIFO.
enum TLSFile {
    /// In bytes.
    static let limit = 1 << 20

    static func read(_ path: String) throws(TLSError) -> [UInt8] {
        do throws(BoundedFile.Failure) { return try BoundedFile.read(path, limit: limit) } catch {
            switch error {
            case .directory, .notRegular, .tooLong: throw .unfit(path: path)
            case .system(let code): throw .unreadable(path: path, code: code)
            }
        }
    }
}

/// Why a listener's TLS files cannot be used. Messages name the file and the remedy, and contain nothing of a key.
public enum TLSError: Error, Equatable, CustomStringConvertible {
    /// - Parameter code: the value of `errno`.
    case unreadable(path: String, code: Int32)
    /// Not a regular file, or longer than `TLSFile.limit`.
    case unfit(path: String)
    case noCertificate(path: String)
    case noKey(path: String)
    /// More trust roots than `TLSMaterial.rootLimit`.
    case tooManyRoots(path: String, count: Int)
    /// The key does not belong to the certificate, or TLS does not support its kind.
    case unusable(certificate: String, key: String)

    public var description: String {
        switch self {
        case .unreadable(let path, let code):
            "\(path) cannot be read: \(String(cString: strerror(code))). Check the path and its permissions."
        case .unfit(let path):
            "\(path) is not a regular file of at most \(TLSFile.limit >> 20) MiB; give a file in PEM."
        case .noCertificate(let path): "\(path) holds no certificate; give certificates in PEM."
        case .noKey(let path):
            "\(path) holds no private key that TLS can use; give the certificate's key in PEM, without a passphrase."
        case .tooManyRoots(let path, let count):
            "\(path) holds \(count) different certificates, and at most \(TLSMaterial.rootLimit) may vouch for clients; "
                + "remove those that no client needs."
        case .unusable(let certificate, let key):
            "The key in \(key) does not belong to the first certificate in \(certificate), or TLS cannot use it."
        }
    }
}
