import Foundation

/// A temporary directory with a file to hide, and a directory beside it.
struct SandboxDirectory {
    let root: URL
    /// In the directory `gateway`, beside `visible`.
    let secret: String
    let beside: String
    let visible: String

    init() throws {
        let temporary = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        root = temporary.appending(path: "privyseal-sandbox-\(UUID().uuidString)")
        let gateway = root.appending(path: "gateway")
        secret = gateway.appending(path: "audit.sqlite").path
        beside = gateway.appending(path: "beside").path
        visible = root.appending(path: "visible").path
        try FileManager.default.createDirectory(at: gateway, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: visible, withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: URL(filePath: secret))
        try Data("beside".utf8).write(to: URL(filePath: beside))
        try Data("file".utf8).write(to: URL(filePath: file))
    }

    var file: String { "\(visible)/file" }

    func remove() { try? FileManager.default.removeItem(at: root) }
}
