import Foundation
import Testing

@testable import ProcessSandbox

@Suite("Hidden paths")
struct PathTreeTests {
    @Test("a path is hidden by itself and by a directory above it")
    func hidden() {
        var tree = PathTree()
        tree.insert("/var/lib/shop", [])
        tree.insert("/proc", .reading)
        #expect(tree.subtree(at: "/var/lib/shop") == nil)
        #expect(tree.subtree(at: "/var/lib/shop/keys/a") == nil)
        #expect(tree.subtree(at: "/var/lib")?.children.keys.sorted() == ["shop"])
        #expect(tree.subtree(at: "/var/lib/shopping")?.children.isEmpty == true)
        #expect(tree.subtree(at: "/proc")?.access == .reading)
    }

    @Test("a path without a file is resolved as far as it exists")
    func resolution() throws {
        let link = FileManager.default.temporaryDirectory.appending(path: "privyseal-\(UUID().uuidString)").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/usr")
        defer { try? FileManager.default.removeItem(atPath: link) }
        #expect(ResolvedPath.of("\(link)/no-such-directory/../file") == "/usr/file")
        #expect(ResolvedPath.of("/usr/./bin/../no-such-file") == "/usr/no-such-file")
        #expect(ResolvedPath.of("/") == "/")
    }
}
