import CLibCrypto
import Foundation
import SigningKit
import Testing

@testable import P8

@Suite("Secure memory of file keys")
struct SecureHeapTests {
    @Test("The secure heap is locked and excluded from core dumps")
    func lockedAndNotDumped() throws {
        #expect(SecureHeap.protection == .locked)
        let bytes = try #require(SecureBytes(capacity: 32))
        bytes.fill { room in room.count }
        let address = UInt(bitPattern: bytes.bytes.baseAddress)
        let flags = try #require(try Self.flags(of: address))
        #expect(flags.contains("lo"), "locked: never swapped")
        #expect(flags.contains("dd"), "left out of core dumps")
    }

    @Test("The content of a key file and its decoded forms are on the secure heap")
    func contentIsSecure() throws {
        let directory = try KeyDirectory()
        let path = String(try directory.write(OpenSSL.key()).dropFirst("file:".count))
        let file = KeyFile(path: path, allowsSharing: false, passphraseSource: nil, secrets: NoSecrets())
        let content = try file.read()
        #expect(CRYPTO_secure_allocated(content.bytes.baseAddress) == 1)
        let block = try #require(try PEMBlock.find(in: content.bytes).first)
        #expect(CRYPTO_secure_allocated(try block.decode(content.bytes).bytes.baseAddress) == 1)
    }

    @Test("Secure bytes are wiped when they are released")
    func wiped() throws {
        // The heap returns the block that was freed last to the next caller that requests its size.
        var first = SecureBytes(capacity: 4096)
        first?.fill { room in
            for index in room.indices { room[index] = 0xA5 }
            return room.count
        }
        let address = first?.bytes.baseAddress
        first = nil
        let second = try #require(SecureBytes(capacity: 4096))
        second.fill { $0.count }
        #expect(second.bytes.baseAddress == address)
        // The first 32 bytes hold the links of the free list.
        #expect(second.bytes.dropFirst(32).allSatisfy { $0 == 0 })
    }

    /// The flags of the mapping that holds an address (proc(5), `smaps`).
    private static func flags(of address: UInt) throws -> [Substring]? {
        var isInside = false
        let maps = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/smaps")).readToEnd() ?? Data()
        for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
            let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
            if range.count == 2 { isInside = (range[0]..<range[1]).contains(address) }
            if isInside, line.hasPrefix("VmFlags:") { return line.dropFirst("VmFlags:".count).split(separator: " ") }
        }
        return nil
    }
}
