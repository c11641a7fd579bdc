import SigningKit

/// The names that the program's plugins define, in addition to the keys of the file.
struct PluginNames {
    let features: [String]
    let backends: [any KeyBackend.Type]

    var schemes: [String] { backends.map { $0.scheme } }

    func backend(_ scheme: String) -> (any KeyBackend.Type)? {
        backends.first { $0.scheme == scheme }
    }
}
