import ArgumentParser

/// How `privyseal verify` prints.
enum VerifyFormat: String, CaseIterable, ExpressibleByArgument {
    case text, json
}
