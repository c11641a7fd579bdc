// Calls the client for a test: one call for each line of standard input, as JSON.

import Foundation

/// A JSON value of a call's `fields`.
indirect enum Value: Codable, Sendable {
    case text(String), bool(Bool), integer(Int64), object([String: Value]), list([Value])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let list = try? value.decode([Value].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: Value].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .text(let text): try value.encode(text)
        case .bool(let bool): try value.encode(bool)
        case .integer(let integer): try value.encode(integer)
        case .object(let object): try value.encode(object)
        case .list(let list): try value.encode(list)
        }
    }
}

struct Call: Decodable, Sendable {
    var call: String
    var callers: Int
    var bundleId: String?
    var feature: String?
    var name: String?
    var fields: [String: Value]
}

struct Result: Encodable, Sendable {
    struct Answer: Encodable, Sendable {
        var offer: PrivySealClient.Offer?
        var token: PrivySealClient.Token?

        func encode(to encoder: any Encoder) throws {
            try offer?.encode(to: encoder)
            try token?.encode(to: encoder)
        }
    }

    var answer: Answer?
    var error, message, type, title, detail, field, requestId: String?
    var status: Int?
}

func answer(_ client: PrivySealClient, _ call: Call) async throws -> Result.Answer {
    switch call.call {
    case "offer":
        let bundleId = call.bundleId ?? ""
        let offer = try await client.offer(bundleId: bundleId, feature: call.feature ?? "", fields: call.fields)
        return Result.Answer(offer: offer)
    case "appToken":
        return Result.Answer(token: try await client.appToken(bundleId: call.bundleId ?? ""))
    default:
        return Result.Answer(token: try await client.serviceToken(name: call.name ?? "", fields: call.fields))
    }
}

func result(_ client: PrivySealClient, _ call: Call) async -> Result {
    do {
        return Result(answer: try await answer(client, call))
    } catch let problem as PrivySealClient.Problem {
        return Result(
            error: "problem", message: "\(problem)", type: problem.type, title: problem.title, detail: problem.detail,
            field: problem.field ?? "", requestId: problem.requestId, status: problem.status)
    } catch let error as PrivySealClient.InvalidAnswer {
        return Result(error: "answer", message: "\(error)")
    } catch let error as PrivySealClient.NoAnswer {
        return Result(error: "connection", message: "\(error)")
    } catch {
        return Result(error: "other", message: "\(error)")
    }
}

@main
enum Driver {
    static func main() async throws {
        let arguments = CommandLine.arguments
        var options = PrivySealClient.Options(url: arguments[1], tokenFile: arguments[2])
        options.timeout = Double(arguments[4]) ?? 0
        options.maxWait = Double(arguments[5]) ?? 0
        options.maxAnswerBytes = Int(arguments[6]) ?? 0
        let client = try PrivySealClient(options)
        while let line = readLine() {
            let call = try JSONDecoder().decode(Call.self, from: Data(line.utf8))
            let results = await withTaskGroup(of: Result.self) { group in
                for _ in 0..<call.callers { group.addTask { await result(client, call) } }
                var results: [Result] = []
                for await result in group { results.append(result) }
                return results
            }
            FileHandle.standardOutput.write(try JSONEncoder().encode(results) + Data("\n".utf8))
        }
    }
}
