/// The findings. `docs/troubleshooting.md` has each.
public enum FindingCode: CaseIterable, Encodable, Sendable {
    // MARK: The signature's text
    case signatureRaw, signatureDER, signatureDERLax, signatureHalvesSwapped, signatureLittleEndian, signatureBase64url,
        signatureUnpadded, signatureStandardBase64, signatureHex, signatureEncodedTwice, signatureWhiteSpace,
        signaturePlusLost, signatureURLEncoded, signatureJSONEscaped, signatureLeadingZero, signatureUnreadable

    // MARK: The digest
    case digestTwice, digestHex, digestBase64, digestSHA1, digestSHA384, digestSHA512, digestMissing

    // MARK: The key
    case keyOther, keyIDInText, keyIDUnchecked, keyIDShape, keyIssuerSwapped, issuerNotUUID

    // MARK: Fields of a legacy signature
    case nonceUpperCase, nonceNotUUID, uuidWithoutDashes, uuidInBraces, accountTokenUpperCase, accountTokenNotUUID,
        userNameLowerCase, userOtherField, userNameHashed, userSeparatorMissing, timestampSeconds,
        timestampAnswerSeconds, timestampRounded, timestampOtherMoment, timestampTimeZone, timestampReferenceDate,
        timestampFraction, timestampGrouped, timestampFiner, timestampDate, timestampNotNumber, fieldOrder,
        productOfferSwapped, fieldMissing, fieldEmpty, fieldUndefined, fieldNull, fieldOptional, fieldCase,
        fieldWhiteSpace, fieldQuoted, fieldURLEncoded, fieldURLDecoded, fieldJSONEscaped, fieldNormalised,
        fieldSeparatorInside, fieldInvisible

    // MARK: Joining the fields
    case separatorMissing, separatorOneMissing, separatorLiteral, separatorOther, separatorTrailing, separatorLeading

    // MARK: The whole text
    case textUTF16, textUTF8Twice, textLatin1, textByteOrderMark, textNewline, textZeroByte, textCase, textBase64,
        textHex, textURLEncoded, textQuoted

    // MARK: Time
    case offerExpired, issuedLongAgo, issuedInFuture

    // MARK: A token's text
    case tokenWhiteSpace, tokenQuoted, tokenPrefix, tokenParts, tokenPartStandardBase64, tokenPartPadded,
        tokenPartUnreadable

    // MARK: A token's signing input
    case signedOtherEncoding, signedPayloadOnly, signedHeaderOnly, signedUnencoded, signedWithoutDot, signedTrailingDot,
        signedPartsSwapped, signedOtherHeader, signedOtherClaims

    // MARK: A token's header
    case headerNotJSON, headerMemberMissing, headerMemberUnknown, headerMemberKind, headerAlg, headerTyp

    // MARK: A token's claims
    case claimsNotJSON, claimMissing, claimUnknown, claimMisspelled, claimExp, claimNull, claimKind, claimEmpty,
        transactionIDNumber, iatFraction, iatMilliseconds, iatFiner, iatText, iatRange, audienceArray, audienceUnknown,
        audienceServerAPI, audienceWrong, appDiffers

    // MARK: A service token
    case familyOther, headerTypUndocumented, memberTwice, claimNotDocumented, claimValue, identifierOther, expText,
        expRange, lifetimeTooLong, tokenExpired, tokenTooOld, choiceInvalid

    // MARK: The claim request
    case requestObject, requestPlain, requestBase64url, requestNotBase64, requestNotJSON, requestEncodedTwice,
        requestIncomplete

    // MARK: No explanation
    case unexplained

    // MARK: Texts

    /// The name of the case in lower-case words with hyphens, such as `signature-raw`. Programs may compare it: it is
    /// stable.
    public var rawValue: String {
        let name = Array("\(self)")
        return name.indices.map { index in
            let followsAcronym = name[index...].dropFirst().first?.isLowercase ?? false
            let beginsWord = index > 0 && name[index].isUppercase && (!name[index - 1].isUppercase || followsAcronym)
            return (beginsWord ? "-" : "") + name[index].lowercased()
        }.joined()
    }

    public func encode(to encoder: any Encoder) throws { try rawValue.encode(to: encoder) }

    /// The remedy, in one or more sentences.
    var cure: String { Self.cures[self] ?? "" }

    /// Each line of cures.txt has codes and their remedy. A test checks that there is one for every code.
    private static let cures: [FindingCode: String] = {
        let codes: [String: FindingCode] = allCases.reduce(into: [:]) { $0[$1.rawValue] = $1 }
        let lines = String(decoding: PackageResources.cures_txt, as: UTF8.self).split(separator: "\n")
        return lines.reduce(into: [:]) { cures, line in
            guard let colon = line.firstRange(of: ": ") else { return }
            for code in line[..<colon.lowerBound].split(separator: ", ").compactMap({ codes[String($0)] }) {
                cures[code] = String(line[colon.upperBound...])
            }
        }
    }()
}
