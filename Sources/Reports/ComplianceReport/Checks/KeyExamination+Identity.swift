internal import SigningGateway
internal import SigningKit

extension KeyExamination {
    var identity: ComplianceCheck {
        let expected = key.pinned ?? key.life?.fingerprint
        let source = key.pinned != nil ? "configuration" : "register"
        return seen(
            "identity.pin", "Is it the key that was pinned?", [.pci("3.7.7")],
            expected: expected.map { "\($0) (\(source))" } ?? "a pinned fingerprint"
        ) { inspection in
            guard let found = inspection.fingerprint else {
                return (nil, .unavailable, "The token does not show the public key.")
            }
            guard let expected else {
                return (
                    "\(found)", .fail, "No configuration or register pins this key. Pin it: publicKey: \(found)"
                )
            }
            return found == expected
                ? ("\(found)", .pass, nil)
                : ("\(found)", .fail, "Another key has replaced it. Suspend it, and find out who replaced it.")
        }
    }

    /// Nil for a key on a token: `CKA_EC_PARAMS` has its curve.
    var curve: ComplianceCheck? {
        guard isInFile else { return nil }
        return seen(
            "identity.curve", "Is it a key on P-256?", [.nist57("5.6"), .pci("3.7.1")], expected: "P-256"
        ) { _ in ("P-256", .notApplicable, "A file with a key on another curve is refused when it is read.") }
    }

    var custody: ComplianceCheck {
        seen(
            "custody", "Is it in a cryptographic module in hardware?", [.pci("3.6.1.2")],
            expected: "a token in hardware"
        ) { inspection in
            let kind = CustodyKind(inspection)
            switch kind {
            case .hardware:
                return (
                    kind.sentence, .pass,
                    "This is the module's own statement. Look up its certificate by model and firmware."
                )
            case .unknown: return (kind.sentence, .unavailable, "Its slot does not say that it is hardware.")
            case .softwareToken, .process:
                guard acceptsSoftware else {
                    return (kind.sentence, .fail, "A person with this machine and the PIN or the file has the key.")
                }
                return (kind.sentence, .notApplicable, "Accepted because of --accept-software.")
            }
        }
    }
}

/// The kind of module that holds a private key.
enum CustodyKind: Equatable {
    case hardware(String)
    case softwareToken(String)
    case unknown(String)
    case process

    /// Known software tokens, as prefixes. The model matters only for a manufacturer that also makes hardware.
    private static let software: [(manufacturer: String, model: String)] = [
        ("SoftHSM project", ""), ("Mozilla Foundation", ""), ("Kryoptic", ""), ("IBM", "Soft"),
        ("GNOME Keyring", ""), ("PKCS#11 Kit", ""),
    ]

    init(_ inspection: KeyInspection) {
        guard let token = inspection.token else {
            self = .process
            return
        }
        let name = "\(token.manufacturer), \(token.model)"
        let isSoftware = Self.software.contains {
            token.manufacturer.hasPrefix($0.manufacturer) && token.model.hasPrefix($0.model)
        }
        if isSoftware {
            self = .softwareToken(name)
        } else {
            self = token.slotFlags.contains("CKF_HW_SLOT") ? .hardware(name) : .unknown(name)
        }
    }

    var sentence: String {
        switch self {
        case .hardware(let name): "a token in hardware (\(name))"
        case .softwareToken(let name): "software that plays a token (\(name)), not hardware"
        case .unknown(let name): "a token of a kind that is not known (\(name))"
        case .process: "software: the private key is in the memory of the gateway's process"
        }
    }
}
