import Glibc
import TransparencyLog

/// Finds the notes of one log in a file by the log's name and the number of entries in the line below it, whoever signed them: a file
/// of a year has half a million notes, and a start must not wait until each is read.
struct CheckpointClaims {
    struct ReadFailure: Error {
        let errno: Int32
    }

    private struct Claim: Comparable {
        let size: Int
        /// Where the note begins.
        let position: Int

        static func < (left: Claim, right: Claim) -> Bool {
            (left.size, left.position) < (right.size, right.position)
        }
    }

    /// Claims that are kept at a time, the largest.
    private static let capacity = 256
    private static let pieceSize = 1 << 20
    /// Bytes: none of ours comes near it.
    private static let longestNote = 8 << 10
    /// Digits of a size, and the end of their line.
    private static let sizeRoom = 20

    private let descriptor: Int32
    private let needle: [UInt8]

    /// - Parameter descriptor: of a file that can be read at any place.
    init(of origin: String, in descriptor: Int32) {
        self.descriptor = descriptor
        needle = Array("\n\(origin)\n".utf8)
    }

    /// The note with the largest size of those that are accepted.
    func largest(_ accepts: (SignedNote) -> Bool) throws(ReadFailure) -> SignedNote? {
        var bound = Claim(size: .max, position: 0)
        while true {
            let claims = try claims(below: bound)
            for claim in claims {
                if let note = try note(at: claim.position), accepts(note) { return note }
            }
            guard claims.count == Self.capacity, let last = claims.last else { return nil }
            bound = last
        }
    }

    /// The largest first.
    private func claims(below bound: Claim) throws(ReadFailure) -> [Claim] {
        var claims: [Claim] = []
        var least: Claim?
        func keepLargest() {
            claims.sort(by: >)
            claims.removeLast(max(0, claims.count - Self.capacity))
            if claims.count == Self.capacity { least = claims.last }
        }
        try visit { claim in
            guard claim < bound, least.map({ $0 < claim }) ?? true else { return }
            claims.append(claim)
            if claims.count == 2 * Self.capacity { keepLargest() }
        }
        keepLargest()
        return claims
    }

    private func visit(_ body: (Claim) -> Void) throws(ReadFailure) {
        let margin = needle.count + Self.sizeRoom
        // No line stands before a note at the beginning.
        var (buffer, base) = ([UInt8(ascii: "\n")], -1)
        var isEnd = false
        while !isEnd {
            let piece = try read(Self.pieceSize, at: base + buffer.count)
            isEnd = piece.isEmpty
            buffer += piece
            let end = isEnd ? buffer.count : max(0, buffer.count - margin)
            var start = 0
            while let match = match(in: buffer, from: start), match < end {
                if let size = Self.number(in: buffer[(match + needle.count)...].prefix(Self.sizeRoom)) {
                    body(Claim(size: size, position: base + match + 1))
                }
                start = match + 1
            }
            base += end
            buffer.removeFirst(end)
        }
    }

    private func match(in buffer: [UInt8], from start: Int) -> Int? {
        buffer.withUnsafeBytes { buffer -> Int? in
            guard let begin = buffer.baseAddress else { return nil }
            var position = start
            while position + needle.count <= buffer.count {
                guard let end = memchr(begin + position, Int32(UInt8(ascii: "\n")), buffer.count - position) else {
                    return nil
                }
                position = UnsafeRawPointer(end) - begin
                guard position + needle.count <= buffer.count else { return nil }
                if memcmp(end, needle, needle.count) == 0 { return position }
                position += 1
            }
            return nil
        }
    }

    /// Nil unless it begins with decimal digits and the end of a line.
    private static func number(in bytes: ArraySlice<UInt8>) -> Int? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let size = Int(String(decoding: bytes[..<end], as: UTF8.self))
        return size.flatMap { $0 >= 0 ? $0 : nil }
    }

    private func note(at position: Int) throws(ReadFailure) -> SignedNote? {
        var first: SignedNote?
        var scanner = NoteScanner()
        let bytes = try read(Self.longestNote, at: position)
        // The last one of all may lack the empty line behind it.
        for piece in [bytes[...], [UInt8(ascii: "\n")]] { scanner.read(piece) { first = first ?? $0 } }
        return first
    }

    private func read(_ count: Int, at position: Int) throws(ReadFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var result: Int
        repeat { result = pread(descriptor, &bytes, count, off_t(position)) } while result < 0 && errno == EINTR
        guard result >= 0 else { throw ReadFailure(errno: errno) }
        bytes.removeLast(count - result)
        return bytes
    }
}
