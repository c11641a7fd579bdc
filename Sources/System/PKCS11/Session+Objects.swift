import CP11Kit

extension Session {
    /// The objects with all of these attributes (`C_FindObjectsInit`, `C_FindObjects`, `C_FindObjectsFinal`).
    public func objects(with attributes: [Attribute], limit: Int = 256) throws(PKCS11Error) -> [ObjectHandle] {
        try call(.findObjectsInit) { functions throws(PKCS11Error) in
            let begin = try ModuleOutput.function(.findObjectsInit, functions.pointee.C_FindObjectsInit)
            let find = try ModuleOutput.function(.findObjects, functions.pointee.C_FindObjects)
            let end = try ModuleOutput.function(.findObjectsFinal, functions.pointee.C_FindObjectsFinal)
            let answer = AttributeTemplate.with(attributes) { template, count in begin(handle, template, count) }
            try check(.findObjectsInit, answer)
            defer { _ = end(handle) }
            var found: [UInt] = []
            var batch = [UInt](repeating: 0, count: 64)
            while found.count < limit {
                var count: UInt = 0
                let room = min(batch.count, limit - found.count)
                try check(.findObjects, find(handle, &batch, UInt(room), &count))
                if count == 0 { break }
                let length = try ModuleOutput.count(count, atMost: room, from: .findObjects)
                found.append(contentsOf: batch.prefix(length))
            }
            return found.map(ObjectHandle.init(rawValue:))
        }
    }

    /// The value of an attribute (`C_GetAttributeValue`); nil if the object has none.
    public func value(of kind: Attribute.Kind, in object: ObjectHandle) throws(PKCS11Error) -> [UInt8]? {
        do {
            return try call(.getAttributeValue) { functions throws(PKCS11Error) in
                var attribute = CK_ATTRIBUTE(type: kind.rawValue, pValue: nil, ulValueLen: 0)
                let read = try ModuleOutput.function(.getAttributeValue, functions.pointee.C_GetAttributeValue)
                try check(.getAttributeValue, read(handle, object.rawValue, &attribute, 1))
                // CK_UNAVAILABLE_INFORMATION
                guard attribute.ulValueLen != UInt.max else { return nil }
                let room = try ModuleOutput.count(
                    attribute.ulValueLen, atMost: ModuleOutput.attributeLimit, from: .getAttributeValue)
                var value = [UInt8](repeating: 0, count: room)
                let answer = value.withUnsafeMutableBytes { bytes in
                    attribute.pValue = bytes.baseAddress
                    return read(handle, object.rawValue, &attribute, 1)
                }
                try check(.getAttributeValue, answer)
                guard attribute.ulValueLen != UInt.max else { return nil }
                let length = try ModuleOutput.count(attribute.ulValueLen, atMost: room, from: .getAttributeValue)
                return Array(value.prefix(length))
            }
        } catch  where error.returnValue == .attributeTypeInvalid {
            return nil
        }
    }

    /// Whether the token reveals the value, which is wiped at once. Throws the token's return value if it refuses.
    public func gives(_ kind: Attribute.Kind, of object: ObjectHandle) throws(PKCS11Error) -> Bool {
        var length: UInt = 0
        try call(.getAttributeValue, \.C_GetAttributeValue) { read in
            withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { room in
                var attribute = CK_ATTRIBUTE(
                    type: kind.rawValue, pValue: room.baseAddress, ulValueLen: UInt(room.count))
                defer {
                    wipe(room)
                    length = attribute.ulValueLen
                }
                return read(handle, object.rawValue, &attribute, 1)
            }
        }
        return length != 0 && length != UInt.max
    }

    /// A Boolean attribute; nil if the object has none.
    public func flag(_ kind: Attribute.Kind, of object: ObjectHandle) throws(PKCS11Error) -> Bool? {
        try value(of: kind, in: object).map { $0.contains { $0 != 0 } }
    }

    /// An attribute of the size of `CK_ULONG`; nil if the object has none of that size.
    public func number(_ kind: Attribute.Kind, of object: ObjectHandle) throws(PKCS11Error) -> UInt? {
        guard let bytes = try value(of: kind, in: object), bytes.count == MemoryLayout<UInt>.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt.self) }
    }
}

/// The handle of an object (`CK_OBJECT_HANDLE`), valid for one initialisation of the module.
public struct ObjectHandle: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }
}
