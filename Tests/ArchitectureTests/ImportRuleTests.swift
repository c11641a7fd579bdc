import Foundation
import Testing

@Suite("Import rules")
struct ImportRuleTests {
    static let names = ImportRules.targets.map(\.name)

    @Test("A rule allows imports of earlier targets only")
    func rulesPointUp() {
        var earlier: Set<String> = []
        for target in ImportRules.targets {
            #expect(earlier.isSuperset(of: target.imports), "\(target.name) imports a later target")
            earlier.insert(target.name)
        }
    }

    @Test("No plugin may import a plugin")
    func pluginsAreIndependent() {
        let plugins = Set(ImportRules.targets.filter(\.isPlugin).map(\.name))
        for target in ImportRules.targets where target.isPlugin {
            #expect(plugins.isDisjoint(with: target.imports), "\(target.name)")
        }
    }

    @Test("A source file imports what its target's rule allows", arguments: names)
    func imports(_ name: String) throws {
        let target = try #require(ImportRules.targets.first { $0.name == name })
        for file in try SourceTree.swiftFiles(of: target) {
            let forbidden = try SourceTree.imports(of: file).intersection(Self.names).subtracting(target.imports)
            #expect(forbidden.isEmpty, "\(file.lastPathComponent) imports \(forbidden.sorted())")
        }
    }

    @Test("A source file imports a restricted module only in the targets that may use it")
    func restrictedModules() throws {
        for target in ImportRules.targets where target.name != "privyseal-bench" && !target.isForTests {
            for file in try SourceTree.swiftFiles(of: target) {
                for module in try SourceTree.imports(of: file) {
                    guard let users = ImportRules.restricted[module] else { continue }
                    #expect(users.contains(target.name), "\(file.lastPathComponent) imports \(module)")
                }
            }
        }
    }

    @Test("Only BuiltIns.swift imports plugins into the program")
    func builtIns() throws {
        let plugins = ImportRules.targets.filter(\.isPlugin).map(\.name)
        let program = try #require(ImportRules.targets.first { $0.name == "privyseal" })
        for file in try SourceTree.swiftFiles(of: program) where file.lastPathComponent != "BuiltIns.swift" {
            #expect(try SourceTree.imports(of: file).isDisjoint(with: plugins), "\(file.lastPathComponent)")
        }
    }

    @Test("Every folder of a target has a rule, and every rule has a folder")
    func folders() throws {
        #expect(try SourceTree.targetFolders() == Set(ImportRules.targets.map(\.path)))
    }

    @Test("Package.swift gives each target the dependencies that its rule allows, and no others")
    func package() throws {
        let package = try String(contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)
        for target in ImportRules.targets {
            let declared = try #require(SourceTree.dependencies(of: target, in: package), "no target \(target.name)")
            #expect(declared == Set(target.imports), "\(target.name)")
        }
    }

    @Test("The architecture page has a row for each target, with the imports that its rule allows")
    func architecturePage() throws {
        let page = try String(contentsOf: SourceTree.root.appending(path: "docs/architecture.md"), encoding: .utf8)
        let rows = SourceTree.tableRows(of: page)
        for target in ImportRules.targets where !target.isProgram {
            let name = ImportRules.features.contains(target.name) ? "Features" : target.name
            let row = try #require(rows[name], "no row for \(name)")
            #expect(row == Set(target.imports), "\(target.name)")
        }
    }

    @Test("No source traps on purpose: no fatalError, no precondition, no forced try or cast")
    func noTraps() throws {
        let traps = ["fatalError(", "preconditionFailure(", "precondition(", "try!", "as!", "unsafelyUnwrapped"]
        for target in ImportRules.targets where !target.isForTests && target.name != "privyseal-bench" {
            for file in try SourceTree.swiftFiles(of: target) {
                let text = try String(contentsOf: file, encoding: .utf8)
                for trap in traps { #expect(!text.contains(trap), "\(file.lastPathComponent) contains \(trap)") }
            }
        }
    }
}
