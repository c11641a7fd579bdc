/// The logs and witnesses that a reader of checkpoints trusts, and how many witnesses must have cosigned (C2SP
/// tlog-policy).
public struct WitnessPolicy: Sendable {
    /// The largest policy file, in bytes.
    public static let maximumSize = 1 << 18
    /// Of log, witness and group lines together.
    static let maximumLines = 1024

    public struct Witness: Sendable {
        public let verifier: NoteVerifier
        /// The submission prefix (C2SP tlog-witness); nil if the file has none.
        public let url: String?
    }

    /// The keys of the logs; empty if the file names none.
    public let logs: [NoteVerifier]
    public let witnesses: [Witness]
    /// Nil for `quorum none`.
    private let quorum: Rule?

    private indirect enum Rule {
        /// The index of a witness.
        case witness(Int)
        /// A witness of which this program cannot verify the signatures, so that it never counts.
        case unsupported
        case group(atLeast: Int, [Rule])
    }

    /// Whether these signers of a checkpoint include enough witnesses.
    public func isMet(by signers: [NoteVerifier]) -> Bool {
        guard let quorum else { return true }
        let signed = witnesses.map { witness in signers.contains { $0.isWitness && $0.hasSameKey(as: witness.verifier) }
        }
        return Self.isMet(quorum, signed)
    }

    /// The witnesses that cosigned a note; other signatures are ignored.
    ///
    /// - Throws: `.wrongSignature` if a signature by a witness' key is wrong.
    public func signers(of note: SignedNote) throws(NoteError) -> [NoteVerifier] {
        let verifiers = witnesses.map(\.verifier)
        guard note.signatures.contains(where: { signature in verifiers.contains { $0.made(signature) } }) else {
            return []
        }
        return try note.verify(with: verifiers)
    }

    private static func isMet(_ rule: Rule, _ signed: [Bool]) -> Bool {
        switch rule {
        case .witness(let index): signed[index]
        case .unsupported: false
        case .group(let least, let members): members.count { isMet($0, signed) } >= least
        }
    }

    /// Whether checkpoints need no witness: `quorum none`.
    public var needsNone: Bool { quorum == nil }
}

extension WitnessPolicy {
    public init(parsing bytes: [UInt8]) throws(WitnessPolicyError) {
        guard bytes.count <= Self.maximumSize else { throw WitnessPolicyError(line: nil, .tooLarge) }
        var reader = PolicyReader()
        for (index, line) in bytes.split(separator: newline, omittingEmptySubsequences: false).enumerated() {
            do throws(WitnessPolicyError.Flaw) { try reader.read(line) } catch {
                throw WitnessPolicyError(line: index + 1, error)
            }
        }
        guard let quorum = reader.quorum else { throw WitnessPolicyError(line: nil, .noQuorum) }
        (logs, witnesses, self.quorum) = (reader.logs, reader.witnesses, quorum)
    }

    /// Reads a policy line by line. Names are octets, because Unicode must not decide what two names mean.
    private struct PolicyReader {
        var logs: [NoteVerifier] = []
        var witnesses: [Witness] = []
        /// The rule of `quorum`, with nil for `none`; nil before that line.
        var quorum: Rule??
        private var rules: [[UInt8]: Rule] = [:]
        private var members: Set<[UInt8]> = []
        private var lines = 0

        private static let none = Array("none".utf8)
        /// Cosignatures with ML-DSA-44 (C2SP signed-note, "Signature types").
        private static let mlDSAType: UInt8 = 0x06

        mutating func read(_ line: ArraySlice<UInt8>) throws(WitnessPolicyError.Flaw) {
            guard line.allSatisfy({ $0 == UInt8(ascii: "\t") || $0 >= 0x20 && $0 != 0x7F }) else {
                throw .controlCharacter
            }
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.map(Array.init)
            guard let first = words.first, first.first != UInt8(ascii: "#") else { return }
            lines += 1
            guard lines <= maximumLines else { throw .tooLarge }
            switch String(decoding: first, as: UTF8.self) {
            case "log" where (2...3).contains(words.count): try addLog(words[1])
            case "witness" where (3...4).contains(words.count):
                try addWitness(words[1], words[2], url: words.count == 4 ? words[3] : nil)
            case "group" where words.count >= 4: try addGroup(words[1], words[2], words[3...])
            case "quorum" where words.count == 2: try setQuorum(words[1])
            case "log", "witness", "group", "quorum": throw .wrongWords(String(decoding: first, as: UTF8.self))
            default: throw .unknownLine
            }
        }

        private mutating func addLog(_ key: [UInt8]) throws(WitnessPolicyError.Flaw) {
            let verifier = try Self.verifier(key)
            guard !verifier.isWitness else { throw .wrongKey(.log) }
            guard !logs.contains(where: verifier.hasSameKey) else { throw .repeatedKey }
            logs.append(verifier)
        }

        private mutating func addWitness(
            _ name: [UInt8], _ key: [UInt8], url: [UInt8]?
        ) throws(WitnessPolicyError.Flaw) {
            let verifier: NoteVerifier
            do throws(WitnessPolicyError.Flaw) { verifier = try Self.verifier(key) } catch {
                guard error == .key(.unsupportedKey(type: Self.mlDSAType)) else { throw error }
                return try define(name, .unsupported)
            }
            guard verifier.isWitness else { throw .wrongKey(.witness) }
            guard !witnesses.contains(where: { verifier.hasSameKey(as: $0.verifier) }) else { throw .repeatedKey }
            try define(name, .witness(witnesses.count))
            witnesses.append(
                Witness(verifier: verifier, url: url.map { String(decoding: $0, as: UTF8.self) }))
        }

        private mutating func addGroup(
            _ name: [UInt8], _ least: [UInt8], _ names: ArraySlice<[UInt8]>
        ) throws(WitnessPolicyError.Flaw) {
            let least =
                switch String(decoding: least, as: UTF8.self) {
                case "any": 1
                case "all": names.count
                default: DecimalNumber.parse(least) ?? 0
                }
            guard (1...names.count).contains(least) else { throw .wrongCount(members: names.count) }
            var rules: [Rule] = []
            for member in names {
                guard let rule = self.rules[member] else { throw .undefined(Self.text(member)) }
                guard members.insert(member).inserted else { throw .repeatedMember(Self.text(member)) }
                rules.append(rule)
            }
            try define(name, .group(atLeast: least, rules))
        }

        private mutating func setQuorum(_ name: [UInt8]) throws(WitnessPolicyError.Flaw) {
            guard quorum == nil else { throw .repeatedQuorum }
            guard name != Self.none else { return quorum = .some(nil) }
            guard let rule = rules[name] else { throw .undefined(Self.text(name)) }
            quorum = rule
        }

        private mutating func define(_ name: [UInt8], _ rule: Rule) throws(WitnessPolicyError.Flaw) {
            guard name != Self.none, rules[name] == nil else { throw .repeatedName(Self.text(name)) }
            rules[name] = rule
        }

        private static func verifier(_ key: [UInt8]) throws(WitnessPolicyError.Flaw) -> NoteVerifier {
            let text = String(decoding: key, as: UTF8.self)
            guard !text.hasPrefix("PRIVATE+KEY+") else { throw .privateKey }
            do throws(NoteError) { return try NoteVerifier(text) } catch { throw .key(error) }
        }

        /// For messages.
        private static func text(_ name: [UInt8]) -> String { String(decoding: name.prefix(64), as: UTF8.self) }
    }
}

/// Why a policy is refused. The description is a sentence.
public struct WitnessPolicyError: Error, Hashable, Sendable {
    /// From 1; nil if the error concerns the whole file.
    let line: Int?
    let flaw: Flaw

    init(line: Int?, _ flaw: Flaw) {
        (self.line, self.flaw) = (line, flaw)
    }

    enum Role: String, Sendable { case log, witness }

    enum Flaw: Error, Hashable {
        case tooLarge, noQuorum, controlCharacter, unknownLine, repeatedKey, repeatedQuorum, privateKey
        case wrongWords(String)
        case key(NoteError)
        case wrongKey(Role)
        case wrongCount(members: Int)
        case undefined(String)
        case repeatedName(String)
        case repeatedMember(String)
    }
}

extension WitnessPolicyError: CustomStringConvertible {
    public var description: String {
        let reason = reason
        return line.map { "Line \($0): \(reason)" } ?? reason
    }

    private var reason: String {
        switch flaw {
        case .tooLarge:
            "The policy is too long: at most \(WitnessPolicy.maximumSize) bytes and \(WitnessPolicy.maximumLines) "
                + "definitions are read."
        case .noQuorum:
            "The policy has no quorum line. Add one with the name of a witness or group, such as quorum witnesses."
        case .controlCharacter: "It has a control character; only tabs and newlines are allowed."
        case .unknownLine: "This line begins with another word than log, witness, group, quorum or #."
        case .repeatedKey: "Another line of the same kind has this key."
        case .repeatedQuorum: "There is a second quorum line; one is allowed."
        case .privateKey: "This is a private key. Give the public key, which is in the file with .pub."
        case .wrongWords(let word):
            switch word {
            case "log": "The form is: log KEY [URL]."
            case "witness": "The form is: witness NAME KEY [URL]."
            case "group": "The form is: group NAME all|any|NUMBER MEMBER…"
            default: "The form is: quorum NAME, or quorum none."
            }
        case .key(let error): error.description
        case .wrongKey(.log): "This is the key of a witness (type 4), not of a log."
        case .wrongKey(.witness):
            "This is not the key of a witness, whose type is 4: the public key of a log cannot verify cosignatures."
        case .wrongCount(let members):
            "Give all, any, or a number from 1 to \(members), the number of the group's members."
        case .undefined(let name): "No line before this one defines \(name) as a witness or group."
        case .repeatedName(let name): "\(name) is defined already, or reserved."
        case .repeatedMember(let name):
            "\(name) is a member already; each witness or group belongs to one group at most."
        }
    }
}
