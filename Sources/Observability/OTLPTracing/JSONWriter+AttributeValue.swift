import StrictJSON

/// `KeyValue` and `AnyValue` of common.proto.
extension JSONWriter {
    mutating func attribute(_ name: String, _ value: AttributeValue) {
        object { $0.keyValue(name, value) }
    }

    mutating func keyValue(_ name: String, _ value: AttributeValue) {
        member("key", name)
        self.name("value")
        self.value(value)
    }

    private mutating func value(_ value: AttributeValue) {
        object { writer in
            switch value {
            case .text(let text): writer.member("stringValue", text)
            case .integer(let number): writer.member("intValue", "\(number)")
            case .boolean(let isTrue): writer.member("boolValue", isTrue)
            case .double(let number):
                writer.name("doubleValue")
                writer.double(number)
            case .list(let values):
                writer.name("arrayValue")
                writer.object { list in
                    list.name("values")
                    list.array { for value in values { $0.value(value) } }
                }
            }
        }
    }

    /// JSON has no infinities and no NaN; Protobuf's JSON mapping writes their names.
    private mutating func double(_ number: Double) {
        if number.isFinite {
            raw("\(number)".utf8)
        } else {
            string(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
        }
    }
}
