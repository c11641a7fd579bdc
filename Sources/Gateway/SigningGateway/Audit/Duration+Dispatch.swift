import Dispatch

extension Duration {
    var dispatch: DispatchTimeInterval {
        let parts = components
        return .nanoseconds(Int(parts.seconds) * 1_000_000_000 + Int(parts.attoseconds / 1_000_000_000))
    }
}
