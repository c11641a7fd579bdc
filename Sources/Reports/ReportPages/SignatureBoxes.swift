/// Boxes for signatures on paper, side by side.
public struct SignatureBoxes: PagePart {
    public struct Signatory: Sendable {
        public var role: String
        /// Nil leaves space to write the name.
        public var name: String?

        public init(role: String, name: String? = nil) {
            self.role = role
            self.name = name
        }
    }

    public var statement: String
    public var signatories: [Signatory]

    public init(statement: String, _ signatories: [Signatory]) {
        self.statement = statement
        self.signatories = signatories
    }

    public var html: HTML {
        let boxes = HTML(
            signatories.map { signatory in
                """
                <div class="box"><p class="role">\(signatory.role)</p>
                <p class="line"><span>Name</span>\(signatory.name ?? "")</p>
                <p class="line"><span>Date</span></p>
                <p class="line tall"><span>Signature</span></p></div>

                """
            })
        return "<div class=\"signatures\"><p>\(statement)</p>\n<div class=\"boxes\">\n\(boxes)</div></div>\n"
    }
}
