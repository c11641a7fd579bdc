import Encodings
import PKCS11
import SigningKit

/// A PKCS #11 URI (RFC 7512). Its path names a token, a key or both; its query names the module and the PIN's source.
struct TokenURI: Sendable {
    private struct URIAttribute: Sendable {
        var name: String
        /// Percent-decoded.
        var value: [UInt8]
    }

    private let path: [URIAttribute]
    private let query: [URIAttribute]

    init(_ uri: KeyURI) throws(KeyError) {
        path = try Self.attributes(uri.path.split(separator: ";", omittingEmptySubsequences: true))
        query = try Self.attributes(uri.query)
    }

    var modulePath: String? { text("module-path") }
    var moduleName: String? { text("module-name") }
    var shortModuleName: String? {
        guard let file = (modulePath ?? moduleName)?.split(separator: "/").last else { return nil }
        let name = file.hasPrefix("lib") ? file.dropFirst(3) : file
        return name.firstRange(of: ".so").map { String(name[..<$0.lowerBound]) } ?? String(name)
    }
    /// The argument for `C_Initialize`, in a vendor-specific attribute (RFC 7512 §2.3).
    var initializationArguments: String? { text("init-args") }
    /// The source of the PIN. Messages must not show it.
    var pinSource: String? { text("pin-source") }

    private func text(_ name: String) -> String? {
        query.first { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
    }

    /// The attributes with which a token finds the key.
    var keyAttributes: [Attribute] {
        path.compactMap { attribute in
            switch attribute.name {
            case "object": Attribute(.label, bytes: attribute.value)
            case "id": Attribute(.id, bytes: attribute.value)
            default: nil
            }
        }
    }

    /// Whether the token has the label, serial number, manufacturer, model and slot that the URI names.
    func matches(_ token: TokenInfo, in slot: SlotID) -> Bool {
        path.allSatisfy { attribute in
            if attribute.name == "slot-id" { return Array("\(slot.rawValue)".utf8) == attribute.value }
            guard let value = token.uriAttributes[attribute.name] else { return true }
            return TokenInfo.withoutPadding(attribute.value) == value
        }
    }

    // MARK: Address

    /// Splits a key's URI into a locator (module, token, PIN source) and a key selector.
    static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
        guard uri.scheme == "pkcs11" else { throw .invalidURI("its scheme must be pkcs11") }
        let parsed = try TokenURI(uri)
        try parsed.checkNames()
        try parsed.checkValues()
        try parsed.checkQuery()
        // Sorted by name and escaped in one way, so that equal locations have equal text.
        let place = canonical(parsed.path.filter { !keyNames.contains($0.name) }, ";")
        let key = canonical(parsed.path.filter { keyNames.contains($0.name) && $0.name != "type" }, ";")
        return KeyAddress(
            locator: KeyLocator(try KeyURI("pkcs11:\(place)?\(canonical(parsed.query, "&"))")),
            selector: KeySelector(try KeyURI("pkcs11:\(key.isEmpty ? "" : key + ";")type=private")))
    }

    /// With the sizes of the fields of `CK_TOKEN_INFO`, in bytes.
    private static let tokenSizes = ["token": 32, "serial": 16, "manufacturer": 32, "model": 16]
    private static let keyNames: Set<String> = ["object", "id", "type"]
    private static let queryNames: Set<String> = ["module-path", "module-name", "init-args", "pin-source"]
    /// In bytes. The arguments for NSS have a few hundred.
    private static let maximumArguments = 1024

    private func checkNames() throws(KeyError) {
        // Check this first: a URI with a PIN must cause no other message.
        if (path + query).contains(where: { $0.name == "pin-value" }) {
            throw .invalidURI(
                "pin-value puts the PIN into the configuration; put it into a file and give that with "
                    + "pin-source=file:/…"
            )
        }
        let known = Self.keyNames.union(Self.tokenSizes.keys).union(["slot-id"])
        for (attributes, names, place) in [(path, known, "path"), (query, Self.queryNames, "query")] {
            if let unknown = attributes.first(where: { !names.contains($0.name) }) {
                throw .invalidURI(
                    "\(Self.shown(unknown.name)) is not a supported attribute of its \(place); the supported ones are "
                        + names.sorted().joined(separator: ", "))
            }
        }
        guard path.contains(where: { Self.tokenSizes[$0.name] != nil && !$0.value.isEmpty }) else {
            throw .invalidURI(
                "it must name the token by token, serial, manufacturer or model"
                    + (path.contains { $0.name == "slot-id" } ? ": slot numbers change" : ""))
        }
    }

    private func checkValues() throws(KeyError) {
        for attribute in path + query {
            let (name, value) = (attribute.name, attribute.value)
            // Modules and system calls end a string at a NUL.
            if name != "id", value.contains(0) {
                throw .invalidURI("its \(name) holds a NUL (%00), which ends a string; remove it")
            }
            if let size = Self.tokenSizes[name], value.count > size {
                throw .invalidURI("its \(name) holds more than the \(size) bytes that a token has for it")
            }
            switch name {
            case "object" where value.isEmpty, "id" where value.isEmpty:
                throw .invalidURI("its \(name) is empty: give the one that the key has, or remove it")
            case "slot-id":
                let digits = String(decoding: value, as: UTF8.self)
                guard let number = UInt(digits), String(number) == digits, number < UInt(UInt32.max) else {
                    throw .invalidURI(
                        "its slot-id must be a decimal number below \(UInt32.max), without leading zeros (0x1F is 31)")
                }
            case "init-args" where !(1...Self.maximumArguments).contains(value.count):
                throw .invalidURI("its init-args must be 1 to \(Self.maximumArguments) bytes")
            case "type" where value != Array("private".utf8):
                throw .invalidURI("its type must be private: signing needs a private key")
            default: continue
            }
        }
    }

    private func checkQuery() throws(KeyError) {
        let faults = [
            (modulePath == nil && moduleName == nil)
                ? "it must name the token's library with module-path=/… or module-name=…" : nil,
            (modulePath != nil && moduleName != nil)
                ? "it names the token's library twice: give module-path or module-name" : nil,
            modulePath?.hasPrefix("/") == false ? "its module-path must be absolute" : nil,
            moduleName.map { $0.isEmpty || $0.contains("/") } == true
                ? "its module-name must be a name; a path goes into module-path" : nil,
            pinSource?.hasPrefix("|") == true
                ? "a pin-source that runs a command is not supported; use file:/… or credential:NAME" : nil,
            pinSource.map { !$0.hasPrefix("file:/") && !$0.hasPrefix("credential:") } == true
                ? "its pin-source must be file:/absolute/path or credential:NAME" : nil,
        ]
        if let fault = faults.compactMap(\.self).first { throw .invalidURI(fault) }
    }

    // MARK: Text

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
