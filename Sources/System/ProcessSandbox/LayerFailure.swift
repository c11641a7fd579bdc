import Glibc

/// Why a layer is not in force.
struct LayerFailure: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    /// - Parameters:
    ///   - call: such as `setsid`.
    ///   - number: an `errno`.
    init(_ call: String, errno number: Int32) {
        reason = "\(call): \(String(cString: strerror(number))) (errno \(number))"
    }

    /// - Throws: unless the number is 0.
    static func check(_ call: String, errno number: Int32) throws(LayerFailure) {
        if number != 0 { throw LayerFailure(call, errno: number) }
    }
}
