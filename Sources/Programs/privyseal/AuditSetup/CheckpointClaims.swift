import Glibc
import TransparencyLog

/// Finds a log's notes in a file by the line with the log's name and the size in the next line, regardless of
/// signatures. A file of one year has half a million notes, and the gateway's start must not parse all of them.
struct CheckpointClaims {
    private struct Claim: Comparable {
        let size: Int
        /// The byte offset of the note.
        let position: Int

        static func < (left: Claim, right: Claim) -> Bool {
            (left.size, left.position) < (right.size, right.position)
        }
    }

    /// The largest claims, which are kept in memory at a time.
    private static let capacity = 256
    private static let pieceSize = 1 << 20
    /// In bytes. The gateway's notes are shorter, because `WitnessPolicyFile` limits the witnesses.
    private static let longestNote = 1 << 15
    /// The digits of a size and the end of the line.
    private static let sizeRoom = 20

    private let path: String
    private let descriptor: Int32
    private let needle: [UInt8]

    /// - Parameters:
    ///   - path: for messages.
    ///   - descriptor: of a seekable file.
    init(of origin: String, in path: String, _ descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
        needle = Array("\n\(origin)\n".utf8)
    }

    /// The accepted note with the largest size.
    func largest(_ accepts: (SignedNote) -> Bool) throws(CommandError) -> SignedNote? {
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

    /// In descending order.
    private func claims(below bound: Claim) throws(CommandError) -> [Claim] {
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

    private func visit(_ body: (Claim) -> Void) throws(CommandError) {
        let margin = needle.count + Self.sizeRoom
        // Precede the file with a newline, so that a note at its beginning matches.
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

    /// Nil unless the bytes begin with decimal digits and a newline.
    private static func number(in bytes: ArraySlice<UInt8>) -> Int? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let size = Int(String(decoding: bytes[..<end], as: UTF8.self))
        return size.flatMap { $0 >= 0 ? $0 : nil }
    }

    private func note(at position: Int) throws(CommandError) -> SignedNote? {
        var first: SignedNote?
        var scanner = NoteScanner()
        let bytes = try read(Self.longestNote, at: position)
        // The last note may lack the empty line after it.
        for piece in [bytes[...], [UInt8(ascii: "\n")]] { scanner.read(piece) { first = first ?? $0 } }
        return first
    }

    private func read(_ count: Int, at position: Int) throws(CommandError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var result: Int
        repeat { result = pread(descriptor, &bytes, count, off_t(position)) } while result < 0 && errno == EINTR
        guard result >= 0 else { throw Self.unreadable(path) }
        bytes.removeLast(count - result)
        return bytes
    }

    /// The reason is in `errno`.
    static func unreadable(_ path: String) -> CommandError {
        CommandError("The checkpoints in \(path) cannot be read: \(String(cString: strerror(errno))).")
    }
}
