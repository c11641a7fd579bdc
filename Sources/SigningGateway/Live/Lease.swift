/// What a request holds for as long as it may use the keys of its generation. Rings when the last one is given back.
///
/// Not the generation itself: a task may let go of that as soon as it has read the last of it, and then wait for its
/// signature. What is passed along with the request stays.
final class Lease: Sendable {
    let farewell = Doorbell()

    deinit {
        farewell.ring()
    }
}
