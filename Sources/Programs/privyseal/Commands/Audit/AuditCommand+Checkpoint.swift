import ArgumentParser
import AuditKit
import TransparencyLog

extension AuditCommand {
    struct ShowCheckpoint: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "checkpoint",
            abstract: "Print the newest signed checkpoint, to store it in another place.",
            discussion: """
                  privyseal audit checkpoint --config gateway.yaml > checkpoint-$(date +%F)

                A checkpoint is a signed note: the log's name, how many entries it has, the root of the tree over \
                them, and signatures (C2SP tlog-checkpoint). --all prints the checkpoints in the log by size, each \
                followed by an empty line, as --checkpoints reads them.
                """)

        @OptionGroup var log: AuditLogOption

        @Flag(help: "Print all checkpoints in the log, and the newest.")
        var all = false

        func run() throws {
            let reader = try log.open().reader
            guard let head = try reader.head() else {
                throw StandardError.failure("The log holds no entries, and so no checkpoint.")
            }
            let output = AuditOutput.standard
            if all {
                let kept = try reader.checkpoints()
                for checkpoint in kept where checkpoint.size < head.size {
                    output.write(try note(checkpoint) + "\n".utf8)
                }
                // A kept checkpoint may have a cosigner's signature; the head never has one.
                let last = kept.last { $0.size == head.size } ?? head
                output.write(try note(last) + "\n".utf8)
            } else {
                output.write(try note(head))
            }
            try output.finish()
        }

        /// The checkpoint as stored. Bytes that are not a checkpoint are not printed to a terminal.
        private func note(_ head: SignedTreeHead) throws -> [UInt8] {
            do throws(NoteError) {
                return Array(try SignedNote(parsing: head.note).description.utf8)
            } catch {
                throw StandardError.failure(
                    "The checkpoint over \(head.size) entries is invalid: \(error) Run privyseal audit verify.")
            }
        }
    }
}
