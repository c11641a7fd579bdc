import ArgumentParser

/// Prints the errors of key commands, and ends the command with status 1.
enum KeyCommandError {
    static func said<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        do { return try await body() } catch let error as ExitCode {
            throw error
        } catch let error as ValidationError {
            throw error
        } catch {
            throw StandardError.failure("\(error)")
        }
    }
}
