internal import Synchronization

/// The serial number of the token that is connected now.
final class TokenSerial: Sendable {
    private let text: Mutex<String>

    init(_ text: String) {
        self.text = Mutex(text)
    }

    var current: String { text.withLock { $0 } }

    func set(_ serial: String) { text.withLock { $0 = serial } }
}
