import Foundation
import Testing

/// Reads each file of the corpus, without libFuzzer.
@Suite("The corpus of the fuzz targets")
struct CorpusTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Corpus")

    @Test("each reader of foreign bytes reads its corpus without a fault", arguments: FuzzTarget.allCases)
    func corpus(of target: FuzzTarget) throws {
        let directory = Self.corpus.appending(path: target.rawValue)
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = Array(try Data(contentsOf: file))
            do throws(FuzzFault) { try target.read(bytes) } catch {
                Issue.record("\(file.lastPathComponent): \(error)")
            }
        }
    }

    @Test("each directory of the corpus belongs to a target")
    func directories() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
        #expect(Set(names) == Set(FuzzTarget.allCases.map(\.rawValue)))
    }
}
