internal import Synchronization

/// Who uses a module, so that the last resort of one token does not take the module from another that signs.
enum ModuleNeighbours {
    private struct Module {
        var healthy: Set<ObjectIdentifier> = []
        /// Of the last re-initialisation, in nanoseconds.
        var reinitialized: UInt64 = 0
        var pause = shortest

        /// The next time while a neighbour signs is twice as far off: each disturbs it.
        mutating func note(_ now: UInt64, disturbs: Bool) {
            pause = disturbs && reinitialized != 0 ? min(2 * pause, longest) : shortest
            reinitialized = now
        }
    }

    private static let modules = Mutex<[String: Module]>([:])
    /// Between two re-initialisations while a neighbour signs, in nanoseconds: 30 s, and up to an hour.
    private static let shortest: UInt64 = 30_000_000_000
    private static let longest: UInt64 = 3_600_000_000_000

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
    static func mayReinitialize(
        _ module: String, for backend: AnyObject, now: UInt64 = Clock.nanoseconds()
    ) -> Bool {
        modules.withLock { modules in
            var state = modules[module, default: Module()]
            let others = state.healthy.subtracting([ObjectIdentifier(backend)])
            guard others.isEmpty || state.reinitialized == 0 || now >= state.reinitialized + state.pause else {
                return false
            }
            state.note(now, disturbs: !others.isEmpty)
            modules[module] = state
            return true
        }
    }
}
