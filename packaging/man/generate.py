"""Man pages of a program from its own help: one for the program, one for each subcommand.

    privyseal --experimental-dump-help | generate.py --version 0.1.0 --date 2026-01-31 DIRECTORY

The dump is swift-argument-parser's (`ToolInfoV0`).
"""

import argparse
import json
import pathlib
import re
import sys
import textwrap

# Every command has these options; privyseal(1) explains them once.
COMMON = {"help", "version"}

# Help texts name a file; man pages name a page instead.
PAGES = {"docs/configuration.md": "gateway.yaml(5)"}

FILES = r""".SH FILES
.TP
.I /etc/privyseal/gateway.yaml
The configuration; see
.BR gateway.yaml (5).
.SH ENVIRONMENT
.BR gateway.yaml (5)
lists the variables that take precedence over the file. Under
.BR systemd (1),
CREDENTIALS_DIRECTORY is where
.I pin\-source=credential:NAME
is looked for, and NOTIFY_SOCKET is told about start, reload and stop.
SoftHSM finds its tokens by SOFTHSM2_CONF.
"""


def escape(text):
    """Text as roff takes it literally. A hyphen may be typed into a shell, so it stays a minus."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    for character, name in {"…": "\\&...", "‖": "||"}.items():
        text = text.replace(character, name)
    return guard(text)


def guard(line):
    """A dot at a line's beginning would be a request."""
    return "\\&" + line if line.startswith(".") else line


def filled(text):
    """Running text in lines of a page's source; the formatter breaks them anew."""
    lines = textwrap.wrap(escape(text), 78, break_long_words=False, break_on_hyphens=False)
    return [guard(line) for line in lines]


def prose(text):
    """Paragraphs; what is indented is an example, and keeps its lines."""
    for file, page in PAGES.items():
        text = text.replace(file, page)
    lines, blocks = [], []
    for line in text.strip("\n").split("\n") + [""]:
        kind = "blank" if not line.strip() else "example" if line.startswith("  ") else "text"
        if lines and kind != lines[0][0]:
            blocks.append((lines[0][0], [entry for _, entry in lines]))
            lines = []
        if kind != "blank":
            lines.append((kind, line))
    out = []
    for kind, entries in blocks:
        if kind == "example":
            indent = min(len(entry) - len(entry.lstrip()) for entry in entries)
            out += [*paragraph(out), ".EX", *(escape(entry[indent:]) for entry in entries), ".EE"]
        elif len(entries) == 1 and entries[0].isupper():
            out.append(f".SH {escape(entries[0])}")
        else:
            out += [*paragraph(out), *filled(" ".join(entry.strip() for entry in entries))]
    return out


def paragraph(out):
    """None is begun at the beginning, or under a heading."""
    return [] if not out or out[-1].startswith(".SH") else [".PP"]


def spelled(name):
    return {"long": "--", "short": "-", "longWithSingleDash": "-"}[name["kind"]] + name["name"]


def term(argument):
    """The line that an argument's description hangs on."""
    value = escape(argument.get("valueName", ""))
    if argument["kind"] == "positional":
        return f".I {value}" + (" ..." if argument.get("isRepeating") else "")
    names = [f"\\fB{escape(spelled(name))}\\fR" for name in argument["names"]]
    if argument["kind"] == "option":
        names = [f"{name} \\fI{value}\\fR" for name in names]
    return ", ".join(names)


def description(argument):
    out = filled(argument.get("abstract") or "")
    if argument.get("discussion"):
        out += prose(argument["discussion"])
    if argument.get("allValues"):
        out += filled("One of: " + ", ".join(argument["allValues"]) + ".")
    if argument.get("defaultValue") is not None and argument["kind"] != "flag":
        out += filled(f"Default: {argument['defaultValue']}.")
    return out or ["\\&"]


def synopsis(path, arguments, has_subcommands):
    out = [f".B {escape(' '.join(path))}"]
    for argument in arguments:
        if argument["kind"] == "positional":
            text = f"\\fI{escape(argument['valueName'])}\\fR"
        else:
            text = f"\\fB{escape(spelled(argument['preferredName']))}\\fR"
            if argument["kind"] == "option":
                text += f" \\fI{escape(argument['valueName'])}\\fR"
        if argument.get("isRepeating"):
            text += " ..."
        out.append(f"[{text}]" if argument.get("isOptional") else text)
    if has_subcommands:
        out.append("\\fIsubcommand\\fR")
    return out


def shown(arguments):
    return [argument for argument in arguments or [] if argument.get("shouldDisplay", True)]


def is_common(argument):
    return bool({name["name"] for name in argument.get("names") or []} & COMMON)


def subcommands(command):
    found = [entry for entry in command.get("subcommands") or [] if entry.get("shouldDisplay", True)]
    return [entry for entry in found if entry["commandName"] != "help"]


def page(command, path, options):
    """One page; `path` is how the command is called."""
    name, title = "-".join(path), "-".join(path).upper()
    own = [argument for argument in shown(command.get("arguments")) if len(path) == 1 or not is_common(argument)]
    children = subcommands(command)
    out = [
        '.\\" Made from the program\'s own help by packaging/man/generate.py.',
        f'.TH {escape(title)} 1 "{options.date}" "PrivySeal {options.version}" "PrivySeal"',
        ".SH NAME",
        escape(name) + " \\-",
        *filled((command.get("abstract") or name).rstrip(".")),
        ".SH SYNOPSIS",
        *synopsis(path, [argument for argument in own if not is_common(argument)], bool(children)),
    ]
    if command.get("discussion"):
        out += [".SH DESCRIPTION", *prose(command["discussion"])]
    if children:
        out.append(".SH SUBCOMMANDS")
        for child in children:
            out += [".TP", f".BR {escape('-'.join([*path, child['commandName']]))} (1)", *filled(child["abstract"])]
    if own:
        out.append(".SH ARGUMENTS" if own[0]["kind"] == "positional" else ".SH OPTIONS")
        for argument in own:
            out += [".TP", term(argument), *description(argument)]
    if len(path) == 1:
        out += FILES.rstrip("\n").split("\n")
    others = [] if len(path) == 1 else ["-".join(path[:-1])]
    pages = [f"{escape(other)} (1)" for other in others] + ["gateway.yaml (5)"]
    out.append(".SH SEE ALSO")
    out += [f".BR {entry}{',' if entry != pages[-1] else ''}" for entry in pages]
    return "\n".join(out) + "\n"


def write(command, path, options):
    (options.directory / ("-".join(path) + ".1")).write_text(page(command, path, options), encoding="utf-8")
    for child in subcommands(command):
        write(child, [*path, child["commandName"]], options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--date", required=True, help="of the pages, as 2026-01-31")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    command = json.load(sys.stdin)["command"]
    write(command, [command["commandName"]], options)


main()
