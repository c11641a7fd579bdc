import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

@Suite("Two tokens, one of them slow", .serialized, .softHSM, .timeLimit(.minutes(1)))
struct StarvationTests {
    private let hsm: SoftHSM
    private let module: FaultyModule
    private let slow: SoftHSMToken
    private let quick: SoftHSMToken

    init() throws {
        hsm = try SoftHSM.shared.get()
        module = try FaultyModule.shared.get()
        slow = try hsm.makeToken()
        quick = try hsm.makeToken()
        for token in [slow, quick] { try token.generateKey(label: "KEY", id: [1]) }
        try module.fresh()
    }

    private static let narrow: [String: PluginSettings.Value] = [
        "sessions": .integer(1), "queueLimit": .integer(2),
    ]

    @Test("a token that hangs is busy at once, and the other token of its module signs")
    func sameModule() async throws {
        try await withKey(slow.uri("object=KEY", modulePath: module.path), Self.narrow) { slowBackend, slowKey in
            try await withKey(quick.uri("object=KEY", modulePath: module.path), Self.narrow) { quickBackend, quickKey in
                let barrier = module.barrier()
                try module.follow("C_Sign to=1 hang=\(barrier.file.path)")
                async let hanging = fault(slowKey)
                try await eventually("a call hangs") { module.count("C_Sign") == 1 }
                async let waiting = faults(2, slowKey)
                try await eventually("its queue is full") { await slowBackend.report().pool?.queueDepth == 2 }
                for _ in 0..<100 {
                    #expect(await fault(slowKey) == .busy)
                    #expect(await fault(quickKey) == nil)
                }
                #expect(await slowBackend.report().pool?.busy == 1, "it hangs still")
                #expect(await quickBackend.report().pool?.queueDepth == 0)
                try barrier.letGo()
                #expect(await hanging == nil)
                #expect(await waiting == [nil, nil])
            }
        }
    }

    @Test("calls of 50 ms on one token do not slow down the calls on the other")
    func latency() async throws {
        try await withKey(slow.uri("object=KEY", modulePath: module.path), Self.narrow) { _, slowKey in
            try await withKey(quick.uri("object=KEY", modulePath: hsm.modulePath)) { _, quickKey in
                let before = await median(quickKey)
                try module.follow("C_Sign delay=50")
                let during = await withTaskGroup(of: Void.self) { group in
                    // More tasks than the token accepts; a task tries again after `busy`.
                    for _ in 0..<4 {
                        group.addTask {
                            while !Task.isCancelled {
                                if await fault(slowKey) == .busy { try? await Task.sleep(for: .milliseconds(5)) }
                            }
                        }
                    }
                    try? await eventually("it is slow") { module.count("C_SignInit") > 2 }
                    let during = await median(quickKey)
                    group.cancelAll()
                    return during
                }
                // Far below the time of a wait for the other token, and above the noise of a loaded machine.
                #expect(during < before * 3 + .milliseconds(5), "\(before) became \(during)")
            }
        }
    }

    private func median(_ key: any SigningKey) async -> Duration {
        let clock = ContinuousClock()
        var times: [Duration] = []
        for _ in 0..<200 {
            times.append(await clock.measure { #expect(await fault(key) == nil) })
        }
        return times.sorted()[100]
    }
}
