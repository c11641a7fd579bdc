import HTTPTypes
import Hummingbird

/// The methods of each path. The router answers 404 both for an unknown path and for an unknown method of a path.
struct MethodTable: Sendable {
    private struct Entry: Sendable {
        /// Nil matches any one segment.
        let segments: [Substring?]
        let method: HTTPRequest.Method
    }

    private let entries: [Entry]

    init(_ routes: [(method: HTTPRequest.Method, path: String)]) {
        entries = routes.map { route in
            let segments = route.path.split(separator: "/").map { $0.hasPrefix("{") ? nil : $0 }
            return Entry(segments: segments, method: route.method)
        }
    }

    /// The methods of a path in the order of the routes; empty for an unknown path.
    func methods(for path: String) -> [HTTPRequest.Method] {
        let segments = path.split(separator: "/")
        return entries.filter { entry in
            entry.segments.count == segments.count
                && zip(entry.segments, segments).allSatisfy { $0 == nil || $0 == $1 }
        }.map(\.method)
    }
}
