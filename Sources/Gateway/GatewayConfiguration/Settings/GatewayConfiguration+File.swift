extension GatewayConfiguration {
    /// A file or directory that the program opens later.
    public struct File: Sendable {
        /// Absolute.
        public let path: String
        public let origin: ConfigurationOrigin

        /// Not read yet.
        static let none = File(path: "", origin: .unknown)

        /// Whether both paths are the same without empty and `.` components. Symbolic links are not resolved.
        func isSame(as other: File) -> Bool { Self.components(path) == Self.components(other.path) }

        private static func components(_ path: String) -> [[UInt8]] {
            path.utf8.split(separator: UInt8(ascii: "/")).map(Array.init).filter { $0 != Array(".".utf8) }
        }

        /// A file next to this one.
        func beside(_ suffix: String, _ origin: ConfigurationOrigin) -> Self {
            Self(path: path + suffix, origin: origin)
        }
    }
}

extension SettingKind<GatewayConfiguration.File> {
    static func file(such example: String = "/etc/privyseal/tls/cert.pem") -> Self {
        absolutePath(of: "file", such: example)
    }

    /// - Parameter prefix: may be in front of the path.
    static func absolutePath(
        _ values: String = "absolute path", of what: String, such example: String, optionalPrefix prefix: String = ""
    ) -> Self {
        Self(
            values: values,
            read: { node, findings in
                node.parsed(findings) { text throws(InvalidValue) in
                    let path = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
                    try require(
                        path.hasPrefix("/") && !path.hasSuffix("/") && !path.hasControlCharacters
                            && path.utf8.count < 4096, "must be the absolute path of a \(what), such as \(example)")
                    return GatewayConfiguration.File(path: path, origin: node.origin)
                }
            }, text: { $0.path.isEmpty ? nil : $0.path })
    }
}
