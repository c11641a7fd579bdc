import Signing

/// The stops in effect, recorded or not. Each order has its own hold, and no order ends the hold of another.
struct KeyHolds {
    private struct Hold {
        let keyID: String
        let state: KeyLifecycleState
    }

    private var holds: [Int: Hold] = [:]
    private var last = 0

    /// - Parameter state: `suspended` or `compromised`.
    /// - Returns: the number of the hold, for `remove`.
    mutating func add(_ keyID: String, as state: KeyLifecycleState) -> Int {
        last += 1
        holds[last] = Hold(keyID: keyID, state: state)
        return last
    }

    mutating func remove(_ number: Int) { holds[number] = nil }

    /// The most severe hold of each key.
    var states: [String: KeyLifecycleState] {
        Dictionary(holds.values.map { ($0.keyID, $0.state) }) { first, second in first.stopped(as: second) }
    }
}

extension KeyLifecycleState {
    /// The state of a key under a hold: the more severe of the two.
    ///
    /// - Parameter held: `suspended` or `compromised`; nil without a hold.
    func stopped(as held: KeyLifecycleState?) -> KeyLifecycleState {
        switch (held, self) {
        case (nil, _), (.suspended, .compromised), (.suspended, .retired), (.suspended, .destroyed): self
        case (let held?, _): held
        }
    }
}
