import Crypto
import Testing
import TransparencyLog

@testable import AuditKit

@Suite("Verification of a log")
struct VerificationTests {
    @Test("verify finds no fault in an intact log", arguments: [0, 1, 7, 4095, 4096, 4097, 9000])
    func intact(_ size: Int) throws {
        let log = try SampleLog(size: size, checkpoints: [1, 7, 4096, 5000])
        let report = try log.verify(externals: log.reader.kept)
        #expect(report.faults.isEmpty && report.isIntact)
        #expect(report.size == size)
        #expect(report.keptChecked == log.reader.kept.count + (size > 0 ? 1 : 0))
        #expect(report.externalChecked == log.reader.kept.count)
        #expect(report.root == (try log.reader.storedHead.map { try root(of: $0) } ?? .empty))
    }

    /// A change to a log of 9,000 entries with checkpoints at 1,000, 4,096, 5,000 and 8,500, and the report about it.
    struct Tampering: Sendable, CustomTestStringConvertible {
        let name: String
        let sentences: [String]
        let act: @Sendable (MemoryAuditReader) throws -> Void
        var testDescription: String { name }
    }

    @Test("verify reports each kind of tampering", arguments: tamperings)
    func tampering(_ tampering: Tampering) throws {
        let log = try SampleLog(size: 9000, checkpoints: [1000, 4096, 5000, 8500])
        try tampering.act(log.reader)
        let report = try log.verify()
        #expect(report.faults.map(\.description) == tampering.sentences)
        #expect(report.faultCount == tampering.sentences.count)
        #expect(!report.isIntact)
    }

    /// A change to a log, and the entries that no checkpoint proves afterwards.
    struct UnprovedChange: Sendable, CustomTestStringConvertible {
        let name: String
        let unproved: [Range<Int>]
        let act: @Sendable (MemoryAuditReader) throws -> Void
        var testDescription: String { name }
    }

    @Test("verify reports the entries that no checkpoint proves", arguments: doubts)
    func unproved(_ doubt: UnprovedChange) throws {
        let log = try SampleLog(size: 13_000, checkpoints: [1000, 4096, 5000, 12_500])
        try doubt.act(log.reader)
        let report = try log.verify()
        #expect(report.unproved == doubt.unproved)
        #expect(
            report.proof?.hasPrefix(doubt.unproved.isEmpty ? "The log's own checkpoints prove every" : "No checkpoint")
                == true)
    }

    static let doubts: [UnprovedChange] = [
        .init(name: "a changed entry", unproved: [1000..<4096]) { $0.change(2000, to: other) },
        .init(name: "one that is hidden behind one that is named", unproved: [5000..<8192]) { reader in
            reader.change(6000, to: other)
            reader.change(7000, to: other, isMarked: true)
        },
        .init(name: "several in two segments", unproved: [0..<4096, 8192..<12_288]) { reader in
            for index in [3, 9000] { reader.change(index, to: other) }
        },
        .init(name: "one behind the last full segment", unproved: [12_500..<13_000]) { $0.change(12_900, to: other) },
        .init(name: "a segment's root made to fit", unproved: [4096..<13_000]) { reader in
            reader.change(4711, to: other, isMarked: true)
            reader.recomputeRoot(of: 1)
        },
        .init(name: "missing entries", unproved: [5000..<12_288]) { $0.stored.removeSubrange(7000...9000) },
        .init(name: "a changed mark", unproved: []) {
            $0.stored[5] = StoredEntry(index: 5, body: $0.stored[5].body, mark: 5)
        },
        .init(name: "a changed root of a segment", unproved: []) { $0.roots[1] = $0.roots[0] },
        .init(name: "an entry behind the end", unproved: [13_000..<13_001]) {
            $0.stored.append(
                StoredEntry(index: 13_000, body: other, mark: StoredEntry.mark(of: .leaf(other), at: 13_000)))
        },
        .init(name: "no head", unproved: [12_500..<13_000]) { $0.storedHead = nil },
        .init(name: "nothing that was signed", unproved: [0..<13_000]) { reader in
            (reader.storedHead, reader.kept) = (nil, [])
        },
        .init(name: "a head that is none", unproved: [0..<13_000]) { reader in
            (reader.storedHead, reader.kept) = (SignedTreeHead(size: 0, note: "garbage"), [])
            reader.change(7, to: other, isMarked: true)
        },
        .init(name: "an older checkpoint for a head", unproved: [5000..<13_000]) { reader in
            (reader.storedHead, reader.kept) = (reader.kept[2], [reader.kept[2]])
            reader.change(6000, to: other, isMarked: true)
        },
    ]

    private static let other = Array("{}".utf8)

    static let tamperings: [Tampering] = [
        .init(name: "a changed entry", sentences: [changed("4,711")]) { $0.change(4711, to: other) },
        .init(name: "a changed bit in the first", sentences: [changed("0")]) { reader in
            var body = reader.stored[0].body
            body[5] ^= 1
            reader.change(0, to: body)
        },
        .init(name: "the last changed", sentences: [changed("8,999")]) { $0.change(8999, to: other) },
        .init(name: "several changed", sentences: [changed("3"), changeds("10 to 12"), changed("8,700")]) { reader in
            for index in [3, 10, 11, 12, 8700] { reader.change(index, to: other) }
        },
        .init(name: "a changed entry whose mark fits, in a full segment", sentences: [forged("5,000 to 8,191")]) {
            $0.change(6000, to: other, isMarked: true)
        },
        .init(
            name: "a changed entry whose mark and segment's root fit",
            sentences: [
                "Entries 4,096 to 4,999 are not what the checkpoint kept in the log of 5,000 entries covers."
            ]
        ) { reader in
            reader.change(4711, to: other, isMarked: true)
            reader.recomputeRoot(of: 1)
        },
        .init(
            name: "a changed entry whose mark fits, at the end",
            sentences: ["Entries 8,500 to 8,999 are not what the head of 9,000 entries covers."]
        ) { $0.change(8800, to: other, isMarked: true) },
        .init(
            name: "a changed entry, and in the next segment one whose mark fits",
            sentences: [changed("10"), forged("4,096 to 8,191")]
        ) { reader in
            reader.kept = [reader.kept[2]]
            reader.change(10, to: other)
            reader.change(4700, to: other, isMarked: true)
        },
        .init(name: "missing entries", sentences: ["Entries 10 to 12 are missing."]) {
            $0.stored.removeSubrange(10...12)
        },
        .init(name: "a missing entry", sentences: ["Entry 0 is missing."]) { $0.stored.removeFirst() },
        .init(
            name: "a changed entry in a segment with a missing one",
            sentences: [changed("5,100"), "Entry 5,200 is missing."]
        ) { reader in
            reader.change(5100, to: other)
            reader.stored.remove(at: 5200)
        },
        .init(name: "a missing end", sentences: ["Entries 8,990 to 8,999 are missing."]) { $0.stored.removeLast(10) },
        .init(name: "more than a segment missing", sentences: ["Entries 100 to 8,899 are missing."]) {
            $0.stored.removeSubrange(100..<8900)
        },
        .init(
            name: "a removed entry, and the rest moved up",
            sentences: [
                changeds("5,000 to 8,998"), "Entry 8,999 is missing.",
            ]
        ) { reader in
            reader.stored.remove(at: 5000)
            for position in 5000..<8999 { reader.move(position, to: position) }
        },
        .init(
            name: "two swapped, with their marks", sentences: [changed("7"), changed("9")]
        ) { reader in
            reader.move(7, to: 9)
            reader.move(9, to: 7)
            reader.stored.swapAt(7, 9)
        },
        .init(name: "two swapped, their marks left", sentences: [changed("7"), changed("9")]) { reader in
            let body = reader.stored[7].body
            reader.change(7, to: reader.stored[9].body)
            reader.change(9, to: body)
        },
        .init(name: "an entry twice", sentences: ["Entry 7 exists more than once."]) { reader in
            reader.stored.insert(reader.stored[7], at: 8)
        },
        .init(
            name: "an entry behind the end",
            sentences: ["Entry 9,000 is after the log's end: no signature covers it."]
        ) {
            $0.stored.append(StoredEntry(index: 9000, body: other, mark: StoredEntry.mark(of: .leaf(other), at: 9000)))
        },
        .init(
            name: "an entry far behind the end",
            sentences: [
                "Entries 9,000 to 4,611,686,018,427,387,904 are after the log's end: no signature covers them.",
                changed("4,611,686,018,427,387,904"),
            ]
        ) { $0.stored.append(StoredEntry(index: 1 << 62, body: other, mark: 0)) },
        .init(name: "a changed mark", sentences: ["The mark of entry 5 was changed; the entry itself is correct."]) {
            reader in
            reader.stored[5] = StoredEntry(index: 5, body: reader.stored[5].body, mark: 5)
        },
        .init(
            name: "a changed mark behind a changed entry",
            sentences: [
                changed("5"), "The marks of entries 8,600 to 8,601 were changed; the entries themselves are correct.",
            ]
        ) { reader in
            reader.change(5, to: other)
            for index in 8600...8601 {
                reader.stored[index] = StoredEntry(index: index, body: SampleLog.body(index), mark: 5)
            }
        },
        .init(
            name: "a changed root of a segment",
            sentences: ["The root recorded for entries 4,096 to 8,191 was changed; the entries themselves are correct."]
        ) { $0.roots[1] = $0.roots[0] },
        .init(
            name: "a root removed",
            sentences: ["The roots of 1 segments are recorded, but the log has 2 full segments."]
        ) {
            $0.roots.removeLast()
        },
        .init(name: "no head", sentences: ["The log has 9,000 entries, but no head: no signature covers them."]) {
            $0.storedHead = nil
        },
        .init(
            name: "an older head",
            sentences: [
                "The roots of 2 segments are recorded, but the log has 1 full segments.",
                "The log ends at 5,000, but a checkpoint kept in the log covers 8,500 entries: it was truncated, or an "
                    + "older copy was restored. A copy that was made before the checkpoint looks the same.",
                "Entries 5,000 to 8,999 are after the log's end: no signature covers them.",
            ]
        ) { $0.storedHead = $0.kept[2] },
        .init(
            name: "a head by another key",
            sentences: [
                "The head of 9,000 entries is not valid: None of the known keys signed the note; its signatures "
                    + "are by example.com/log."
            ]
        ) { reader in
            reader.storedHead = try SampleLog(size: 9000).reader.storedHead
        },
        .init(
            name: "a kept checkpoint with another size",
            sentences: [
                "The checkpoint kept in the log of 1,000 entries is not valid: The signature by example.com/log "
                    + "is wrong: the note is not what was signed."
            ]
        ) { reader in
            let note = reader.kept[0].note.replacing("\n1000\n", with: "\n1001\n")
            reader.kept[0] = SignedTreeHead(size: 1000, note: note)
        },
        .init(
            name: "a kept checkpoint recorded under another size",
            sentences: [
                "The checkpoint kept in the log of 1,000 entries is not valid: It is recorded as one of 999 entries."
            ]
        ) { reader in
            reader.kept[0] = SignedTreeHead(size: 999, note: reader.kept[0].note)
        },
        .init(name: "a damaged page", sentences: ["Entries 300 to 4,095 cannot be read: A page is damaged."]) {
            $0.damage = [300]
        },
        .init(name: "a store that complains", sentences: ["Row 7 is odd."]) { $0.remarks = ["Row 7 is odd."] },
    ]

    private static let uncosigned =
        "No checkpoint that could be compared has a signature of a cosigner whose key was given. Everything depends on "
        + "the log's key alone: the cosigner could not be reached, or the log was rewritten."

    private static func sentences(_ report: AuditReport) -> [String] { report.faults.map(\.description) }

    private static func changed(_ entry: String) -> String {
        "Entry \(entry) is not what was recorded: it was changed or moved."
    }
    private static func changeds(_ entries: String) -> String {
        "Entries \(entries) are not what was recorded: they were changed or moved."
    }
    private static func forged(_ entries: String) -> String {
        "At least one of entries \(entries) is not what was recorded."
    }

    @Test(
        "verify finds any edit of the entries, even if marks and roots match the edit",
        arguments: [false, true])
    func anyEdit(_ isClever: Bool) throws {
        let log = try SampleLog(size: 4500, checkpoints: [4200])
        let (reader, stored, roots) = (log.reader, log.reader.stored, log.reader.roots)
        for edit in 0..<50 {
            (reader.stored, reader.roots) = (stored, roots)
            let (first, second) = (Int.random(in: 0..<4499), Int.random(in: 0..<4499))
            switch edit % 5 {
            case 0:
                var body = stored[first].body
                body[Int.random(in: body.indices)] ^= 1 << UInt8.random(in: 0..<8)
                reader.change(first, to: body)
            case 1: reader.stored.remove(at: first)
            case 2: reader.stored.swapAt(first, first == second ? 4499 : second)
            case 3: reader.stored.insert(StoredEntry(index: 0, body: [0x7B, 0x7D], mark: 0), at: first)
            default: reader.stored.removeLast(Int.random(in: 1...4500))
            }
            if isClever { reader.makeFit() }
            #expect(!(try log.verify().isIntact), "edit \(edit) at \(first), \(second)")
        }
    }

    @Test("verify reports no changed entry as proved, even if marks and roots match it")
    func nothingWrongIsProved() throws {
        let log = try SampleLog(size: 9000, checkpoints: [1000, 4096, 5000, 8500])
        let (reader, stored, roots) = (log.reader, log.reader.stored, log.reader.roots)
        for round in 0..<30 {
            (reader.stored, reader.roots) = (stored, roots)
            var wrong: Set<Int> = []
            for _ in 0..<Int.random(in: 1...3) {
                let index = Int.random(in: 0..<9000)
                wrong.insert(index)
                reader.change(index, to: Self.other, isMarked: Bool.random())
                if index < 8192, Bool.random() { reader.recomputeRoot(of: index / AuditSegment.size) }
            }
            let report = try log.verify(externals: round.isMultiple(of: 2) ? [] : [reader.kept[2]])
            #expect(!report.isIntact)
            for index in wrong {
                #expect(report.unproved.contains { $0.contains(index) }, "\(index) of \(wrong): \(report.unproved)")
            }
        }
    }

    @Test("verify finds a restored older copy with an external checkpoint")
    func rollback() throws {
        let signer = try NoteSigner.generate(name: SampleLog.origin)
        let old = try SampleLog(size: 4000, signer: signer)
        let new = try SampleLog(size: 5000, signer: signer)
        let report = try old.verify(externals: [try new.head()])
        #expect(
            report.faults.map(\.description) == [
                "The log ends at 4,000, but a checkpoint covers 5,000 entries: it was truncated, or an older copy was "
                    + "restored. A copy that was made before the checkpoint looks the same."
            ])
    }

    @Test("verify finds a rewritten and re-signed log with an external checkpoint")
    func rewritten() throws {
        let signer = try NoteSigner.generate(name: SampleLog.origin)
        let first = try SampleLog(size: 3000, checkpoints: [1000, 2000], signer: signer)
        var second = try SampleLog(size: 1500, checkpoints: [1000], signer: signer)
        for _ in 1500..<3000 { second.append(Array("{}".utf8)) }
        second.reader.storedHead = try second.head()
        #expect(try second.verify().isIntact)
        let report = try second.verify(externals: first.reader.kept + [try first.head()])
        #expect(
            report.faults.map(\.description) == [
                "Entries 1,000 to 1,999 are not what the checkpoint of 2,000 entries covers."
            ])
        #expect(report.externalChecked == 3)
    }

    /// An attacker with the log's key signs other entries and leaves a lesser fault as a decoy.
    @Test("verify reports a rewritten log even if a smaller fault could hide it", arguments: [5, 1200, 2999])
    func rewrittenBehindDecoy(_ decoy: Int) throws {
        let signer = try NoteSigner.generate(name: SampleLog.origin)
        let first = try SampleLog(size: 3000, checkpoints: [1000, 2000], signer: signer)
        var second = try SampleLog(size: 1500, checkpoints: [1000], signer: signer)
        for _ in 1500..<3000 { second.append(Array("{}".utf8)) }
        second.reader.storedHead = try second.head()
        let right = second.reader.stored[decoy]
        second.reader.stored[decoy] = StoredEntry(index: decoy, body: right.body, mark: ~right.mark)
        let report = try second.verify(externals: first.reader.kept + [try first.head()])
        #expect(
            Self.sentences(report).contains(
                "Entries 1,000 to 1,999 are not what the checkpoint of 2,000 entries covers."), "\(report.faults)")
        #expect(report.unproved == [1000..<3000])
        let entry = Sentence.number(decoy)
        #expect(
            Self.sentences(report).contains(
                decoy < 1000
                    ? "The mark of entry \(entry) was changed; the entry itself is correct." : Self.changed(entry)))
    }

    /// A log that an attacker with the log's key signed: the entry at `index` is different.
    private func rewritten(_ size: Int, at index: Int, signer: NoteSigner, checkpoints: Set<Int> = []) throws
        -> SampleLog
    {
        var log = try SampleLog(size: index, signer: signer)
        for next in index..<size {
            log.append(next == index ? Self.other : SampleLog.body(next))
            if checkpoints.contains(next + 1) { log.reader.kept.append(try log.head()) }
        }
        log.reader.storedHead = try log.head()
        return log
    }

    @Test("verify does not let the log's own checkpoints prove what an external checkpoint covers")
    func ownProof() throws {
        let right = try SampleLog(size: 5000, checkpoints: [40, 4900])
        let other = try rewritten(5000, at: 3000, signer: right.signer)
        // With the original segment root, the roots match the external checkpoint.
        other.reader.roots = right.reader.roots
        let roots = try other.verify(externals: [right.reader.kept[1]])
        #expect(roots.unproved == [0..<4096] && Self.sentences(roots).contains(Self.forged("0 to 4,095")))

        // The log is shorter than the checkpoint.
        let short = try rewritten(39, at: 5, signer: right.signer)
        #expect(try short.verify(externals: [right.reader.kept[0]]).unproved == [0..<39])

        // The entries at the end of the checkpoint are missing.
        let gap = try rewritten(60, at: 5, signer: right.signer, checkpoints: [39])
        gap.reader.stored.removeSubrange(39...40)
        #expect(try gap.verify(externals: [right.reader.kept[0]]).unproved == [0..<60])
    }

    @Test(
        "verify reports a rewritten log even if another fault explains the first contradiction",
        arguments: [true, false])
    func rewrittenBeforeDecoy(_ isChanged: Bool) throws {
        let right = try SampleLog(size: 10_000, checkpoints: [6000, 9000])
        let other = try rewritten(10_000, at: 100, signer: right.signer)
        if isChanged { other.reader.change(4500, to: Self.other) } else { other.reader.stored.remove(at: 4500) }
        let report = try other.verify(externals: right.reader.kept)
        #expect(
            Self.sentences(report).contains("Entries 0 to 5,999 are not what the checkpoint of 6,000 entries covers."),
            "\(report.faults)")
        #expect(report.unproved.contains { $0.contains(100) })
    }

    @Test("verify reports a rewritten log even beyond the limit of reported faults")
    func grave() throws {
        let right = try SampleLog(size: 3000, checkpoints: [1000, 3000])
        let other = try rewritten(3000, at: 2000, signer: right.signer)
        for index in stride(from: 0, to: 300, by: 2) {
            other.reader.stored[index] = StoredEntry(index: index, body: SampleLog.body(index), mark: 1 << 63)
        }
        let report = try other.verify(externals: right.reader.kept, faultLimit: 10)
        #expect(report.faults.count == 11 && report.faultCount == 151)
        #expect(
            Self.sentences(report).last
                == "Entries 1,000 to 2,999 are not what the checkpoint of 3,000 entries covers.")
    }

    @Test("verify requires the newest external checkpoint and co-signatures that cover the entries")
    func uncompared() throws {
        let right = try SampleLog(size: 5000, checkpoints: [4000])
        let cosigner = try NoteSigner.generate(name: "example.com/cosigner")
        // Another log, which records that the entries of the checkpoint are archived.
        var other = try rewritten(9000, at: 5, signer: right.signer)
        _ = try other.archive(segments: 2)
        #expect(
            Self.sentences(try other.verify(externals: right.reader.kept)) == [
                "The newest checkpoint that was kept elsewhere, of 4,000 entries, could not be compared: it is among "
                    + "archived entries, and without their files it proves nothing."
            ])
        let genuine = try SampleLog(size: 4000, signer: right.signer).head(cosigner: cosigner)
        other.reader.kept = [genuine]
        let keys = other.verifiers + [cosigner.verifier]
        let report = try AuditVerifier(keys).verify(other.reader)
        #expect(Self.sentences(report) == [Self.uncosigned])
    }

    @Test("verify fails if the external checkpoints change between two readings")
    func vanished() throws {
        let right = try SampleLog(size: 60, checkpoints: [40])
        let other = try rewritten(60, at: 5, signer: right.signer)
        let notes = try right.reader.kept.map { try SignedNote(parsing: $0.note) }
        var readings = 0
        let external = try ExternalCheckpoints { visit in
            readings += 1
            if readings == 1 { notes.forEach(visit) }
        }
        let verifier = AuditVerifier(other.verifiers, externals: [external])
        #expect(throws: AuditStoreError.self) { try verifier.verify(other.reader) }
        #expect(readings == 2)
    }

    private static func spoilt(_ head: SignedTreeHead) throws -> SignedTreeHead {
        let note = try SignedNote(parsing: head.note)
        var signature = note.signatures[0]
        signature = try NoteSignature(
            name: signature.name, keyID: signature.keyID, bytes: signature.bytes.map { $0 ^ 1 })
        return SignedTreeHead(
            size: head.size, note: try SignedNote(text: note.text, signatures: [signature]).description)
    }

    @Test("verify checks the newest external signature, and all of them if one contradicts the log")
    func unsignedOutside() throws {
        let log = try SampleLog(size: 5000, checkpoints: [1000, 2000, 3000])
        let notes = log.reader.kept
        let spoilt = try notes.map(Self.spoilt)
        #expect(try log.verify(externals: [spoilt[0], spoilt[1], notes[2]]).isIntact)
        #expect(
            try log.verify(externals: [notes[0], notes[1], spoilt[2]]).faults.map(\.description) == [
                "The checkpoint of 3,000 entries is not valid: The signature by example.com/log is wrong: the note "
                    + "is not what was signed."
            ])
        let text = try Checkpoint(origin: SampleLog.origin, size: 1500, root: .empty).text
        let other = try Self.spoilt(SignedTreeHead(size: 1500, note: try log.signer.sign(text).description))
        let report = try log.verify(externals: [other, notes[2]])
        #expect(report.faults.map(\.entries) == [1500..<1500] && report.unproved.isEmpty)
    }

    @Test("verify ignores a proof from a checkpoint without a valid signature")
    func unsignedProof() throws {
        let log = try SampleLog(size: 5000, checkpoints: [4500])
        var other = try SampleLog(size: 1000, signer: log.signer)
        for index in 1000..<3000 { other.append(index == 1200 ? Self.other : SampleLog.body(index)) }
        log.reader.change(1200, to: Self.other, isMarked: true)
        let forged = try Self.spoilt(try other.head())
        let report = try log.verify(externals: [forged, log.reader.kept[0]])
        #expect(Self.sentences(report).contains(Self.forged("0 to 4,095")))
        #expect(report.unproved == [0..<4096])
    }

    @Test("verify refuses a checkpoint of another log or under another name")
    func otherLog() throws {
        let log = try SampleLog(size: 10)
        let text = try Checkpoint(origin: "example.com/other", size: 10, root: .empty).text
        let foreign = SignedTreeHead(size: 10, note: try log.signer.sign(text).description)
        #expect(try log.verify(externals: [foreign]).faults.count == 1)
        log.reader.identity = AuditIdentity(origin: "example.com/other")
        let report = try log.verify()
        #expect(report.faults.count == 1)
        #expect("\(report.faults)".contains("It belongs to the log example.com/log"))
    }

    @Test("verify accepts a co-signature of a token and reports a wrong one")
    func cosigned() throws {
        let log = try SampleLog(size: 10)
        let token = P256.Signing.PrivateKey()
        let verifier = try NoteVerifier(name: "token", p256: token.publicKey)
        let note = try SignedNote(parsing: try log.head().note)
        func cosigned(_ text: String) throws -> SignedTreeHead {
            let bytes = Array(try token.signature(for: Array(text.utf8)).derRepresentation)
            let signature = try NoteSignature(name: verifier.name, keyID: verifier.keyID, bytes: bytes)
            return SignedTreeHead(size: 10, note: try note.adding(signature).description)
        }
        let both = AuditVerifier(log.verifiers + [verifier])
        log.reader.kept = [try cosigned(note.text)]
        #expect(try both.verify(log.reader).isIntact)
        log.reader.kept = [try cosigned("other\n")]
        #expect(try both.verify(log.reader).faults.contains { $0.description.contains("by token is wrong") })
        #expect(try log.verify().isIntact)
    }

    @Test("verify uses the roots of archived segments and counts the checkpoints it cannot check")
    func archived() throws {
        var log = try SampleLog(size: 13_000, checkpoints: [1000, 4096, 5000, 12_500])
        let bodies = try log.archive(segments: 2)
        let report = try log.verify()
        #expect(report.isIntact)
        #expect(report.archived == 8192)
        #expect((report.keptChecked, report.uncheckable, report.archivedChecked) == (3, 2, 0))

        let whole = try log.verify(archive: { segment throws(AuditStoreError) in bodies[segment] })
        #expect(whole.isIntact)
        #expect((whole.keptChecked, whole.uncheckable, whole.archivedChecked) == (5, 0, 8192))

        let spoiled = try log.verify(archive: { segment throws(AuditStoreError) in
            segment == 1 ? Array(bodies[1].reversed()) : nil
        })
        #expect(
            spoiled.faults.map(\.description) == [
                "The archive's content for entries 4,096 to 8,191 is not what was recorded."
            ])
    }

    @Test("verify finds a changed root of an archived segment")
    func archivedRoot() throws {
        var log = try SampleLog(size: 13_000, checkpoints: [12_500])
        _ = try log.archive(segments: 1)
        log.reader.roots[0] = log.reader.roots[1]
        #expect(
            try log.verify().faults.map(\.description) == [
                "Entries 0 to 12,499 are not what the checkpoint kept in the log of 12,500 entries covers."
            ])
    }

    @Test("verify finds missing segments that the log does not record as archived")
    func unarchived() throws {
        var log = try SampleLog(size: 13_000)
        _ = try log.archive(segments: 2, isRecorded: false)
        #expect(
            try log.verify().faults.map(\.description) == [
                "Entries 0 to 8,191 are missing, and the log does not record them as archived."
            ])
        var half = try SampleLog(size: 13_000)
        _ = try half.archive(segments: 1)
        half.reader.stored.removeFirst(4096)
        half.reader.first = 8192
        #expect(
            Self.sentences(try half.verify()) == [
                "Entries 4,096 to 8,191 are missing, and the log does not record them as archived."
            ])
    }

    @Test("verify limits the reported faults and counts all of them")
    func bounded() throws {
        let log = try SampleLog(size: 1000)
        for index in stride(from: 0, to: 1000, by: 2) { log.reader.change(index, to: [0x7B, 0x7D]) }
        let report = try log.verify(faultLimit: 10)
        #expect(report.faults.count == 10)
        #expect(report.faultCount == 500)
        #expect(Self.sentences(report).first == Self.changed("0"))
    }

    @Test("verify succeeds while the log grows")
    func growing() throws {
        var log = try SampleLog(size: 4090)
        let (reader, verifiers) = (log.reader, log.verifiers)
        reader.meanwhile = {
            for _ in 0..<3000 { log.append(Array("{}".utf8)) }
            guard let head = try? log.head() else { return }
            reader.storedHead = head
            reader.kept.append(head)
        }
        let report = try AuditVerifier(verifiers).verify(reader)
        #expect(report.faults.isEmpty)
        #expect(report.size > 4096)
    }

    @Test("verify succeeds while segments are archived")
    func archivedMeanwhile() throws {
        var log = try SampleLog(size: 9000)
        let (reader, verifiers) = (log.reader, log.verifiers)
        var calls = 0
        reader.meanwhile = {
            calls += 1
            if calls == 4 { _ = try? log.archive(segments: 1) }
        }
        let report = try AuditVerifier(verifiers).verify(reader)
        #expect(report.faults.isEmpty)
        #expect(report.archived == 4096)
    }

    @Test("verify reports its progress")
    func progress() throws {
        let log = try SampleLog(size: 9000)
        var steps: [Int] = []
        _ = try AuditVerifier(log.verifiers).verify(log.reader) { done, total in
            steps.append(done)
            #expect(total == 9000)
        }
        #expect(steps == [0, 4096, 8192, 9000])
    }

    private func root(of head: SignedTreeHead) throws -> MerkleHash {
        try Checkpoint(parsing: SignedNote(parsing: head.note).text).root
    }

    @Test("verify with a cosigner's key requires its signature under the newest checkpoint")
    func uncosigned() throws {
        var log = try SampleLog(size: 3)
        let cosigner = try NoteSigner.generate(name: "example.com/cosigner")
        let faults = { (log: SampleLog, externals: [SignedTreeHead]) in
            let notes = try externals.map { try SignedNote(parsing: $0.note) }
            let keys = log.verifiers + [cosigner.verifier]
            return try AuditVerifier(keys, externals: [ExternalCheckpoints(notes)]).verify(log.reader).faults.map(
                \.description)
        }
        #expect(try faults(log, []) == [Self.uncosigned])
        #expect(try faults(log, [log.head()]) == [Self.uncosigned])
        log.reader.kept = [try log.head(cosigner: cosigner)]
        #expect(try faults(log, []).isEmpty)
        log.append(SampleLog.body(3))
        log.reader.storedHead = try log.head()
        #expect(try faults(log, []).isEmpty)
        log.reader.kept.append(try log.head())
        #expect(
            try faults(log, []) == [
                "The last checkpoint that a cosigner signed covers 3 entries; the newest covers 4. What came after "
                    + "depends on the log's key alone: the cosigner could not be reached, or the log was rewritten."
            ])
        #expect(try faults(log, [log.head(cosigner: cosigner)]).isEmpty)
        #expect(try log.verify().isIntact)
    }
}
