import Foundation
import Logging
import StrictJSON

/// One line of JSON for each event: `time`, `level`, `logger`, `message`, and what the event carries besides.
struct JSONLogHandler: LogHandler {
    let label: String
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(label: String) {
        self.label = label
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadataProvider?.get() ?? [:]
        all.merge(metadata) { $1 }
        all.merge(event.metadata ?? [:]) { $1 }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("time", Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            writer.member("level", event.level.rawValue)
            writer.member("logger", label)
            writer.member("message", "\(event.message)")
            for (name, value) in all.sorted(by: { $0.key < $1.key }) {
                writer.name(escaping: name)
                writer.string("\(value)")
            }
        }
        StandardError.print(String(decoding: writer.bytes, as: UTF8.self))
    }
}
