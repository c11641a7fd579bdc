import SigningKit

/// The names that the program knows besides the keys of the file: they come with its plugins.
struct Vocabulary {
    /// The IDs of the features.
    let features: [String]
    let backends: [any KeyBackend.Type]

    var schemes: [String] { backends.map { $0.scheme } }

    func backend(_ scheme: String) -> (any KeyBackend.Type)? {
        backends.first { $0.scheme == scheme }
    }
}
