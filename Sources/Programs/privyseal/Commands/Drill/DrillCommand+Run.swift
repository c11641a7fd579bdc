public import ArgumentParser
import AuditKit
import Foundation
import GatewayConfiguration
import Glibc
public import KeyDrills
import UnixSignals

extension DrillCommand {
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Run a drill, and keep its record.",
            discussion: """
                SCENARIOS
                \(DrillScenario.allCases.map { "\($0.rawValue): \($0.summary)" }.joined(separator: "\n"))

                --throw-away needs SoftHSM, and does not touch the keys of the running gateway. Without it, the drill \
                asks a person for the steps that it cannot do itself, and waits for their results.

                With --config, the audit log of that configuration records the drill, and a proof of that entry is \
                stored with the record: the compliance report counts no other drill. The command must be able to read \
                the log's key.
                """)

        @Argument(help: ArgumentHelp("The scenario to rehearse.", valueName: "scenario"))
        var scenario: DrillScenario

        @OptionGroup var archive: DrillArchiveOption

        @Flag(help: "Use a gateway with keys in a throw-away token, which the drill makes and removes.")
        var throwAway = false

        @Flag(help: "With --throw-away, for token-loss: give the active key a second token.")
        var replica = false

        @OptionGroup(title: "Without --throw-away") var target: DrillTargetOption
        @OptionGroup(title: "Load") var load: DrillLoadOption

        @Option(help: ArgumentHelp("How long the old key signs requests that name it: 5s, 2m.", valueName: "span"))
        var overlap = DurationArgument(seconds: 5)

        @Option(
            name: [.customLong("timeout"), .customLong("patience")],
            help: ArgumentHelp(
                "How long the drill waits for an action that only a person can do: 90s, 10m. --patience is the old name of this "
                    + "option; the next version removes it.", valueName: "span"))
        var timeout = DurationArgument(seconds: 600)

        @Option(
            name: .customLong("participant"),
            help: ArgumentHelp("A participant, as NAME:ROLE; may be given several times.", valueName: "name:role"),
            transform: Self.participant)
        var participants: [DrillRecord.Participant] = []

        @Flag(help: "The participants did not know of the drill.")
        var unannounced = false

        @OptionGroup var consent: KeyConsentOption
        @OptionGroup var output: OutputOption

        func validate() throws {
            guard throwAway || archive.configuration != nil else {
                throw ValidationError("Give the gateway with --config FILE, or use --throw-away.")
            }
            guard !replica || (throwAway && scenario == .tokenLoss) else {
                throw ValidationError("--replica is for the scenario token-loss with --throw-away.")
            }
            guard throwAway || scenario != .restoreFromBackupToken else {
                throw ValidationError(
                    "restore-from-backup-token loses a token permanently and needs the wrapped copy of a key: use "
                        + "--throw-away.")
            }
            guard !throwAway else { return }
            guard target.app != nil else {
                throw ValidationError("Give an app of a staging account with --app BUNDLE-ID, or use --throw-away.")
            }
            guard target.new != nil || !scenario.needsReplacement else {
                throw ValidationError(
                    "\(scenario.rawValue) needs a staged key: name it with --new KEY, or use --throw-away.")
            }
        }

        func run() async throws {
            LogSetup.bootstrapQuietly()
            let (archive, gateway) = try archive.open()
            try archive.prepare()
            let (record, failure) =
                throwAway ? try await runThrowAway(archive, gateway) : try await runGiven(archive, gateway)
            // Before the record is printed: a lost standard output ends the process.
            let exit = failure.map { StandardError.failure($0.description) }
            // Print the record even if it could not be kept: the drill cannot be repeated.
            output.show(record, text: DrillCommand.plain(DrillText.text(record)))
            if let exit { throw exit }
            if record.verdict == .failed { throw ExitCode.failure }
        }

        private static func participant(_ text: String) throws -> DrillRecord.Participant {
            guard let colon = text.firstIndex(of: ":") else {
                throw ValidationError("--participant is NAME:ROLE, such as \"Ann Smith:key custodian\".")
            }
            let role = text[text.index(after: colon)...]
            return DrillRecord.Participant(
                name: text[..<colon].trimmingCharacters(in: .whitespaces),
                role: role.trimmingCharacters(in: .whitespaces))
        }

        private var conditions: DrillConditions {
            DrillConditions(
                scenario: scenario, isPlanned: !unannounced, participants: participants, load: load.settings,
                overlap: overlap.seconds, timeout: .seconds(timeout.seconds), say: { StandardError.print($0) })
        }

        // MARK: Gateways

        /// A record, and why it could not be kept; nil if its files are written.
        private typealias Outcome = (record: DrillRecord, failure: DrillError?)

        private func runGiven(
            _ archive: DrillArchive, _ gateway: GatewayConfiguration?
        ) async throws -> Outcome {
            guard let path = self.archive.configuration, let configuration = gateway else {
                throw ExitCode.validationFailure
            }
            let issuerID = try target.issuerID(path, configuration)
            let keys = scenario.takesTokenAway ? "takes the token away from" : "changes the keys of"
            try consent.require("This drill \(keys) the account \(issuerID) on the running gateway.")
            let environment = try target.environment(path, configuration, issuerID, conditions)
            let record = try await Self.untilSignal { try await Self.rehearse(environment) }
            return (record, await keep(record, archive, recordedIn: configuration))
        }

        private func runThrowAway(
            _ archive: DrillArchive, _ given: GatewayConfiguration?
        ) async throws -> Outcome {
            let conditions = conditions
            conditions.say("Making a token with keys, and a gateway …")
            let hasReplica = replica || scenario == .failover
            let (record, gateway) = try await Self.untilSignal {
                let gateway = try await TemporaryGateway.start(hasReplica: hasReplica)
                do {
                    let record = try await Self.rehearse(try gateway.environment(conditions))
                    await gateway.end()
                    return (record, gateway)
                } catch {
                    await gateway.end()
                    gateway.remove()
                    throw error
                }
            }
            defer { gateway.remove() }
            // Without another log, use that of the temporary gateway, which is kept beside the record.
            let configuration =
                try given.flatMap { $0.audit == nil ? nil : $0 } ?? ConfigurationOption.load(gateway.configurationPath)
            let failure = await keep(record, archive, recordedIn: configuration)
            let evidence = "\(archive.directory)/\(record.id)"
            do { try gateway.keepEvidence(in: evidence) } catch {
                let reason = "The drill's audit log cannot be copied to \(evidence): \(error.localizedDescription)"
                return (record, failure ?? DrillError(reason))
            }
            return (record, failure)
        }

        private static func rehearse(_ environment: DrillEnvironment) async throws -> DrillRecord {
            try await finally(environment.target.close) { try await DrillRun(environment).perform() }
        }

        /// Performs the body, and cancels it at SIGINT, SIGTERM or SIGHUP. Returns or throws when the body has cleaned up.
        private static func untilSignal<Value: Sendable>(
            _ body: @escaping @Sendable () async throws -> Value
        ) async throws -> Value {
            // nohup(1) ignores SIGHUP, and a trap would end that.
            let signals =
                Self.ignores(SIGHUP)
                ? await UnixSignalsSequence(trapping: .sigint, .sigterm)
                : await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
            let work = Task { try await body() }
            let watch = Task { for await _ in signals { work.cancel() } }
            defer { watch.cancel() }
            // The body may come to its end although it was cancelled.
            do { return try await work.value } catch {
                guard work.isCancelled else { throw error }
                throw DrillError("The drill was stopped before its end; there is no record of it.")
            }
        }

        private static func ignores(_ signal: Int32) -> Bool {
            var action = sigaction()
            sigaction(signal, nil, &action)
            let handler = action.__sigaction_handler.sa_handler
            return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        }

        // MARK: Files

        /// - Returns: why the record, its proof or its page could not be written; nil if all are written.
        private func keep(
            _ record: DrillRecord, _ archive: DrillArchive, recordedIn configuration: GatewayConfiguration
        ) async -> DrillError? {
            do throws(DrillError) {
                // Write the record first, so that the log has no entry of a missing record.
                let bytes = DrillArchive.bytes(of: record)
                StandardError.print("The record is \(try archive.keep(bytes, of: record.id, "json")).")
                let proof = await ReportRecording.record(
                    "drill", id: record.id, bytes: bytes, hasPassed: record.verdict == .passed, in: configuration)
                if let proof {
                    try archive.keep(proof.text.utf8, of: record.id, DrillArchive.proofEnding)
                } else {
                    StandardError.print(
                        "warning: the record has no proof of its entry in an audit log; the compliance report may not "
                            + "count it")
                }
                let page = DrillPage(
                    record, predecessor: archive.predecessor(of: record), digest: DrillArchive.digest(of: bytes)
                ).html
                StandardError.print("Its page is \(try archive.keep(page.utf8, of: record.id, "html")).")
                await share(record, DrillArchive.base64Digest(of: bytes), configuration)
                return nil
            } catch {
                return error
            }
        }

        private func share(_ record: DrillRecord, _ digest: String, _ configuration: GatewayConfiguration) async {
            do { try await FleetDrills.record(record, digest: digest, in: configuration) } catch {
                StandardError.print(
                    "warning: the other gateways of the fleet do not know the result, because it could not be recorded: "
                        + "\(error) Run privyseal drill share \(record.id) later.")
            }
        }
    }
}

extension DrillScenario: ExpressibleByArgument {}
