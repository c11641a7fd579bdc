/// The event loop that reads and answers the request of the current task. Whoever resumes a task from a thread of its own
/// does so there: otherwise the task goes on at some other loop, which has to be woken, and whose answer has to wake this one.
public final class RequestLoop: Sendable {
    /// Nil outside of requests.
    @TaskLocal public static var current: RequestLoop?

    /// The same for every connection of one loop.
    let id: ObjectIdentifier
    private let execute: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - Parameters:
    ///   - loop: tells one from another.
    ///   - execute: runs work on the loop, in order.
    public init(_ loop: AnyObject, execute: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        id = ObjectIdentifier(loop)
        self.execute = execute
    }

    /// Resumes those who wait, with one wake-up for each loop that they came from.
    ///
    /// - Parameters:
    ///   - home: where a waiter's task came from.
    ///   - resume: resumes some, on their loop, or at once those who came from none.
    public static func resume<Waiter: Sendable>(
        _ waiters: [Waiter], from home: (Waiter) -> RequestLoop?, _ resume: @escaping @Sendable ([Waiter]) -> Void
    ) {
        var groups: [(loop: RequestLoop?, waiters: [Waiter])] = []
        for waiter in waiters {
            let loop = home(waiter)
            // There are as many loops as cores: a search through them is quicker than a table.
            if let index = groups.firstIndex(where: { $0.loop?.id == loop?.id }) {
                groups[index].waiters.append(waiter)
            } else {
                groups.append((loop, [waiter]))
            }
        }
        for (loop, waiters) in groups {
            if let loop { loop.execute { resume(waiters) } } else { resume(waiters) }
        }
    }
}
