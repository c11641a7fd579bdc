/// Runs `body`, and then `cleanup`, even if `body` throws.
func finally<Value>(
    _ cleanup: () async -> Void, _ body: () async throws -> Value
) async throws -> Value {
    let value: Value
    do { value = try await body() } catch {
        await cleanup()
        throw error
    }
    await cleanup()
    return value
}
