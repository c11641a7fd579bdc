import AuditKit
import SigningKit
public import StrictJSON

/// Many requests of one feature at once.
extension Dispatcher {
    /// So many signatures of a key in this process are made in one go; then others have their turn.
    private static let stride = 8

    private typealias Held = Result<HeldAnswer, GatewayError>

    /// All are signed with one key and recorded together, those that are refused too, before any answer leaves.
    ///
    /// - Returns: the answers, in the order of the requests.
    public func sign(
        _ requests: [JSONValue], along route: SigningRoute
    ) async -> [Result<[UInt8], GatewayError>] {
        let turn: Result<KeyTurn, GatewayError>
        do throws(GatewayError) { turn = .success(try await self.turn(along: route)) } catch { turn = .failure(error) }
        defer { try? turn.get().end() }
        // A token signs on threads of its own, several at a time; a key in this process signs right here, where handing
        // requests to other tasks would cost as much as the signatures.
        let custody = try? turn.get().key.slot.custody
        let held =
            custody == .token ? await together(requests, route, turn) : await oneByOne(requests, route, turn)
        let results = await release(held, of: turn, along: route)
        for result in results { note(result, route) }
        return results
    }

    private func oneByOne(
        _ requests: [JSONValue], _ route: SigningRoute, _ turn: Result<KeyTurn, GatewayError>
    ) async -> [Held] {
        var results: [Held] = []
        results.reserveCapacity(requests.count)
        for (index, request) in requests.enumerated() {
            if index > 0, index % Self.stride == 0 { await pause() }
            results.append(await hold(request, route, BatchItem(index: index, turn: turn)))
        }
        return results
    }

    private func pause() async {
        if let loop = RequestLoop.current { await loop.keepStep() } else { await Task.yield() }
    }

    private func together(
        _ requests: [JSONValue], _ route: SigningRoute, _ turn: Result<KeyTurn, GatewayError>
    ) async -> [Held] {
        await withTaskGroup(of: (Int, Held).self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask { (index, await self.hold(request, route, BatchItem(index: index, turn: turn))) }
            }
            var results = [Held?](repeating: nil, count: requests.count)
            for await (index, result) in group { results[index] = result }
            return results.compactMap(\.self)
        }
    }

    private func hold(_ request: JSONValue, _ route: SigningRoute, _ item: BatchItem) async -> Held {
        do throws(GatewayError) { return .success(try await route.feature.hold(self, request, route, item)) } catch {
            return .failure(error)
        }
    }

    // MARK: The record

    private func release(
        _ held: [Held], of turn: Result<KeyTurn, GatewayError>, along route: SigningRoute
    ) async -> [Result<[UInt8], GatewayError>] {
        // The key may have been stopped since the first of them was signed.
        let held = stopped(held, of: turn, along: route)
        do throws(GatewayError) {
            let answers = held.count { if case .success = $0 { true } else { false } }
            let entries = held.enumerated().compactMap { index, result in entry(for: result, index, route) }
            try await record(entries, answers: answers)
            return held.map { $0.map(\.answer) }
        } catch {
            // Nothing of a batch leaves that stands in no record; what is wrong with a request may be told all the same.
            return held.map { result in
                if case .failure(let own) = result { .failure(own) } else { .failure(error) }
            }
        }
    }

    private func stopped(
        _ held: [Held], of turn: Result<KeyTurn, GatewayError>, along route: SigningRoute
    ) -> [Held] {
        guard case .success(let turn) = turn else { return held }
        do throws(GatewayError) {
            try requireUse(of: turn, along: route)
            return held
        } catch {
            return held.map { result in if case .success = result { .failure(error) } else { result } }
        }
    }

    private func entry(for result: Held, _ index: Int, _ route: SigningRoute) -> CanonicalEntry? {
        switch result {
        case .success(let held): return held.pending.entry
        case .failure(.unrecorded): return nil
        case .failure(let error):
            guard let audit else { return nil }
            if error.isCounted {
                audit.count(error.refusal.reason, client: route.client.name)
                return nil
            }
            return audit.entry(.refusal(refusal(error, along: route, item: index)))
        }
    }

    private func note(_ result: Result<[UInt8], GatewayError>, _ route: SigningRoute) {
        switch result {
        case .success: route.counters.noteSigned()
        case .failure(let error): route.counters.note(error)
        }
    }
}
