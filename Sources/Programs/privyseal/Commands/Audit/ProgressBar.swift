import Glibc

/// A progress bar on standard error, only if that is a terminal.
final class ProgressBar {
    private let isShown: Bool
    private var last = -1

    private static let width = 30

    init(isShown: Bool) {
        self.isShown = isShown && isatty(STDERR_FILENO) == 1
    }

    func show(_ done: Int, of total: Int) {
        let percent = total > 0 ? min(100, Int(Double(done) / Double(total) * 100)) : 100
        guard isShown, percent != last else { return }
        last = percent
        let filled = percent * Self.width / 100
        let bar = String(repeating: "=", count: filled) + String(repeating: " ", count: Self.width - filled)
        write("\r[\(bar)] \(percent) %, \(done) of \(total) entries")
    }

    func end() {
        guard last >= 0 else { return }
        last = -1
        write("\r\u{1B}[K")
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        // A write error does not matter here.
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
