/// All metrics of PrivySeal. A test compares them with `docs/operations/metrics.md`, which says how to react.
public enum MetricCatalogue {
    public static let all: [MetricDescription] = [
        // Requests for signatures
        MetricDescription(
            "privyseal_requests_total", .counter, by: ["feature", "client", "outcome"],
            "Requests for signatures: signed, refused as invalid, denied by policy, limited, or failed because no key "
                + "signed."
        ),
        MetricDescription(
            "privyseal_request_duration_seconds", .histogram, by: ["feature"],
            "Time from a request's arrival at the dispatcher to its signature or refusal."),
        MetricDescription(
            "privyseal_verification_failures_total", .counter, by: ["key_id"],
            "Signatures that did not verify with the key's public key and were discarded."),

        // Tokens and keys
        MetricDescription(
            "privyseal_token_queue_seconds", .histogram, by: ["token"],
            "Time from the request for a signature to the start of the call into the token."),
        MetricDescription(
            "privyseal_token_call_seconds", .histogram, by: ["token"],
            "Duration of the calls into the token that make a signature: C_SignInit and C_Sign."),
        MetricDescription(
            "privyseal_token_queue_depth", .gauge, by: ["token"], "Signatures that wait for a session of the token."),
        MetricDescription(
            "privyseal_token_queue_limit", .gauge, by: ["token"],
            "Signatures that may wait for a session of the token; beyond this limit, the answer is busy."),
        MetricDescription(
            "privyseal_token_sessions", .gauge, by: ["token", "state"],
            "Sessions of the token: wanted, ready, busy (part of ready), and stuck in a call that does not return."),
        MetricDescription("privyseal_token_up", .gauge, by: ["token"], "1 if the token signs, 0 if it does not."),
        MetricDescription(
            "privyseal_token_reconnects_total", .counter, by: ["token"],
            "Times that the sessions with the token were reopened."),
        MetricDescription(
            "privyseal_signer_processes", .gauge, by: ["signer"], "Processes of the signer that can sign."),
        MetricDescription(
            "privyseal_signer_processes_wanted", .gauge, by: ["signer"], "Processes that the signer should have."),
        MetricDescription(
            "privyseal_signer_losses_total", .counter, by: ["signer"],
            "Processes of the signer that ended without an order, or were ended because they did not answer."),
        MetricDescription(
            "privyseal_signatures_without_record", .gauge,
            "Signatures that were made and neither recorded in the audit log, nor used as a proof, nor discarded."),
        MetricDescription(
            "privyseal_keys", .gauge, by: ["state"],
            "Keys by health: ready, degraded, down, or refused, as an active key is that the configuration does not name."
        ),
        MetricDescription(
            "privyseal_key_tokens", .gauge, by: ["key_id", "token", "state"],
            "1 for the health of the key at each of its places: ready, degraded, down, or refused."),
        MetricDescription(
            "privyseal_key_failovers_total", .counter, by: ["key_id"],
            "Signatures that the next place of the key made because the first one failed."),
        MetricDescription(
            "privyseal_key_life", .gauge, by: ["key_id", "state"],
            "1 for the lifecycle state of the key: staged, active, retiring, retired, destroyed, suspended, or "
                + "compromised."
        ),
        MetricDescription(
            "privyseal_service_token_expiry_timestamp_seconds", .gauge, by: ["service", "client"],
            "When the client's latest token that was valid for 30 days or longer expires, in seconds since 1970."),
        MetricDescription(
            "privyseal_key_reversals_total", .counter,
            "Times that a newly activated key failed and the previous key was activated again."),

        // Callers and connections
        MetricDescription(
            "privyseal_rate_limited_total", .counter, by: ["client", "limit"],
            "Requests over a client's rate or daily quota."),
        MetricDescription(
            "privyseal_unauthenticated_total", .counter, by: ["listener"], "Requests of unknown clients."),
        MetricDescription(
            "privyseal_issuer_key_reads_total", .counter, by: ["issuer", "outcome"],
            "Times that the keys of an issuer of workload identities were read, or could not be."),
        MetricDescription("privyseal_connections", .gauge, by: ["listener"], "Open connections."),
        MetricDescription("privyseal_body_bytes", .gauge, "Bytes of request bodies in flight."),
        MetricDescription(
            "privyseal_connections_refused_total", .counter, by: ["listener", "reason"],
            "Connections refused or closed: over the limit, no TLS handshake, or too slow."),
        MetricDescription(
            "privyseal_http_responses_total", .counter, by: ["listener", "route", "status"],
            "Responses by route template and HTTP status."),

        // The audit log
        MetricDescription(
            "privyseal_audit_up", .gauge, "1 if the audit log is writable; 0 if not, and nothing is signed."),
        MetricDescription("privyseal_audit_size", .gauge, "Entries of the audit log."),
        MetricDescription(
            "privyseal_audit_entries_total", .counter, "Entries that this process has written to the audit log."),
        MetricDescription(
            "privyseal_audit_commit_seconds", .histogram,
            "Duration of a transaction of the audit log, which records all waiting entries."),
        MetricDescription(
            "privyseal_audit_write_failures_total", .counter, "Transactions of the audit log that failed."),
        MetricDescription(
            "privyseal_audit_checkpoint_timestamp_seconds", .gauge, by: ["destination"],
            "When the destination last accepted a checkpoint of the audit log, in seconds since 1970."),
        MetricDescription(
            "privyseal_audit_cosign_failures_total", .counter,
            "Checkpoints that were sent without the configured cosignature."),
        MetricDescription(
            "privyseal_audit_quorum_timestamp_seconds", .gauge, by: ["log"],
            "When enough witnesses last cosigned a checkpoint, in seconds since 1970."),
        MetricDescription(
            "privyseal_audit_witness_contradiction", .gauge, by: ["log", "witness"],
            "1 while the witness knows another log than the gateway's."),
        MetricDescription("privyseal_audit_free_bytes", .gauge, "Free space on the file system of the audit log."),
        MetricDescription(
            "privyseal_audit_short_of_space", .gauge, "1 if this space is less than the configured reserve."),

        // The fleet
        MetricDescription(
            "privyseal_fleet_gateways", .gauge, by: ["state"],
            "Gateways of the fleet: live, silent (without a valid lease) or left."),
        MetricDescription(
            "privyseal_fleet_read_age_seconds", .gauge, "Seconds since this gateway last read the state of the fleet."),

        // The service
        MetricDescription("privyseal_build_info", .gauge, by: ["version"], "Always 1; the label is the version."),
        MetricDescription(
            "privyseal_reloads_total", .counter, by: ["outcome"],
            "Reloads of the configuration: applied, refused as invalid, or unchanged."),
        MetricDescription(
            "privyseal_last_reload_timestamp_seconds", .gauge,
            "When the current configuration was applied, in seconds since 1970."),
        MetricDescription(
            "privyseal_tls_certificate_expiry_timestamp_seconds", .gauge, by: ["listener"],
            "When the listener's certificate expires, in seconds since 1970."),
        MetricDescription("privyseal_clock_steps_total", .counter, "Times that the wall clock was set."),
        MetricDescription(
            "privyseal_clock_offset_seconds", .gauge,
            "How far the wall clock is from where it would be if it had not been set since the start."),
        MetricDescription(
            "privyseal_spans_dropped_total", .counter, by: [],
            "Spans that were not delivered: the queue was full, or the endpoint did not answer."),
        MetricDescription(
            "privyseal_metrics_dropped_series_total", .counter,
            "Times that a series was not kept, because its metric has too many series or is of another kind."),

        // The process
        MetricDescription(
            "process_start_time_seconds", .gauge, "When the process began, in seconds since 1970."),
        MetricDescription("process_resident_memory_bytes", .gauge, "Memory of the process that is in RAM."),
        MetricDescription("process_open_fds", .gauge, "Open file descriptors."),
        MetricDescription("process_cpu_seconds_total", .counter, "Processor time in user and kernel mode."),
    ]
}

/// Describes a metric for `# HELP` lines, the operators' documentation, and tests of dashboards and alert rules.
public struct MetricDescription: Sendable {
    public let name: String
    public let kind: MetricKind
    /// The names of its labels, sorted, without a histogram's `le`.
    public let labels: [String]
    /// One sentence, with the unit if the name lacks it.
    public let help: String

    public init(_ name: String, _ kind: MetricKind, by labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels.sorted()
        self.help = help
    }
}

/// The kinds of a `# TYPE` line.
public enum MetricKind: String, Sendable {
    case counter, gauge, histogram
}
