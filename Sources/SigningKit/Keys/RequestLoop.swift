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

    /// Lets every other request that the loop has at hand come as far as this one.
    ///
    /// What they all do next they then do one after the other: the code and the tables for it stay in the processor's caches,
    /// and whoever waits for answers is woken once for all of them.
    public func keepStep() async {
        await withUnsafeContinuation { continuation in execute { continuation.resume() } }
    }

    /// Runs something on the loop, behind everything that it has at hand.
    public func afterTurn(_ body: @escaping @Sendable () -> Void) { execute(body) }

    public func isSame(as other: RequestLoop) -> Bool { id == other.id }

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
