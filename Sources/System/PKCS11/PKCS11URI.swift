import CP11Kit

/// A PKCS #11 URI (RFC 7512), parsed by p11-kit.
public final class PKCS11URI: @unchecked Sendable {
    // Set only in `init`; p11-kit's getters only read.
    private let uri: OpaquePointer

    /// - Throws: `PKCS11URIError`, which never contains the URI, because the URI may hold a PIN.
    public init(_ text: String) throws(PKCS11URIError) {
        // p11-kit reads a C string, which ends at a NUL.
        guard !text.utf8.contains(0) else { throw PKCS11URIError(reason: "it holds a NUL") }
        guard let uri = p11_kit_uri_new() else { throw PKCS11URIError(reason: "there is not enough memory for it") }
        let code = p11_kit_uri_parse(text, P11_KIT_URI_FOR_ANY, uri)
        guard code == 0 else {
            p11_kit_uri_free(uri)
            throw PKCS11URIError(code)
        }
        self.uri = uri
    }

    deinit {
        p11_kit_uri_free(uri)
    }

    /// Whether the URI has an attribute that p11-kit does not know. Such a URI matches no token.
    public var hasUnknownAttributes: Bool { p11_kit_uri_any_unrecognized(uri) != 0 }

    public var modulePath: String? { p11_kit_uri_get_module_path(uri).map { String(cString: $0) } }
    public var moduleName: String? { p11_kit_uri_get_module_name(uri).map { String(cString: $0) } }
    /// The argument for `C_Initialize`, in a vendor-specific attribute (RFC 7512 §2.3).
    public var initializationArguments: String? {
        p11_kit_uri_get_vendor_query(uri, "init-args").map { String(cString: $0) }
    }
    /// The source of the PIN. Messages must not show it.
    public var pinSource: String? { p11_kit_uri_get_pin_source(uri).map { String(cString: $0) } }
    /// A hint, valid only together with an attribute of the token.
    public var slotID: SlotID? {
        let slot = p11_kit_uri_get_slot_id(uri)
        return slot == UInt.max ? nil : SlotID(rawValue: slot)
    }

    /// The class, label and ID of the object, as far as the URI names them.
    public var objectAttributes: [Attribute] {
        var count: UInt = 0
        guard let first = p11_kit_uri_get_attributes(uri, &count) else { return [] }
        return UnsafeBufferPointer(start: first, count: Int(count)).map { attribute in
            let bytes = UnsafeRawBufferPointer(start: attribute.pValue, count: Int(attribute.ulValueLen))
            return Attribute(Attribute.Kind(rawValue: attribute.type), bytes: Array(bytes))
        }
    }

    /// Whether the token has the label, serial number, manufacturer and model that the URI names.
    public func matches(_ token: TokenInfo) -> Bool {
        withUnsafePointer(to: token.raw) { p11_kit_uri_match_token_info(uri, $0) != 0 }
    }
}

/// The reason why a PKCS #11 URI is invalid.
public struct PKCS11URIError: Error, Hashable, Sendable {
    /// Continues the sentence "the URI cannot be used:".
    public let reason: String

    public init(reason: String) {
        self.reason = reason
    }

    init(_ code: Int32) {
        reason =
            switch P11KitUriResult(code) {
            case P11_KIT_URI_BAD_SCHEME: "its scheme must be pkcs11"
            case P11_KIT_URI_BAD_ENCODING: "a percent sign must be followed by two hexadecimal digits"
            case P11_KIT_URI_BAD_SYNTAX: "it must be pkcs11:name=value;…?name=value&…"
            case P11_KIT_URI_BAD_VERSION: "its library-version must be two numbers"
            default: "p11-kit cannot read it"
            }
    }
}
