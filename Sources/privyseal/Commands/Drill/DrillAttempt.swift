import KeyDrills

/// What a drill's error becomes on the command line.
enum DrillAttempt {
    /// - Throws: the status 1; what is wrong is said.
    static func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch let error as DrillError { throw StandardError.failure(error.description) }
    }

    static func run<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as DrillError { throw StandardError.failure(error.description) }
    }
}
