import Tracing

/// An attribute's value in OTLP (`AnyValue` of common.proto), within `SpanLimits`.
indirect enum AttributeValue: Sendable {
    case text(String)
    case integer(Int64)
    case double(Double)
    case boolean(Bool)
    case list([AttributeValue])

    /// - Returns: nil for an unknown kind of attribute.
    init?(_ attribute: SpanAttribute) {
        switch attribute {
        case .string(let text): self = .text(text.bounded)
        case .stringConvertible(let value): self = .text(value.description.bounded)
        case .int32(let number): self = .integer(Int64(number))
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .bool(let value): self = .boolean(value)
        case .stringArray(let texts): self = .list(of: texts) { .text($0.bounded) }
        case .stringConvertibleArray(let values): self = .list(of: values) { .text($0.description.bounded) }
        case .int32Array(let numbers): self = .list(of: numbers) { .integer(Int64($0)) }
        case .int64Array(let numbers): self = .list(of: numbers) { .integer($0) }
        case .doubleArray(let numbers): self = .list(of: numbers) { .double($0) }
        case .boolArray(let values): self = .list(of: values) { .boolean($0) }
        // The name of the enum's last case forbids an exhaustive switch.
        default: return nil
        }
    }

    private static func list<Element>(
        of elements: [Element], _ value: (Element) -> AttributeValue
    ) -> AttributeValue {
        .list(elements.prefix(SpanLimits.elements).map(value))
    }
}
