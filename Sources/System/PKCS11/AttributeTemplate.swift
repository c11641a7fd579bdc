import CP11Kit

/// Attributes in the layout of the C interface, for one call.
enum AttributeTemplate {
    static func with<Result>(
        _ attributes: [Attribute],
        _ body: (UnsafeMutablePointer<CK_ATTRIBUTE>?, UInt) -> Result
    ) -> Result {
        // One buffer holds all values. It is wiped, because a value may be an imported private key.
        let size = attributes.reduce(0) { $0 + $1.value.count }
        return withUnsafeTemporaryAllocation(byteCount: max(size, 1), alignment: 16) { storage in
            defer { wipe(storage) }
            return withUnsafeTemporaryAllocation(of: CK_ATTRIBUTE.self, capacity: max(attributes.count, 1)) { list in
                var offset = 0
                for (index, attribute) in attributes.enumerated() {
                    let place = UnsafeMutableRawBufferPointer(
                        rebasing: storage[offset..<offset + attribute.value.count])
                    place.copyBytes(from: attribute.value)
                    offset += attribute.value.count
                    list.initializeElement(
                        at: index,
                        to: CK_ATTRIBUTE(
                            type: attribute.kind.rawValue,
                            pValue: place.baseAddress,
                            ulValueLen: UInt(attribute.value.count)))
                }
                return body(list.baseAddress, UInt(attributes.count))
            }
        }
    }
}
