import HTTPTypes
import Hummingbird

/// Which methods each path has. The router answers 404 for a path that exists with another method; this tells them apart.
struct MethodTable: Sendable {
    private struct Entry: Sendable {
        /// A nil stands for any one segment.
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

    /// The methods of a path, in the order of the routes; none when there is no such path.
    func methods(for path: String) -> [HTTPRequest.Method] {
        let segments = path.split(separator: "/")
        return entries.filter { entry in
            entry.segments.count == segments.count
                && zip(entry.segments, segments).allSatisfy { $0 == nil || $0 == $1 }
        }.map(\.method)
    }
}
