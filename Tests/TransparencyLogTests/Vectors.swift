import Foundation
import Testing
import TransparencyLog

/// The files in `Vectors/`; each names its source.
enum Vectors {
    struct Tree: Decodable {
        struct Inclusion: Decodable {
            let index: Int
            let size: Int
            let hashes: [String]
        }
        struct Consistency: Decodable {
            let old: Int
            let new: Int
            let hashes: [String]
        }
        let leaves: [String]
        /// Indexed by size, from 0.
        let roots: [String]
        let inclusion: [Inclusion]
        let consistency: [Consistency]
    }

    struct Notes: Decodable {
        struct Note: Decodable {
            let key: String
            let note: String
        }
        let signer: String
        let notes: [Note]
    }

    static func tree() throws -> Tree { try read("rfc6962") }
    static func notes() throws -> Notes { try read("notes") }

    private static func read<Content: Decodable>(_ name: String) throws -> Content {
        let url = try #require(Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors"))
        return try JSONDecoder().decode(Content.self, from: Data(contentsOf: url))
    }
}

func bytes(hexadecimal text: String) throws -> [UInt8] {
    let digits = Array(text)
    return try stride(from: 0, to: digits.count, by: 2).map { position in
        try #require(UInt8(String(digits[position...position + 1]), radix: 16))
    }
}

func hash(_ hexadecimal: String) throws -> MerkleHash {
    try #require(MerkleHash(bytes: try bytes(hexadecimal: hexadecimal)))
}
