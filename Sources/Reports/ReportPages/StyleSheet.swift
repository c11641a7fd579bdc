/// The style of the pages: dark text on white, and lines instead of areas, so that copies and faxes stay legible.
enum StyleSheet {
    static let css: HTML = """
        :root { --ink: #16191d; --soft: #555d66; --line: #c9ced4; --faint: #f4f5f7; --pass: #17633a; --fail: #a11b16;
          --doubt: #7a4d00; --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace }
        * { box-sizing: border-box }
        html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
        body { margin: 0; background: #fff; color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI",
          "Noto Sans", "Liberation Sans", "DejaVu Sans", Helvetica, Arial, sans-serif; font-variant-numeric: tabular-nums }
        main { max-width: 66rem; margin: 0 auto; padding: 2.5rem 1.5rem 3rem }
        p { margin: 0 0 .75rem; max-width: 46rem }
        h1, h2, h3 { line-height: 1.25; font-weight: 650; margin: 0; overflow-wrap: anywhere }
        h1 { font-size: 1.9rem; letter-spacing: -.01em }
        h2 { font-size: 1.3rem; margin: 2.5rem 0 .9rem; padding-top: .8rem; border-top: 2px solid var(--ink) }
        h3 { font-size: 1.05rem; margin: 1.6rem 0 .5rem }
        h2, h3, .heading { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: baseline;
          justify-content: space-between }
        code { font-family: var(--mono); font-size: .86em; overflow-wrap: anywhere }
        pre { font: .82em/1.45 var(--mono); margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
        small { display: block; font-size: .82em; color: var(--soft); line-height: 1.4 }
        .kind { margin: 0 0 .5rem; color: var(--soft) }
        .kind span { color: var(--ink); font-weight: 650; margin-right: .5rem }
        .verdict { margin: 0 }
        .verdict .mark { font-size: 1.1rem; padding: .2em .7em .2em .5em }
        .subject { font-size: 1.08rem; color: var(--soft); margin: .5rem 0 1.4rem }
        dl { margin: 0 0 1.2rem; border-top: 1px solid var(--line) }
        dl div { display: grid; grid-template-columns: 12rem minmax(0, 1fr); gap: 0 1rem; padding: .34rem 0;
          border-bottom: 1px solid var(--line); break-inside: avoid }
        dt { color: var(--soft) }
        dd { margin: 0; overflow-wrap: anywhere }
        @media (min-width: 52rem) { dl.wide { columns: 2; column-gap: 2.5rem }
          dl.wide div { grid-template-columns: 9.5rem minmax(0, 1fr) } }
        table { width: 100%; border-collapse: collapse; margin: 0 0 1.3rem; font-size: .92rem }
        th, td { text-align: left; vertical-align: top; padding: .42rem .8rem .42rem 0; border-bottom: 1px solid var(--line);
          overflow-wrap: anywhere }
        th:last-child, td:last-child { padding-right: 0 }
        th { font-weight: 600; color: var(--soft); border-bottom: 1.5px solid var(--ink); vertical-align: bottom;
          overflow-wrap: normal }
        td.number, th.number { text-align: right; white-space: nowrap }
        td.mark, th.mark { white-space: nowrap; width: 1% }
        tr.loud td { background: var(--faint) }
        tr.loud td:first-child { box-shadow: inset 3px 0 var(--fail); padding-left: .6rem }
        .mark svg { width: .85em; height: .85em; margin-right: .4em; vertical-align: -.06em; flex: none }
        .stroke { fill: none; stroke: currentColor; stroke-width: 2.4; stroke-linecap: round; stroke-linejoin: round }
        span.mark { display: inline-block; white-space: nowrap; font-size: .86rem; font-weight: 600; line-height: 1.35;
          padding: .08em .55em .08em .4em; border: 1.5px solid; border-radius: .3em; print-color-adjust: exact;
          -webkit-print-color-adjust: exact }
        .verdict span.mark { white-space: normal }
        span.pass { color: var(--pass) }
        span.fail { color: #fff; background: var(--fail); border-color: var(--fail) }
        span.unavailable { color: var(--doubt); border-style: dashed }
        span.notApplicable { color: var(--soft); border-color: transparent; font-weight: 400 }
        .note { border-left: 4px solid var(--ink); background: var(--faint); padding: .7rem 1rem; margin: 0 0 1.2rem;
          max-width: none; break-inside: avoid }
        ul { margin: 0 0 1.2rem; padding-left: 1.4rem }
        li { margin-bottom: .25rem; overflow-wrap: anywhere; break-inside: avoid }
        figure { margin: 0 0 1.3rem; break-inside: avoid }
        figure .scroll { overflow-x: auto }
        figure svg { display: block; width: 100%; min-width: 46rem; height: auto }
        figcaption { color: var(--soft); font-size: .92rem; margin-top: .4rem }
        svg text { font: 12px system-ui, -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", "DejaVu Sans",
          Helvetica, Arial, sans-serif; fill: var(--ink) }
        svg text.soft { fill: var(--soft) }
        .signatures { break-inside: avoid; margin-top: 1.2rem }
        .boxes { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 1.2rem }
        .box { border: 1px solid var(--ink); padding: .8rem 1rem 1rem }
        .role { font-weight: 650; margin: 0 0 .4rem }
        .line { display: flex; align-items: flex-end; gap: .8rem; min-height: 2.2rem; margin: 0; max-width: none;
          border-bottom: 1px solid var(--soft) }
        .line span { color: var(--soft); font-size: .85rem; min-width: 4.6rem }
        .line.tall { min-height: 4.2rem }
        footer { margin-top: 2.5rem; padding-top: .8rem; border-top: 1px solid var(--line); font-size: .86rem;
          color: var(--soft) }
        @media screen and (max-width: 40rem) {
          main { padding: 1.2rem 1rem 2rem }
          h1 { font-size: 1.5rem }
          dl div { grid-template-columns: minmax(0, 1fr) }
          table, tbody, tr, td { display: block; width: auto !important }
          thead, colgroup { display: none }
          tr { border-bottom: 1px solid var(--line); padding: .5rem 0 }
          td, td.number, td.mark { display: grid; grid-template-columns: 7rem minmax(0, 1fr); gap: 0 .8rem; border: 0;
            padding: .15rem 0; text-align: left; white-space: normal; width: auto }
          td:empty { display: none }
          td::before { content: attr(data-name); color: var(--soft) }
          td > * { justify-self: start; grid-column: 2 }
          tr.loud { box-shadow: inset 3px 0 var(--fail); padding-left: .7rem; background: var(--faint) }
          tr.loud td:first-child { box-shadow: none; padding-left: 0 }
        }
        @media print {
          html { font-size: 12px }
          body { font-size: 9.5pt; line-height: 1.4 }
          main { max-width: none; padding: 0 }
          h1 { font-size: 18pt }
          h2 { font-size: 13pt; margin-top: 16pt }
          h3 { font-size: 10.5pt }
          h1, h2, h3 { break-after: avoid }
          p, li { orphans: 3; widows: 3 }
          section.sheet { break-before: page }
          section.sheet > h2:first-child { margin-top: 0; border-top: 0; padding-top: 0 }
          table { font-size: 8.6pt }
          thead { display: table-header-group }
          tr { break-inside: avoid }
          span.mark { font-size: 8pt }
          .verdict .mark { font-size: 11pt }
          figure svg { min-width: 0 }
          .note, tr.loud td { background: none }
          .note { border: 1px solid var(--ink); border-left-width: 4px }
        }
        @page { margin: 18mm 15mm 17mm;
          @top-left { font: 8pt sans-serif; color: #555d66 } @top-right { font: 8pt sans-serif; color: #555d66 }
          @bottom-left { font: 8pt sans-serif; color: #555d66 } @bottom-right { font: 8pt sans-serif; color: #555d66 } }

        """
}
