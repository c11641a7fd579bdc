// Calls a creator with Apple's names for a test: one call for each line of standard input, as JSON.

import Foundation

struct Reactivation: Codable {
    struct Info: Codable { var requestReferenceId: String }

    var operation: String
    var version: String
    var requestInfo: Info
    var transactionId: String
}

struct Call: Decodable {
    var feature: String
    var signingKey: String
    var keyId: String
    var issuerId: String
    var bundleId: String
    var texts: [String?]
    var allowed: Bool
    var request: Reactivation?
}

func signature(_ call: Call) async throws -> [String: String] {
    let (key, keyId, issuerId, bundleId) = (call.signingKey, call.keyId, call.issuerId, call.bundleId)
    let texts = call.texts.map { $0 ?? "" }
    switch call.feature {
    case "legacy-promotional-offer":
        let found = try await PromotionalOfferSignatureCreator(privateKey: key, keyId: keyId, bundleId: bundleId)
            .createSignature(productIdentifier: texts[0], subscriptionOfferID: texts[1], appAccountToken: texts[2])
        let nonce = found.nonce.uuidString.lowercased()
        return ["signature": found.signature, "keyId": found.keyId, "nonce": nonce, "timestamp": "\(found.timestamp)"]
    case "promotional-offer":
        let creator = try PromotionalOfferV2SignatureCreator(
            signingKey: key, keyId: keyId, issuerId: issuerId, bundleId: bundleId)
        return [
            "signature": try await creator.createSignature(
                productId: texts[0], offerIdentifier: texts[1], transactionId: call.texts[2])
        ]
    case "introductory-offer-eligibility":
        let creator = try IntroductoryOfferEligibilitySignatureCreator(
            signingKey: key, keyId: keyId, issuerId: issuerId, bundleId: bundleId)
        return [
            "signature": try await creator.createSignature(
                productId: texts[0], allowIntroductoryOffer: call.allowed, transactionId: texts[2])
        ]
    default:
        let creator = try AdvancedCommerceInAppSignatureCreator(
            signingKey: key, keyId: keyId, issuerId: issuerId, bundleId: bundleId)
        return ["signature": try await creator.createSignature(advancedCommerceInAppRequest: call.request)]
    }
}

@main
enum Driver {
    static func main() async throws {
        while let line = readLine() {
            let call = try JSONDecoder().decode(Call.self, from: Data(line.utf8))
            let result: [String: String]
            do {
                result = try await signature(call)
            } catch {
                result = ["error": "\(type(of: error))", "message": "\(error)"]
            }
            FileHandle.standardOutput.write(try JSONEncoder().encode(result) + Data("\n".utf8))
        }
    }
}
