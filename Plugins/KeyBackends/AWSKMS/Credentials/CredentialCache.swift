import Logging
import SigningKit
import Synchronization

/// The current credentials. They are renewed before they expire, by one call at a time. Meanwhile, the other calls use
/// the old ones.
final class CredentialCache: Sendable {
    /// Credentials with a number, so that a caller can say which ones AWS refused.
    struct Held: Sendable {
        let credentials: AWSCredentials
        let number: Int
        /// When to look for new ones; nil for credentials that do not expire.
        fileprivate var renewal: Timestamp?

        fileprivate func isValid(at time: Timestamp) -> Bool { credentials.expiry.map { time < $0 } ?? true }
    }

    private struct State {
        var held: Held?
        var count = 0
        var isRenewing = false
        /// The last attempt, if it failed.
        var failure: (error: KeyError, time: ContinuousClock.Instant)?
        /// When the source last had no others in place of refused ones.
        var unchanged: ContinuousClock.Instant?
    }

    typealias Load = @Sendable (_ deadline: ContinuousClock.Instant) async throws(KeyError) -> AWSCredentials

    private let state = Mutex(State())
    private let turn = AsyncMutex()
    private let load: Load
    private let now: @Sendable () -> Timestamp
    private let logger = Logger(label: "privyseal.awskms")

    /// How long before the expiry new credentials are loaded, if they are valid for long enough: five minutes. EC2 has
    /// new ones by then.
    private static let lead: Int64 = 300_000
    /// The limit for loading while there are no valid credentials.
    private static let loadTime = Duration.seconds(5)
    /// The limit for loading while the old ones are still valid.
    private static let renewalTime = Duration.seconds(1)
    /// The time after a failed attempt, or one without other credentials, in which no other attempt begins.
    private static let pause = Duration.seconds(1)

    init(now: @escaping @Sendable () -> Timestamp = { .now() }, load: @escaping Load) {
        (self.now, self.load) = (now, load)
    }

    /// Why the credentials could not be renewed, although the old ones are still valid; nil if they could.
    var complaint: KeyError? { state.withLock { $0.failure?.error } }

    /// Valid credentials, as far as their expiry says.
    func current() async throws(KeyError) -> Held {
        let time = now()
        let (held, mustRenew) = state.withLock { state -> (Held?, Bool) in
            guard let held = state.held, held.isValid(at: time) else { return (nil, false) }
            guard let renewal = held.renewal, time >= renewal, !state.isRenewing else { return (held, false) }
            state.isRenewing = true
            return (held, true)
        }
        guard let held else { return try await first { $0.isValid(at: self.now()) } }
        return mustRenew ? await renewed(held) : held
    }

    /// Other credentials than those that AWS refused; nil if there are none.
    func replacement(for refused: Held) async throws(KeyError) -> Held? {
        let time = ContinuousClock.now
        if let unchanged = state.withLock({ $0.unchanged }), time - unchanged < Self.pause { return nil }
        let other = try await first { $0.number != refused.number }
        guard other.credentials.isSame(as: refused.credentials) else { return other }
        state.withLock { $0.unchanged = time }
        return nil
    }

    /// The held credentials if they suit; otherwise loaded ones. Callers wait for each other.
    private func first(_ suits: @Sendable (Held) -> Bool) async throws(KeyError) -> Held {
        let result: Result<Held, KeyError> = await turn.pass {
            let known = state.withLock { ($0.held, $0.failure) }
            if let held = known.0, suits(held) { return .success(held) }
            if let failure = known.1, .now - failure.time < Self.pause { return .failure(failure.error) }
            return await loaded(within: Self.loadTime)
        }
        return try result.get()
    }

    /// Renews credentials that are still valid. If that fails, they are used until they expire.
    private func renewed(_ held: Held) async -> Held {
        let result = await loaded(within: Self.renewalTime)
        state.withLock { $0.isRenewing = false }
        switch result {
        case .success(let new): return new
        case .failure(let error):
            // The next request renews them if this one was cancelled.
            if error != .cancelled {
                logger.warning("The AWS credentials could not be renewed yet: \(error)")
                postpone(held)
            }
            return held
        }
    }

    private func loaded(within limit: Duration) async -> Result<Held, KeyError> {
        do throws(KeyError) {
            let credentials = try await load(.now + limit)
            let time = now()
            guard credentials.expiry.map({ time < $0 }) ?? true else {
                throw .unavailable(
                    "The AWS credentials from \(credentials.source) have expired. Renew them there, and check the clock of "
                        + "this machine.")
            }
            return .success(
                state.withLock { state in
                    state.count += 1
                    let held = Held(
                        credentials: credentials, number: state.count,
                        renewal: credentials.expiry.map { Self.renewal(of: $0, at: time) })
                    (state.held, state.failure) = (held, nil)
                    return held
                })
        } catch {
            // A cancelled request says nothing about the source.
            if error != .cancelled { state.withLock { $0.failure = (error, .now) } }
            return .failure(error)
        }
    }

    /// Five minutes before the expiry, or half of the remaining time if that is later. A random factor keeps several
    /// gateways from renewing together.
    static func renewal(of expiry: Timestamp, at time: Timestamp) -> Timestamp {
        let remaining = expiry.milliseconds - time.milliseconds
        let lead = Double(min(lead, remaining / 2)) * Double.random(in: 0.8...1)
        return Timestamp(milliseconds: expiry.milliseconds - Int64(lead))
    }

    private func postpone(_ held: Held) {
        let time = now()
        state.withLock { state in
            guard state.held?.number == held.number, let expiry = held.credentials.expiry else { return }
            state.held?.renewal = Self.renewal(of: expiry, at: time)
        }
    }
}
