/// The text of a configuration file, checked so that the YAML reader sees in it what a person sees.
struct YAMLSource {
    /// With line feeds as the only line breaks, and without a byte order mark.
    let text: String

    /// Nil, with at least one fault in `findings`, if the bytes are not such a text.
    init?(_ bytes: [UInt8], _ file: ConfigurationOrigin, _ findings: Findings) {
        guard let decoded = Self.decode(bytes, file, findings) else { return nil }
        text = decoded
        let before = findings.faults.count
        for (index, line) in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            Self.check(line, file.at(line: index + 1, column: 1), findings)
        }
        guard findings.faults.count == before else { return nil }
    }

    private static func decode(_ bytes: [UInt8], _ file: ConfigurationOrigin, _ findings: Findings) -> String? {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            let line = bytes[..<error.byteOffsets.lowerBound].count { $0 == UInt8(ascii: "\n") } + 1
            findings.fault("is not UTF-8; save the file in that encoding", at: file.at(line: line, column: 1))
            return nil
        }
        let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        var scalars = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in String(decoding: bytes.dropFirst(hasMark ? 3 : 0), as: UTF8.self).unicodeScalars {
            if scalar == "\r" {
                scalars.append("\n")
            } else if scalar != "\n" || previous != "\r" {
                scalars.append(scalar)
            }
            previous = scalar
        }
        return String(scalars)
    }

    private static func check(_ line: Substring.UnicodeScalarView, _ origin: ConfigurationOrigin, _ findings: Findings)
    {
        let indentation = line.prefix { $0 == " " || $0 == "\t" }
        if indentation.contains("\t"), let first = line.dropFirst(indentation.count).first, first != "#" {
            findings.fault("is indented with a tab; YAML allows only spaces", at: origin)
        }
        for (index, scalar) in line.enumerated() {
            // Invisible, or a line break in YAML 1.1 only (U+0085, U+2028, U+2029).
            let isHidden =
                scalar.properties.generalCategory == .control && scalar != "\t"
                || scalar == "\u{2028}" || scalar == "\u{2029}" || scalar == "\u{FEFF}"
            guard isHidden else { continue }
            let code = String(scalar.value, radix: 16, uppercase: true)
            let name = "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
            findings.fault(
                "holds the character \(name) in column \(index + 1); remove it",
                at: origin.at(line: origin.line ?? 1, column: index + 1))
            return
        }
    }
}
