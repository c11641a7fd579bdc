internal import CP11Kit

/// A PKCS #11 URI (RFC 7512), read by p11-kit.
public final class PKCS11URI: @unchecked Sendable {
    // Written once, in `init`; p11-kit's getters only read.
    private let uri: OpaquePointer

    /// - Throws: `PKCS11URIError`, which never repeats the URI: there may be a PIN in it.
    public init(_ text: String) throws(PKCS11URIError) {
        // p11-kit reads a text of C, which ends at a NUL.
        guard !text.utf8.contains(0) else { throw PKCS11URIError(reason: "it holds a NUL") }
        guard let uri = p11_kit_uri_new() else { throw PKCS11URIError(reason: "there is no memory for it") }
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

    /// Whether there is an attribute that p11-kit does not know; such a URI matches nothing.
    public var hasUnknownAttributes: Bool { p11_kit_uri_any_unrecognized(uri) != 0 }

    public var modulePath: String? { p11_kit_uri_get_module_path(uri).map { String(cString: $0) } }
    public var moduleName: String? { p11_kit_uri_get_module_name(uri).map { String(cString: $0) } }
    /// A text for `C_Initialize`: an attribute of our own, which RFC 7512 §2.3 allows.
    public var initializationArguments: String? {
        p11_kit_uri_get_vendor_query(uri, "init-args").map { String(cString: $0) }
    }
    /// Where the PIN is. Not for people's eyes.
    public var pinSource: String? { p11_kit_uri_get_pin_source(uri).map { String(cString: $0) } }
    /// A hint, and only beside an attribute of the token.
    public var slotID: SlotID? {
        let slot = p11_kit_uri_get_slot_id(uri)
        return slot == UInt.max ? nil : SlotID(rawValue: slot)
    }

    /// Of the object: its class, label and ID, as far as they are given.
    public var objectAttributes: [Attribute] {
        var count: UInt = 0
        guard let first = p11_kit_uri_get_attributes(uri, &count) else { return [] }
        return UnsafeBufferPointer(start: first, count: Int(count)).map { attribute in
            let bytes = UnsafeRawBufferPointer(start: attribute.pValue, count: Int(attribute.ulValueLen))
            return Attribute(Attribute.Kind(rawValue: attribute.type), bytes: Array(bytes))
        }
    }

    /// Whether label, serial number, manufacturer and model are those of the URI, as far as it names them.
    public func matches(_ token: TokenInfo) -> Bool {
        withUnsafePointer(to: token.raw) { p11_kit_uri_match_token_info(uri, $0) != 0 }
    }
}

/// What is wrong with the text of a PKCS #11 URI.
public struct PKCS11URIError: Error, Hashable, Sendable {
    /// Goes on after "the URI cannot be used:".
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
