internal import Encodings
internal import PKCS11
internal import SigningKit

/// Splits a key's URI (RFC 7512) into a locator (module, token, PIN source) and a key selector.
enum TokenAddress {
    private static let tokenAttributes: Set<String> = ["token", "serial", "manufacturer", "model"]
    private static let keyAttributes: Set<String> = ["object", "id", "type"]
    private static let queryAttributes: Set<String> = ["module-path", "module-name", "init-args", "pin-source"]

    static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
        guard uri.scheme == "pkcs11" else { throw .invalidURI("its scheme must be pkcs11") }
        let path = try attributes(uri.path.split(separator: ";", omittingEmptySubsequences: true))
        let query = try attributes(uri.query)
        try checkNames(path, query)
        try checkValues(path + query)
        try check(try parse(uri), path)
        // Sorted by name and escaped in one way, so that equal locations have equal text.
        let place = canonical(path.filter { !keyAttributes.contains($0.name) }, ";")
        let key = canonical(path.filter { keyAttributes.contains($0.name) && $0.name != "type" }, ";")
        return KeyAddress(
            locator: KeyLocator(try KeyURI("pkcs11:\(place)?\(canonical(query, "&"))")),
            selector: KeySelector(try KeyURI("pkcs11:\(key.isEmpty ? "" : key + ";")type=private")))
    }

    static func parse(_ uri: KeyURI) throws(KeyError) -> PKCS11URI {
        do throws(PKCS11URIError) {
            let parsed = try PKCS11URI(uri.text)
            if parsed.hasUnknownAttributes { throw PKCS11URIError.unknownAttribute }
            return parsed
        } catch {
            throw .invalidURI(error.reason)
        }
    }

    /// The attributes with which a token finds the key.
    static func keyAttributes(of selector: KeySelector) throws(KeyError) -> [Attribute] {
        try parse(selector.uri).objectAttributes.filter { $0.kind != .objectClass }
    }

    // MARK: Validation

    private static func checkNames(_ path: [URIAttribute], _ query: [URIAttribute]) throws(KeyError) {
        // Check this first: a URI with a PIN must cause no other message.
        if (path + query).contains(where: { $0.name == "pin-value" }) {
            throw .invalidURI(
                "pin-value puts the PIN into the configuration; put it into a file and give that with "
                    + "pin-source=file:/…"
            )
        }
        let known = tokenAttributes.union(keyAttributes).union(["slot-id"])
        for (attributes, names, place) in [(path, known, "path"), (query, queryAttributes, "query")] {
            if let unknown = attributes.first(where: { !names.contains($0.name) }) {
                throw .invalidURI(
                    "\(shown(unknown.name)) is not a supported attribute of its \(place); the supported ones are "
                        + names.sorted().joined(separator: ", "))
            }
        }
        try checkArguments(query)
        guard path.contains(where: { tokenAttributes.contains($0.name) && !$0.value.isEmpty }) else {
            throw .invalidURI(
                "it must name the token by token, serial, manufacturer or model"
                    + (path.contains { $0.name == "slot-id" } ? ": slot numbers change" : ""))
        }
    }

    /// p11-kit and the system calls end a string at a NUL, and p11-kit truncates a slot number to 64 bits.
    private static func checkValues(_ attributes: [URIAttribute]) throws(KeyError) {
        for attribute in attributes where attribute.name != "id" && attribute.value.contains(0) {
            throw .invalidURI("its \(attribute.name) holds a NUL (%00), which ends a string; remove it")
        }
        guard let slot = attributes.first(where: { $0.name == "slot-id" }) else { return }
        let digits = String(decoding: slot.value, as: UTF8.self)
        guard let number = UInt(digits), String(number) == digits, number < UInt(UInt32.max) else {
            throw .invalidURI(
                "its slot-id must be a decimal number below \(UInt32.max), without leading zeros (0x1F is 31)")
        }
    }

    private static func checkArguments(_ query: [URIAttribute]) throws(KeyError) {
        guard let arguments = query.first(where: { $0.name == "init-args" }) else { return }
        guard (1...maximumArguments).contains(arguments.value.count) else {
            throw .invalidURI("its init-args must be 1 to \(maximumArguments) bytes")
        }
    }

    /// In bytes. The arguments for NSS have a few hundred.
    private static let maximumArguments = 1024

    private static func check(_ uri: PKCS11URI, _ path: [URIAttribute]) throws(KeyError) {
        if let type = path.first(where: { $0.name == "type" }), type.value != Array("private".utf8) {
            throw .invalidURI("its type must be private: signing needs a private key")
        }
        try checkModule(uri)
        guard let source = uri.pinSource else { return }
        if source.hasPrefix("|") {
            throw .invalidURI("a pin-source that runs a command is not supported; use file:/… or credential:NAME")
        }
        guard source.hasPrefix("file:/") || source.hasPrefix("credential:") else {
            throw .invalidURI("its pin-source must be file:/absolute/path or credential:NAME")
        }
    }

    private static func checkModule(_ uri: PKCS11URI) throws(KeyError) {
        switch (uri.modulePath, uri.moduleName) {
        case (nil, nil):
            throw .invalidURI("it must name the token's library with module-path=/… or module-name=…")
        case (.some, .some):
            throw .invalidURI("it names the token's library twice: give module-path or module-name")
        case (let path?, nil):
            guard path.hasPrefix("/") else { throw .invalidURI("its module-path must be absolute") }
        case (nil, let name?):
            guard !name.isEmpty, !name.contains("/") else {
                throw .invalidURI("its module-name must be a name; a path goes into module-path")
            }
        }
    }

    // MARK: Parsing

    private struct URIAttribute {
        var name: String
        /// Percent-decoded.
        var value: [UInt8]
    }

    private static func attributes(_ parts: [Substring]) throws(KeyError) -> [URIAttribute] {
        var found: [URIAttribute] = []
        for part in parts {
            let name = String(part.prefix { $0 != "=" })
            guard part.utf8.count > name.utf8.count,
                let value = PercentEncoding.decodeBytes(part.dropFirst(name.count + 1).utf8)
            else {
                throw .invalidURI("it must be pkcs11:name=value;…?name=value&…, with %XX for special characters")
            }
            guard !found.contains(where: { $0.name == name }) else {
                throw .invalidURI("it names \(shown(name)) twice")
            }
            found.append(URIAttribute(name: name, value: value))
        }
        return found
    }

    /// The name of an attribute for an error message, or "something" if the name may be a misplaced secret.
    private static func shown(_ name: String) -> String {
        let isName = name.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-")
        }
        return isName && (1...24).contains(name.utf8.count) ? name : "something"
    }

    private static func canonical(_ attributes: [URIAttribute], _ separator: String) -> String {
        attributes.sorted { $0.name < $1.name }
            .map { "\($0.name)=\(PercentEncoding.encode(bytes: $0.value, escaping))" }
            .joined(separator: separator)
    }

    /// Keeps the unreserved characters of RFC 3986 §2.3, and `/` and `:` for paths.
    private static let escaping = PercentEncoding.Form(kept: "-._~/:")
}

extension PKCS11URIError {
    static var unknownAttribute: PKCS11URIError {
        PKCS11URIError(reason: "it has an attribute that p11-kit does not support")
    }
}
