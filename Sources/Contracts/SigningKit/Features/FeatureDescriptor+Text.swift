/// Texts for the help of commands.
extension Sequence<FeatureDescriptor> {
    /// Each feature with the members of its request, one per line.
    public var helpText: String {
        map { feature in
            let members = feature.fields.map { "    \($0.name)\($0.isRequired ? "" : " (optional)")" }
            return (["  \(feature.id)"] + members).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// The IDs of the features that make a JWS.
    public var audiences: [String] { filter { $0.claims != nil }.map(\.id) }
}
