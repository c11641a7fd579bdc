import Glibc

/// The variables that a service manager gives its services.
public enum Environment {
    public static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
