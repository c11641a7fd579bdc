import ArgumentParser
import AuditKit
import Glibc
import StrictJSON

extension AuditCommand {
    struct Tail: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "tail",
            abstract: "Print the last entries, and with --follow the new ones.",
            discussion: """
                A line has time, index and kind. For signatures and refusals, client, app, feature, products and \
                offers, key, outcome and request ID follow, with - for a missing value; for other kinds, their members \
                by name.
                With --format json each line is {"index":7,"entry":{...}}.

                  privyseal audit tail --config gateway.yaml
                  privyseal audit tail -n 0 --follow --format json --config gateway.yaml

                Interrupt (SIGINT) ends --follow.
                """)

        @OptionGroup var log: AuditLogOption
        @OptionGroup var output: OutputOption

        @Option(name: .customShort("n"), help: ArgumentHelp("The number of entries.", valueName: "count"))
        var count = 20

        @Flag(help: "Continue with new entries.")
        var follow = false

        func validate() throws {
            guard count >= 0 else { throw ValidationError("-n must not be negative.") }
        }

        func run() throws {
            let reader = try log.open().reader
            var printer = EntryPrinter(format: output.format)
            let size = try reader.head()?.size ?? 0
            let begin = try reader.firstIndex()
            let first = max(begin, size - min(count, size))
            if size - first < min(count, size) { reader.warnOfArchived(before: begin) }
            var next = max(first, size)
            try printer.show(reader, first..<next)
            while follow, printer.isWell, printer.missing == nil {
                usleep(Self.interval)
                next = try pass(next, reader, &printer)
            }
            try printer.finish()
            try reader.refuse(printer.missing)
        }

        /// - Returns: the next index.
        private func pass(
            _ next: Int, _ reader: any AuditReader, _ printer: inout EntryPrinter
        ) throws(AuditStoreError) -> Int {
            do throws(AuditStoreError) {
                // Only entries that the signed tree head covers are durable.
                guard let size = try reader.head()?.size, size > next else { return next }
                try printer.show(reader, next..<size)
                return size
            } catch .busy {
                // Another process holds the database's lock.
                return next
            }
        }

        /// In microseconds.
        private static let interval: UInt32 = 200_000
    }

    struct Search: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search",
            abstract: "Find entries by time, client, app, product, offer, key, outcome or request ID.",
            discussion: """
                An entry must match every given option. Texts are compared byte by byte, without wildcards. The latest \
                entries come first. The lines have the format of privyseal audit tail.

                  privyseal audit search --client shop --since 24h --config gateway.yaml
                  privyseal audit search --product com.example.monthly --day 2026-11-21 \\
                    --config gateway.yaml
                  privyseal audit search --request-id 7f3d2c --config gateway.yaml
                  privyseal audit search --outcome rate-limited --count --config gateway.yaml
                  privyseal audit search --all-logs --client shop --config gateway.yaml

                With --all-logs, the entries of all logs in the database are in the order of their times, and each \
                begins with the name of its log.

                The search index is not trusted: the command reads each entry that the index names from the log and \
                compares it. It cannot find entries that the index omits. Standard error says for how many entries the \
                index answered; if that matters, search a verified copy without its index file.
                """)

        @OptionGroup var log: AuditLogOption
        @OptionGroup var all: AllLogsOption
        @OptionGroup var filter: AuditFilterOption
        @OptionGroup var output: OutputOption

        @Option(help: ArgumentHelp("The maximum number of entries; 0 for all.", valueName: "count"))
        var limit = 100

        @Flag(help: "Begin with the oldest.")
        var oldestFirst = false

        @Flag(help: "Print only the number of entries; --limit has no effect.")
        var count = false

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit must not be negative.") }
        }

        func run() throws {
            let query = try filter.query(isLatestFirst: !oldestFirst)
            let logs = try SearchedLogs(log, all, for: query)
            let result = try count ? printCount(query, logs) : printEntries(query, logs)
            result.tell(\.sentence)
            try result.refuseMissing()
        }

        private func printCount(_ query: AuditQuery, _ logs: SearchedLogs) throws -> SearchResult {
            var count = 0
            let result = try logs.search(query) { _, _ in
                count += 1
                return true
            }
            try output.write(
                [
                    "count": count,
                    "index": ["answeredFor": result.byIndex, "named": result.foundByIndex] as JSONMembers,
                ] as JSONMembers, text: "\(count)")
            return result
        }

        private func printEntries(_ query: AuditQuery, _ logs: SearchedLogs) throws -> SearchResult {
            let printer = EntryPrinter(format: output.format)
            var (shown, more) = (0, 0)
            let result = try logs.search(query) { log, entry in
                guard limit > 0, shown == limit else {
                    shown += 1
                    return printer.show(entry, log: log)
                }
                more += 1
                return more < Self.countLimit
            }
            try printer.finish()
            if shown == 0 { StandardError.print("privyseal: No entry matches.") }
            if more > 0 {
                StandardError.print(
                    "privyseal: \(more < Self.countLimit ? "\(more)" : "\(Self.countLimit) or") more match; --limit 0 shows all, --count counts them."
                )
            }
            return result
        }

        /// The most unprinted entries that are counted; counting all takes as long as printing them.
        private static let countLimit = 10_000
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print one entry in full.",
            discussion: """
                  privyseal audit show 41234 --config gateway.yaml

                --raw prints only the canonical bytes, without a line end. The tree's leaf is the SHA-256 of a zero \
                byte and these bytes.
                """)

        @Argument(help: ArgumentHelp("The entry's index, from 0.", valueName: "index"))
        var index: Int

        @OptionGroup var log: AuditLogOption
        @OptionGroup var output: OutputOption

        @Flag(help: "Print only the canonical bytes.")
        var raw = false

        func run() throws {
            let reader = try log.open().reader
            guard let entry = try reader.entry(at: index) else { throw CommandError(try absence(from: reader)) }
            let standard = AuditOutput.standard
            if raw {
                standard.write(entry.body)
            } else {
                let line = output.format == .json ? EntryJSON.indexed(entry) : Array(EntryDetail.text(entry).utf8)
                standard.write(line + "\n".utf8)
            }
            try standard.finish()
        }

        private func absence(from reader: any AuditReader) throws(AuditStoreError) -> String {
            let (first, end) = (try reader.firstIndex(), try reader.storedEnd())
            if first < end, (0..<first).contains(index) {
                return "Entry \(index) was archived; the log holds \(first) to \(end - 1)."
            }
            guard !(first..<max(first, end)).contains(index) else {
                return "Entry \(index) is missing, although later ones exist: run privyseal audit verify."
            }
            return end > first
                ? "There is no entry \(index); the log holds \(first) to \(end - 1)." : "The log holds no entries."
        }
    }
}

/// Prints entries to standard output, one per line.
private struct EntryPrinter {
    let format: OutputOption.Format
    private let output = AuditOutput.standard

    /// False after a write error.
    var isWell: Bool { output.failure == nil }
    /// The entries that `show` had to print and the log lacks.
    private(set) var missing: MissingEntries?

    /// - Parameter log: the name of the log; nil if there is only one.
    /// - Returns: whether to continue.
    func show(_ entry: StoredEntry, log: String? = nil) -> Bool {
        switch format {
        case .text:
            let name = log.map { PlainText.of($0) + "  " } ?? ""
            output.write(Array((name + EntryLine.text(entry)).utf8))
        case .json: output.write(EntryJSON.indexed(entry, log: log))
        }
        return output.write([UInt8(ascii: "\n")])
    }

    mutating func show(_ reader: any AuditReader, _ range: Range<Int>) throws(AuditStoreError) {
        var rest = range
        try reader.entries(in: range) { (entry) throws(AuditStoreError) in
            // In a damaged database, entries may be in any order.
            if rest.contains(entry.index) {
                missing.add(rest.lowerBound..<entry.index)
                rest = entry.index + 1..<rest.upperBound
            }
            return show(entry)
        }
        if isWell { missing.add(rest) }
        output.flush()
    }

    func finish() throws { try output.finish() }
}
