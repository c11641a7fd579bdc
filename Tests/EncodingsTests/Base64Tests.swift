import Encodings
import Foundation
import SigningKitTesting
import Testing

@Suite("Base64")
struct Base64Tests {
    /// RFC 4648 §10
    @Test(
        "Base64 encodes and decodes the vectors of the RFC",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(_ text: String, _ characters: String) {
        let unpadded = characters.prefix { $0 != "=" }
        #expect(Base64.standard.encode(Array(text.utf8)) == Array(characters.utf8))
        #expect(Base64.url.encode(Array(text.utf8)) == Array(unpadded.utf8))
        #expect(Base64.standard.decode(characters.utf8) == Array(text.utf8))
        #expect(Base64.url.decode(unpadded.utf8) == Array(text.utf8))
    }

    @Test("Base64 decodes each of its two alphabets and refuses the other")
    func alphabets() {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xFF, 0xFE]
        #expect(Base64.standard.encode(bytes) == Array("++///g==".utf8))
        #expect(Base64.url.encode(bytes) == Array("--___g".utf8))
        #expect(Base64.standard.decode("--__".utf8) == nil)
        #expect(Base64.url.decode("++//".utf8) == nil)
        #expect(Base64.url.decode("Zg==".utf8) == nil)
    }

    @Test(
        "Base64 refuses input that other decoders read differently",
        arguments: [
            "Z", "Zg", "Zg=", "Zg===", "Zm9", "Zm9v=", "=", "====", "Zm=8", "Z===", "Zm9vZ", "Zm9v ", " Zm9v", "Zm\n9v",
            "Zm9v\0",
            // Stray bits in the last character
            "Zh==", "Zm9=", "Zm8+=", "Zn==", "ZmF=", "Zm9v====", "Zg==Zg==", "Zg==Z", "é===", "Zm9*",
        ])
    func strict(_ characters: String) {
        #expect(Base64.standard.decode(characters.utf8) == nil)
    }

    @Test(
        "Base64 refuses stray bits and invalid lengths without padding",
        arguments: ["Z", "Zh", "Zm9", "Zm9vZ", "Zm9vZm9"])
    func strictURL(_ characters: String) {
        #expect(Base64.url.decode(characters.utf8) == nil)
    }

    @Test("Base64 agrees with Foundation on random bytes of every length up to 200")
    func besideFoundation() {
        var generator = SplitMix64(seed: 64)
        for count in 0...200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let theirs = Data(bytes).base64EncodedString()
            #expect(Base64.standard.encode(bytes) == Array(theirs.utf8))
            #expect(Base64.standard.decode(theirs.utf8) == bytes)
            let url = Base64.url.encode(bytes)
            #expect(String(decoding: url, as: UTF8.self) == theirs.filter { $0 != "=" }.map(Self.urlCharacter).joined())
            #expect(Base64.url.decode(url) == bytes)
        }
    }

    @Test("decoded text encodes to the same characters again", arguments: [Base64.standard, Base64.url])
    func canonical(_ base64: Base64) {
        var generator = SplitMix64(seed: 46)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_==".utf8)
        var decoded = 0
        for _ in 0..<20_000 {
            let characters = (0..<Int.random(in: 0...9, using: &generator)).compactMap { _ in
                alphabet.randomElement(using: &generator)
            }
            guard let bytes = base64.decode(characters) else { continue }
            decoded += 1
            #expect(base64.encode(bytes) == characters)
        }
        #expect(decoded > 1_000)
    }

    @Test("Base64 appends to existing bytes, from any collection")
    func append() {
        var characters = Array("x.".utf8)
        Base64.url.append([0xFF, 0x00].reversed() as ReversedCollection<[UInt8]>, to: &characters)
        Base64.url.append(ArraySlice([9, 0xFF, 9])[1..<2], to: &characters)
        #expect(characters == Array("x.AP8_w".utf8))
    }

    private static func urlCharacter(_ character: Character) -> String {
        switch character {
        case "+": "-"
        case "/": "_"
        default: String(character)
        }
    }
}
