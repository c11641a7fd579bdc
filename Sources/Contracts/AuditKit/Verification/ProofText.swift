import Encodings
import TransparencyLog

/// The common text format of both proofs: a header line, further lines, and checkpoint notes after empty lines.
enum ProofText {
    /// - Returns: the lines after the header, and `count` notes.
    static func split(
        _ bytes: [UInt8], notes count: Int, header: String
    ) throws(AuditProofError) -> (lines: ArraySlice<ArraySlice<UInt8>>, notes: [SignedNote]) {
        guard bytes.count <= SignedNote.maximumSize * (count + 1), String(validating: bytes, as: UTF8.self) != nil
        else {
            throw .malformed(.notText)
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.first?.elementsEqual(header.utf8) == true else { throw .malformed(.header) }
        // A checkpoint's text has no empty line, so each note is two parts. The final newline makes an empty last line.
        let parts = lines.dropLast().split(separator: [], omittingEmptySubsequences: false)
        guard lines.last?.isEmpty == true, parts.count == 1 + 2 * count else { throw .malformed(.parts) }
        var notes: [SignedNote] = []
        for number in 0..<count {
            let note = parts[1 + 2 * number] + [[]] + parts[2 + 2 * number]
            do throws(NoteError) {
                notes.append(try SignedNote(parsing: note.flatMap { $0 + [UInt8(ascii: "\n")] }))
            } catch {
                throw .note(error)
            }
        }
        return (parts[0].dropFirst(), notes)
    }

    /// The rest of a line after its first word.
    static func value(of name: StaticString, in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        name.withUTF8Buffer { name in line.starts(with: name) ? line.dropFirst(name.count) : nil }
    }

    static func hashes(_ lines: ArraySlice<ArraySlice<UInt8>>) throws(AuditProofError) -> [MerkleHash] {
        var hashes: [MerkleHash] = []
        for line in lines {
            guard let hash = Base64.standard.decode(line).flatMap({ MerkleHash(bytes: $0) }) else {
                throw .malformed(.hash)
            }
            hashes.append(hash)
        }
        return hashes
    }

    static func lines(of hashes: [MerkleHash]) -> String {
        hashes.map { String(decoding: Base64.standard.encode($0.bytes), as: UTF8.self) + "\n" }.joined()
    }

    static func checkpoint(
        _ note: SignedNote, _ verifiers: [NoteVerifier]
    ) throws(AuditProofError) -> Checkpoint {
        do throws(NoteError) {
            return try Checkpoint(note, signedByLogWith: verifiers)
        } catch {
            throw .note(error)
        }
    }
}
