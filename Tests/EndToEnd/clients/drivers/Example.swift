// The examples of clients/swift/README.md.

import Foundation

func client() async throws {
    let options = PrivySealClient.Options(
        url: "https://gateway.example.com:8443", tokenFile: "/run/secrets/privyseal-token")
    let client = try PrivySealClient(options)
    do {
        let offer = try await client.offer(
            bundleId: "com.example.app", feature: "promotional-offer",
            fields: ["productId": "com.example.monthly", "offerIdentifier": "winback"])
        print(offer.jws ?? "")
    } catch let problem as PrivySealClient.Problem {
        print(problem.type, problem.field ?? "", problem.detail)
    }

    let token = try await client.appToken(bundleId: "com.example.app")  // App Store Server API
    let push = try await client.serviceToken(name: "push")
    print(token, push)
}

func creators() async throws {
    let creator = try PromotionalOfferV2SignatureCreator(
        signingKey: "", keyId: "2X9R4HXF34", issuerId: "57246542-96fe-1a63-e053-0824d011072a",
        bundleId: "com.example.app")
    let jws = try await creator.createSignature(
        productId: "com.example.monthly", offerIdentifier: "winback", transactionId: "70000123456789")

    let legacy = try PromotionalOfferSignatureCreator(
        privateKey: "", keyId: "2X9R4HXF34", bundleId: "com.example.app")
    let found = try await legacy.createSignature(
        productIdentifier: "com.example.monthly", subscriptionOfferID: "winback", appAccountToken: "")
    print(found.signature, found.keyId, found.nonce, found.timestamp)
    print(jws)
}
