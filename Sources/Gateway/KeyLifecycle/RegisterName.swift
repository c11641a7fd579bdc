enum RegisterName {
    static let proposals = "proposals"
    static let jobs = "ceremonies"
    static let activations = "activations"
    static let fenced = "fenced"
    static let refusedPINs = "refused-pins"
    static let drills = "drills"
    /// The gateways that had registers of their own before they joined the fleet, with the digests of these registers.
    static let joined = "joined"

    /// One register for each open proposal. A free register holds `null`.
    static func proposal(_ number: Int) -> String { "proposal/\(number)" }

    static func number(of name: String) -> Int? {
        name.hasPrefix("proposal/") ? Int(name.dropFirst("proposal/".count)) : nil
    }

    static func key(_ keyID: String) -> String { "key/\(keyID)" }

    /// Whether a gateway of this version reads the register. Only commands read `drills`, and a later version may add
    /// others.
    static func isKnown(_ name: String) -> Bool {
        [proposals, jobs, activations, fenced, refusedPINs, joined].contains(name) || number(of: name) != nil
            || name.hasPrefix("key/")
    }
}
