internal import Synchronization

/// Who uses a module, so that the last resort of one token does not take the module from another that signs.
enum ModuleNeighbours {
    private struct Module {
        var healthy: Set<ObjectIdentifier> = []
        /// Of the last re-initialisation, in nanoseconds.
        var reinitialized: UInt64 = 0
    }

    private static let modules = Mutex<[String: Module]>([:])
    /// While a neighbour signs, in nanoseconds.
    private static let pause: UInt64 = 30_000_000_000

    static func note(_ backend: AnyObject, isHealthy: Bool, in module: String) {
        let backend = ObjectIdentifier(backend)
        modules.withLock { modules in
            if isHealthy {
                modules[module, default: Module()].healthy.insert(backend)
            } else {
                modules[module]?.healthy.remove(backend)
            }
        }
    }

    /// Whether `backend` may re-initialise the module now; when it may, it is taken to do so.
    static func mayReinitialize(_ module: String, for backend: AnyObject) -> Bool {
        let now = Clock.nanoseconds()
        return modules.withLock { modules in
            let others = (modules[module]?.healthy ?? []).subtracting([ObjectIdentifier(backend)])
            let last = modules[module]?.reinitialized ?? 0
            guard others.isEmpty || last == 0 || now >= last + pause else { return false }
            modules[module, default: Module()].reinitialized = now
            return true
        }
    }
}
