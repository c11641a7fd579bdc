internal import Synchronization

/// The backends that sign with each module. They limit how often the recovery of another token re-initialises it.
enum ModuleUsers {
    private struct Module {
        var healthy: Set<ObjectIdentifier> = []
        /// Time of the last re-initialisation, in nanoseconds; 0 for never.
        var reinitialized: UInt64 = 0
        var pause = shortest

        /// Doubles the pause after each re-initialisation that disturbs another backend.
        mutating func note(_ now: UInt64, disturbs: Bool) {
            pause = disturbs && reinitialized != 0 ? min(2 * pause, longest) : shortest
            reinitialized = now
        }
    }

    private static let modules = Mutex<[String: Module]>([:])
    /// The pause between two re-initialisations while another backend signs: 30 s to 1 h, in nanoseconds.
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

    /// Whether `backend` may re-initialise the module now. If so, this also records the re-initialisation.
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
