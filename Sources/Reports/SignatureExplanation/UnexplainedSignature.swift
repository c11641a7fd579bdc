enum UnexplainedSignature {
    static func finding(keys: [CandidateKey], named keyID: String?, verifier: Verifier) -> Finding {
        guard !keys.isEmpty else { return Finding(.unexplained, "There was no key to verify with.") }
        var sentences = [
            verifier.isExhausted
                ? "The search was cut at its bound of \(verifier.count) verifications; none of the mistakes tried so far explains the signature."
                : "None of the known mistakes explains the signature: \(verifier.count) verifications, with \(count(keys))."
        ]
        if let keyID, !keys.contains(where: { $0.keyID == keyID }) {
            let ids = keys.compactMap(\.keyID)
            sentences.append(
                ids.isEmpty
                    ? "Whether \(keyID) is among them is not known: the key has no ID."
                    : "No key with the ID \(keyID) was given, only \(ids.joined(separator: ", ")).")
        }
        return Finding(.unexplained, sentences.joined(separator: " "))
    }

    private static func count(_ keys: [CandidateKey]) -> String {
        keys.count == 1 ? "one key" : "\(keys.count) keys"
    }
}
