import ArgumentParser
import KeyDrills

struct DrillLoadOption: ParsableArguments {
    @Option(help: ArgumentHelp("The number of connections of the load, 1 to 64.", valueName: "count"))
    var connections = 4

    @Option(help: ArgumentHelp("Requests per second of all connections together, 1 to 1000.", valueName: "count"))
    var rate = 40.0

    @Option(help: ArgumentHelp("The total number of requests, 1 to 1000000; then the load ends.", valueName: "count"))
    var requests = 100_000

    func validate() throws {
        guard (1...64).contains(connections) else { throw ValidationError("--connections must be from 1 to 64.") }
        guard (1...1000).contains(rate) else { throw ValidationError("--rate must be from 1 to 1000.") }
        guard (1...1_000_000).contains(requests) else { throw ValidationError("--requests must be from 1 to 1000000.") }
    }

    var settings: LoadSettings { LoadSettings(connections: connections, rate: rate, total: requests) }
}
