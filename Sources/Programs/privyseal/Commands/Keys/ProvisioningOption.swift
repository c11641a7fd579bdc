import ArgumentParser
import Crypto
import GatewayConfiguration
import KeyLifecycle
import KeyTransport
import Signing
import SigningKit
import StrictJSON

/// What `import`, `generate` and `destroy` share: options, and the course of the work on a token.
struct ProvisioningOption: ParsableArguments {
    @Option(help: ArgumentHelp("The account's issuer ID; not needed if there is one account.", valueName: "id"))
    var issuer: String?

    @OptionGroup var admin: AdminOption
    @OptionGroup var user: TokenUserOption
    @OptionGroup var consent: KeyConsentOption
    @OptionGroup var output: OutputOption

    /// `--issuer`, or the only account.
    func issuerID(_ configuration: GatewayConfiguration?, _ client: any KeyLifecycleClient) async throws -> String {
        if let issuer { return issuer }
        let all =
            if let configuration { configuration.accounts.map(\.issuerID) + configuration.keyedServices } else {
                try await client.overview().accounts.map(\.issuerID)
            }
        guard all.count == 1 else {
            throw StandardError.failure(
                "There are \(all.count) accounts; name one with --issuer: \(all.joined(separator: ", ")).", status: 64)
        }
        return all[0]
    }

    /// Opens a session at each place, asks for consent, and does the work at each place between two messages to the
    /// register. It leaves out places at which an earlier run has finished the work.
    ///
    /// - Parameters:
    ///   - targets: the places of the order, in order.
    ///   - intention: the sentence to consent to; it gets the remaining places.
    ///   - work: gets the number of the place, its session, and whether the job began in an earlier run and did not end.
    /// - Returns: nil if the job is only proposed.
    func perform<Product>(
        _ order: ProvisioningOrder, _ client: any KeyLifecycleClient, _ targets: [ProvisioningTarget],
        intention: ([ProvisioningLocation]) -> String,
        work: (Int, any ProvisioningSession, _ isResumed: Bool) async throws -> (Product, ProvisioningResult)
    ) async throws -> ProvisioningProduct<Product>? {
        let open = try await client.overview().jobs.first {
            $0.keyID == order.keyID && $0.issuerID == order.issuerID && $0.action == order.action
        }
        let finished = open?.finishedURIs ?? []
        let remaining = targets.enumerated().filter { !finished.contains("\($0.element.uri)") }
        for uri in finished { StandardError.print("An earlier run has finished the work at \(uri).") }
        return try await Self.withSessions(remaining.map(\.element)[...]) { sessions -> ProvisioningProduct<Product>? in
            try consent.require(intention(sessions.map(\.location)))
            guard let job = try await begin(order, continuing: open, client) else { return nil }
            var product = ProvisioningProduct<Product>(job: job)
            for (place, session) in zip(remaining, sessions) {
                let done = try await perform(
                    job, client, session, place.element.selector, at: targets.count > 1 ? "\(place.element.uri)" : nil
                ) { try await work(place.offset, session, job.runs > 1) }
                product.add(done.product, at: place.offset, session.location, done.outcome)
            }
            return product
        }
    }

    private static func withSessions<Answer>(
        _ targets: ArraySlice<ProvisioningTarget>, _ earlier: [any ProvisioningSession] = [],
        _ body: ([any ProvisioningSession]) async throws -> Answer
    ) async throws -> Answer {
        guard let target = targets.first else { return try await body(earlier) }
        return try await target.withSession { session in
            try await withSessions(targets.dropFirst(), earlier + [session], body)
        }
    }

    /// Does the work at one place, and reports its result.
    ///
    /// - Parameter uri: the place, for a job with several places.
    private func perform<Product>(
        _ job: ProvisioningJob, _ client: any KeyLifecycleClient, _ session: any ProvisioningSession,
        _ selector: KeySelector, at uri: String?, work: () async throws -> (Product, ProvisioningResult)
    ) async throws -> (product: Product, outcome: KeyLifecycleAnswer) {
        let product: Product
        var result: ProvisioningResult
        do { (product, result) = try await work() } catch {
            var failure = ProvisioningResult(
                isSuccess: false, fingerprint: job.fingerprint, evidence: ["failure": "\(error)"])
            failure.uri = uri
            if job.action == .destroy, (error as? KeyError)?.isBeforeDestruction != true {
                failure.mayHaveChanged = true
            }
            _ = try? await client.finish(job.id, failure.shortened())
            throw error
        }
        result.uri = uri
        do { return (product, try await client.finish(job.id, result.shortened())) } catch {
            if await isDestroyed(job, client) {
                _ = try await session.destroy(
                    selector, expecting: result.fingerprint, isResumed: true, tell: { StandardError.print("  \($0)") })
                throw CommandError(
                    "\(job.keyID) was destroyed while this command worked, so nothing of the key is left on the "
                        + "\(session.location.name).")
            }
            throw CommandError(
                "The work on the \(session.location.name) is done, and the same command finds it. But the register could "
                    + "not be updated: \(error)")
        }
    }

    /// Whether a destruction took the place of an import or a generation.
    private func isDestroyed(_ job: ProvisioningJob, _ client: any KeyLifecycleClient) async -> Bool {
        guard job.action != .destroy, let overview = try? await client.overview(),
            !overview.jobs.contains(where: { $0.id == job.id }), let life = overview.key(job.keyID)?.life
        else { return false }
        return life.state == .destroyed && !life.hasEnded(job.id)
    }

    /// - Parameter open: the job of an earlier run.
    /// - Returns: nil if there is nothing to do now: the job is only proposed, or that of the earlier run has ended.
    private func begin(
        _ order: ProvisioningOrder, continuing open: ProvisioningJob?, _ client: any KeyLifecycleClient
    ) async throws -> ProvisioningJob? {
        var order = order
        order.continues = open?.id
        let answer: KeyLifecycleAnswer
        do { answer = try await client.begin(order) } catch {
            guard let open, let life = try await client.overview().key(order.keyID)?.life, life.hasEnded(open.id) else {
                throw error
            }
            StandardError.print(
                "The work that an earlier run began has ended meanwhile: the key \(life.keyID) is \(life.state.rawValue)."
            )
            return nil
        }
        guard case .begun(let job) = answer else {
            output.show(answer, text: KeyAnswerText(gatewayOption: admin.gatewayOption).text(answer))
            return nil
        }
        if job.runs > 1 {
            StandardError.print("An earlier run began at \(job.begun.text) and did not end; this run continues it.")
        }
        return job
    }
}

/// What a provisioning job has made or found in this run.
struct ProvisioningProduct<Product> {
    struct Place {
        /// The number of the place in the order.
        let number: Int
        let product: Product
        let location: ProvisioningLocation
    }

    let job: ProvisioningJob
    /// The places of this run, in order; those of earlier runs are left out.
    private(set) var places: [Place] = []
    /// The answer to the last report; nil before the first.
    private(set) var outcome: KeyLifecycleAnswer?

    init(job: ProvisioningJob) {
        self.job = job
    }

    mutating func add(
        _ product: Product, at number: Int, _ location: ProvisioningLocation, _ outcome: KeyLifecycleAnswer
    ) {
        places.append(Place(number: number, product: product, location: location))
        self.outcome = outcome
    }
}
