public import StrictJSON

extension Explanation: JSONWritable {
    /// Writes `valid`, `kind`, `outcome`, `findings`, `verifications` and, if known, `key` and `signingInput`.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("valid", isValid)
            writer.member("kind", kind.name)
            writer.member("outcome", outcome.rawValue)
            writer.name("findings")
            writer.array { writer in
                for finding in findings { finding.write(to: &writer) }
            }
            if let key {
                writer.name("key")
                key.write(to: &writer)
            }
            if let signingInput {
                writer.name("signingInput")
                signingInput.write(to: &writer)
            }
            writer.member("verifications", verifications)
        }
    }
}
