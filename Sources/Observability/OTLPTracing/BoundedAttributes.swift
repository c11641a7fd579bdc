import Tracing

/// Attributes sorted by name, within `SpanLimits`.
struct BoundedAttributes: Sendable {
    let pairs: [(name: String, value: AttributeValue)]
    /// The number of attributes beyond the limit or of unknown kind.
    let dropped: Int

    init(_ attributes: SpanAttributes) {
        var all: [(name: String, value: SpanAttribute)] = []
        all.reserveCapacity(attributes.count)
        attributes.forEach { all.append(($0, $1)) }
        all.sort { $0.name < $1.name }
        pairs = all.prefix(SpanLimits.attributes).compactMap { name, value in
            AttributeValue(value).map { (name.bounded, $0) }
        }
        dropped = all.count - pairs.count
    }
}
