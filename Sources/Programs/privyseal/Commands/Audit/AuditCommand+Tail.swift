import ArgumentParser
import AuditKit
import Glibc

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
            let printer = EntryPrinter(output.format)
            let size = try reader.head()?.size ?? 0
            let begin = try reader.firstIndex()
            let first = max(begin, size - min(count, size))
            if size - first < min(count, size) { ArchiveNotice.say(begin) }
            var next = max(first, size)
            try printer.show(reader, first..<next)
            while follow, printer.isWell, printer.missing == nil {
                usleep(Self.interval)
                next = try pass(next, reader, printer)
            }
            try printer.finish()
            try AuditAttempt.refuse(printer.missing, reader)
        }

        /// - Returns: the next index.
        private func pass(
            _ next: Int, _ reader: any AuditReader, _ printer: EntryPrinter
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
}
