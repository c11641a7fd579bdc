internal import CP11Kit

extension Session {
    /// Objects that have all of these attributes, at most `limit` (`C_FindObjectsInit`, `C_FindObjects`,
    /// `C_FindObjectsFinal`).
    public func objects(with attributes: [Attribute], limit: Int = 256) throws(PKCS11Error) -> [ObjectHandle] {
        try call(.findObjectsInit) { functions throws(PKCS11Error) in
            let answer = AttributeTemplate.with(attributes) { template, count in
                functions.pointee.C_FindObjectsInit(handle, template, count)
            }
            try check(.findObjectsInit, answer)
            defer { _ = functions.pointee.C_FindObjectsFinal(handle) }
            var found: [UInt] = []
            var batch = [UInt](repeating: 0, count: 64)
            while found.count < limit {
                var count: UInt = 0
                let room = UInt(min(batch.count, limit - found.count))
                try check(.findObjects, functions.pointee.C_FindObjects(handle, &batch, room, &count))
                if count == 0 { break }
                found.append(contentsOf: batch.prefix(Int(count)))
            }
            return found.map(ObjectHandle.init(rawValue:))
        }
    }

    /// The value of an attribute (`C_GetAttributeValue`), or nil where the object has none.
    public func value(of kind: Attribute.Kind, in object: ObjectHandle) throws(PKCS11Error) -> [UInt8]? {
        do {
            return try call(.getAttributeValue) { functions throws(PKCS11Error) in
                var attribute = CK_ATTRIBUTE(type: kind.rawValue, pValue: nil, ulValueLen: 0)
                let read = functions.pointee.C_GetAttributeValue
                try check(.getAttributeValue, read?(handle, object.rawValue, &attribute, 1) ?? CKR_GENERAL_ERROR)
                guard attribute.ulValueLen != UInt.max else { return nil }
                var value = [UInt8](repeating: 0, count: Int(attribute.ulValueLen))
                let answer = value.withUnsafeMutableBytes { bytes in
                    attribute.pValue = bytes.baseAddress
                    return read?(handle, object.rawValue, &attribute, 1) ?? CKR_GENERAL_ERROR
                }
                try check(.getAttributeValue, answer)
                return Array(value.prefix(Int(attribute.ulValueLen)))
            }
        } catch  where error.returnValue == .attributeTypeInvalid {
            return nil
        }
    }

    /// Whether the token gives the value out. What comes is wiped at once: nobody wants it.
    ///
    /// - Throws: what the token answers when it refuses.
    public func gives(_ kind: Attribute.Kind, of object: ObjectHandle) throws(PKCS11Error) -> Bool {
        try call(.getAttributeValue) { functions throws(PKCS11Error) in
            let (answer, length) = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { room in
                var attribute = CK_ATTRIBUTE(
                    type: kind.rawValue, pValue: room.baseAddress, ulValueLen: UInt(room.count))
                defer { wipe(room) }
                let answer = functions.pointee.C_GetAttributeValue?(handle, object.rawValue, &attribute, 1)
                return (answer ?? CKR_GENERAL_ERROR, attribute.ulValueLen)
            }
            try check(.getAttributeValue, answer)
            return length != 0 && length != UInt.max
        }
    }

    /// A Boolean attribute; nil where the object has none.
    public func flag(_ kind: Attribute.Kind, of object: ObjectHandle) throws(PKCS11Error) -> Bool? {
        try value(of: kind, in: object).map { $0.contains { $0 != 0 } }
    }

    /// An attribute of the size of `CK_ULONG`; nil where the object has none of that size.
    public func number(_ kind: Attribute.Kind, of object: ObjectHandle) throws(PKCS11Error) -> UInt? {
        guard let bytes = try value(of: kind, in: object), bytes.count == MemoryLayout<UInt>.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt.self) }
    }
}
