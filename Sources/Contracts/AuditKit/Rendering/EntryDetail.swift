import Encodings
import TransparencyLog

/// One entry as labelled lines, with all its members.
public enum EntryDetail {
    public static func text(_ entry: StoredEntry) -> String {
        let leaf = MerkleHash.leaf(entry.body)
        var lines = [("Entry", String(entry.index)), ("Leaf hash", Hexadecimal.encode(leaf.bytes))]
        if StoredEntry.mark(of: leaf, at: entry.index) != entry.mark {
            lines.append(("Attention", "the entry does not match its mark: run privyseal audit verify"))
        }
        if let members = EntryMembers(entry.body) {
            lines += members.all.flatMap { rows(of: $0.name, $0.value) }
        } else {
            lines.append(("Attention", "these \(entry.body.count) bytes are not an entry: run privyseal audit verify"))
        }
        let width = lines.map(\.0.count).max() ?? 0
        return lines.map { label, text in
            label + String(repeating: " ", count: width + 2 - label.count) + PlainText.of(text)
        }.joined(separator: "\n")
    }

    private static func rows(of name: String, _ value: [UInt8]) -> [(String, String)] {
        let label = labels[name] ?? PlainText.of(name)
        switch name {
        case "digest", "fingerprint", "configuration":
            guard let text = EntryScanner.text(value[...]), let bytes = Base64.url.decode(Array(text.utf8)) else {
                break
            }
            return [(label, text), ("", Hexadecimal.encode(bytes))]
        case "took":
            let parts = (EntryMembers(value)?.all ?? []).map { "\($0.name) \(EntryMembers.text($0.value)) µs" }
            return [(label, parts.joined(separator: ", "))]
        default: break
        }
        return [(label, EntryMembers.text(value))]
    }

    private static let labels = [
        "actor": "Actor", "app": "App", "before": "Clock before", "change": "Change", "changes": "Changes",
        "client": "Client",
        "configuration": "Configuration's SHA-256", "counts": "Refused", "digest": "Signing input's SHA-256",
        "event": "Event", "feature": "Feature", "fingerprint": "Key's fingerprint", "from": "From entry",
        "item": "Item of the batch", "key": "Key", "kind": "Kind", "label": "Token",
        "lostEvents": "Events not recorded",
        "milliseconds": "Milliseconds", "minute": "Minute", "nonce": "Nonce", "offers": "Offers", "outcome": "Outcome",
        "products": "Products", "reason": "Reason", "refused": "Requests refused", "requestId": "Request ID",
        "size": "Entries checked", "state": "State", "status": "HTTP status", "time": "Time", "to": "To before entry",
        "tokenSerial": "Token's serial", "took": "Took", "user": "User (keyed hash)", "v": "Version of the entry",
        "version": "Version of PrivySeal",
    ]
}
