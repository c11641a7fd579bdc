import KeyDrills

/// Runs a step of a drill command and prints its `DrillError`.
enum DrillAttempt {
    /// - Throws: `ExitCode` 1, after printing the error.
    static func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch let error as DrillError { throw StandardError.failure(error.description) }
    }

    static func run<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as DrillError { throw StandardError.failure(error.description) }
    }
}
