import Glibc

/// The environment, with the variables that a service manager sets.
public enum Environment {
    public static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
