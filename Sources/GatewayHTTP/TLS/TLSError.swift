/// Why a listener's TLS files cannot be used. It names the file and the cure, and nothing of a key.
public enum TLSError: Error, Equatable, CustomStringConvertible {
    /// Not there, not readable, or not PEM.
    case unreadable(path: String)
    /// A FIFO, a device or a directory; or longer than any certificate chain or key.
    case unfit(path: String)
    /// A file of certificates without one.
    case empty(path: String)
    /// More trust roots than each connection's context can be made with in good time.
    case tooManyRoots(path: String, count: Int)
    /// The key is not the one that the certificate is for, or of a kind that TLS cannot use.
    case unusable(certificate: String, key: String)

    public var description: String {
        switch self {
        case .unreadable(let path):
            "\(path) cannot be read, or is not PEM; check the path, its permissions and its content."
        case .unfit(let path):
            "\(path) is not a regular file of at most \(TLSFile.limit >> 20) MiB; give a file in PEM."
        case .empty(let path): "\(path) holds no certificate; give certificates in PEM."
        case .tooManyRoots(let path, let count):
            "\(path) holds \(count) different certificates, and at most \(TLSMaterial.rootLimit) may vouch for clients; "
                + "remove those that no client needs."
        case .unusable(let certificate, let key):
            "The key in \(key) does not belong to the first certificate in \(certificate), or TLS cannot use it."
        }
    }
}
