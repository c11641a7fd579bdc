import Signing
import SigningKit

enum VerifyHelp {
    static let discussion = """
        The signature is a JWS (\(BuiltIns.features().map(\.descriptor).audiences.joined(separator: ", "))), or the \
        answer of a legacy promotional offer with the fields that were signed, or a token for another service of Apple. "valid" means that the signature \
        verifies with one of the keys and has the form that Apple's documentation requires. Apple's only answer to \
        a bad one is "invalid"; --explain tries the known mistakes, one, two and three at a time, and shows \
        which of them makes the signature verify. Nothing leaves this machine.

        EXAMPLES
          Verify an answer of the gateway with the keys that it publishes:

            curl -s localhost:8080/.well-known/jwks.json > jwks.json
            curl -s localhost:8080/v1/apps/com.example.app/promotional-offer \\
                --oauth2-bearer "$(cat shop.token)" \\
                --json '{"productId":"premium","offerIdentifier":"winter50"}' |
              privyseal verify --key jwks.json

          For a legacy signature, also give the requested values:

            privyseal verify --key jwks.json --app com.example.app \\
              --input answer.json productId=premium offerIdentifier=winter50

          Find out why Apple refuses a token, with the public key of a .p8 file:

            openssl pkey -in AuthKey_2X9R4HXF34.p8 -pubout -out public.pem
            privyseal verify --explain --key 2X9R4HXF34=public.pem --jws eyJ…

          Find out why a service of Apple refuses its token:

            privyseal verify --explain --service apns \\
              --key 2X9R4HXF34=public.pem --jws eyJ…

          For a signature of any other server, give everything as fields:

            privyseal verify --explain --key 2X9R4HXF34=public.pem \\
              --app com.example.app keyIdentifier=2X9R4HXF34 \\
              productId=premium offerIdentifier=winter50 \\
              applicationUsername=alice timestamp=1698148900000 \\
              nonce=20fba8a0-2b80-4a7d-a17f-85c1854727f8 signature=MEQC…

        FIELDS
        \(VerifyFields.help)

        If you know both appAccountToken and applicationUsername, give both: --explain then shows whether the \
        wrong one was signed. For no user, omit both.

        EXIT STATUS
          0   valid
          1   not valid
          64  the command line is wrong, or a file could not be read
          78  the configuration is wrong
        """
}
