import CProcessSandbox

/// The environment variables that a signer process gets from the gateway.
///
/// Vendors configure their libraries with variables (`SOFTHSM2_CONF`, `CKNFAST_*`, `KMS_PKCS11_CONFIG`,
/// `TPM2_PKCS11_STORE`), so the list names what a signer must not get. `CREDENTIALS_DIRECTORY` stays, because the signer
/// reads the PIN.
public enum SignerEnvironment {
    /// Variables that change the loader or the allocator (ld.so(8), mallopt(3)), and those for the gateway itself
    /// (sd_notify(3), sd_listen_fds(3)).
    private static let removedNames: Set<String> = ["GLIBC_TUNABLES", "NOTIFY_SOCKET"]
    private static let removedPrefixes = ["LD_", "MALLOC_", "WATCHDOG_", "LISTEN_", "PRIVYSEAL_"]

    /// - Parameter keepsAWS: whether the signer uses AWS KMS and needs the credentials in `AWS_*`.
    public static func filter(_ variables: [String: String], keepsAWS: Bool) -> [String: String] {
        variables.filter { name, _ in
            !removedNames.contains(name) && !removedPrefixes.contains { name.hasPrefix($0) }
                && (keepsAWS || !name.hasPrefix("AWS_"))
        }
    }
}

/// The descriptors that a signer process gets from the gateway. NIO's sockets are not marked to be closed at exec(3), so a
/// module could use the connections of clients.
public enum SignerDescriptors {
    /// Closes all descriptors from `first` on in a process that posix_spawn(3) starts.
    ///
    /// - Parameter actions: a `posix_spawn_file_actions_t`.
    /// - Returns: 0 or an errno.
    public static func close(from first: Int32, in actions: UnsafeMutableRawPointer) -> Int32 {
        privyseal_spawn_close_from(actions, first)
    }
}
