import SigningKit
public import StrictJSON

/// Many requests of one feature at once.
extension Dispatcher {
    /// So many signatures of a key in this process are made in one go; then others have their turn.
    private static let stride = 8

    /// - Returns: the answers, in the order of the requests.
    public func sign(
        _ requests: [JSONValue], along route: SigningRoute
    ) async -> [Result<[UInt8], GatewayError>] {
        // A token signs on threads of its own, several at a time; a key in this process signs right here, where handing
        // requests to other tasks would cost as much as the signatures.
        route.key.custody == .token ? await together(requests, route) : await inTurn(requests, route)
    }

    private func inTurn(
        _ requests: [JSONValue], _ route: SigningRoute
    ) async -> [Result<[UInt8], GatewayError>] {
        var results: [Result<[UInt8], GatewayError>] = []
        results.reserveCapacity(requests.count)
        for request in requests {
            if !results.isEmpty, results.count % Self.stride == 0 { await Task.yield() }
            results.append(await result(of: request, route))
        }
        return results
    }

    private func together(
        _ requests: [JSONValue], _ route: SigningRoute
    ) async -> [Result<[UInt8], GatewayError>] {
        await withTaskGroup(of: (Int, Result<[UInt8], GatewayError>).self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask { (index, await self.result(of: request, route)) }
            }
            var results = [Result<[UInt8], GatewayError>?](repeating: nil, count: requests.count)
            for await (index, result) in group { results[index] = result }
            return results.compactMap(\.self)
        }
    }

    private func result(of request: JSONValue, _ route: SigningRoute) async -> Result<[UInt8], GatewayError> {
        do throws(GatewayError) { return .success(try await sign(request, along: route)) } catch {
            return .failure(error)
        }
    }
}
