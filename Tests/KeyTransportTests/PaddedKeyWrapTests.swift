import Crypto
import CryptoExtras
import KeyTransport
import Testing

@Suite("AES key wrap with padding")
struct PaddedKeyWrapTests {
    @Test("wrap matches the example of RFC 5649 §6 and refuses input that is too short")
    func vector() throws {
        let key = SymmetricKey(data: bytes("5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8"))
        let plain = bytes("c37b7e6492584340bed12207808941155068f738")
        #expect(
            try wrap(plain, key) == bytes("138bdeaa9b8fa7fc61f97742e72248ee5ae6ae5360d1ae6a5f54f373fa543b6a"))
        #expect(try wrap(Array(plain.prefix(7)), key) == nil)
    }

    private func wrap(_ plain: [UInt8], _ key: SymmetricKey) throws -> [UInt8]? {
        try plain.withUnsafeBytes { plain in
            try PaddedKeyWrap.wrap(plain) { block in
                var slice = block[...]
                try AES.permute(&slice, key: key)
            }
        }
    }

    private func bytes(_ hexadecimal: String) -> [UInt8] {
        stride(from: 0, to: hexadecimal.utf8.count, by: 2).compactMap { index in
            UInt8(hexadecimal.dropFirst(index).prefix(2), radix: 16)
        }
    }
}
