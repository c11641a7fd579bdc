import SigningKit

/// The names and settings that the program's plugins define, in addition to the keys of the file.
struct Plugins {
    let features: [String]
    let featureSettings: [PluginSetting]
    let backends: [any KeyBackend.Type]

    var schemes: [String] { backends.map { $0.scheme } }

    func backend(_ scheme: String) -> (any KeyBackend.Type)? {
        backends.first { $0.scheme == scheme }
    }
}
