"""Every code block of the documentation: Swift compiles or is in the sources, commands and their options exist,
configurations are valid, JSON is valid."""

import json
import pathlib
import re
import shlex
import sqlite3
import subprocess

import pytest
import yaml
from conftest import BINARY, ISSUER_ID, ROOT

# Decisions and the change log are not updated, so they may show what no longer exists.
HISTORY = ("docs/adr/", "CHANGELOG.md")
MODULES = pathlib.Path(BINARY).resolve().parent / "Modules"


class Block:
    def __init__(self, file, line, language, text):
        self.place, self.language, self.text = f"{file}:{line}", language, text


def blocks():
    listed = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    for file in filter(None, listed.stdout.split("\0")):
        if file.startswith(HISTORY):
            continue
        text = (ROOT / file).read_text()
        for match in re.finditer(r"^( *)```(\w*)\n(.*?)^\1```$", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, match.start()) + 1
            yield Block(file, line, match[2], re.sub("^" + match[1], "", match[3], flags=re.MULTILINE))


BLOCKS = list(blocks())


def of(*languages):
    """For parametrize: the blocks of these languages, identified by file and line."""
    chosen = [block for block in BLOCKS if block.language in languages]
    return pytest.mark.parametrize("block", chosen, ids=[block.place for block in chosen])


def test_every_code_block_has_a_known_language():
    known = {"bash", "console", "go", "ini", "java", "js", "json", "php", "python", "sh", "sql", "swift", "text", "yaml", ""}
    assert {block.language for block in BLOCKS} <= known
    assert len(BLOCKS) > 100


# Swift


@of("swift")
def test_swift_blocks_compile_or_appear_in_the_sources(block, tmp_path, sources):
    if is_program(block):
        compile_program(block.text, tmp_path)
        return
    for statement in filter(None, map(squeezed, re.split(r"[\n;{}]", uncommented(block.text)))):
        assert statement.rstrip(",") in sources, statement


def is_program(block):
    return block.text.startswith("import ") and "…" not in block.text


def uncommented(text):
    return re.sub(r"//.*", "", text)


def squeezed(text):
    return re.sub(r"[\s…]+|\bpublic ", "", text)


@pytest.fixture(scope="module")
def sources():
    files = [file for folder in ("Sources", "Plugins", "Tests", "docs/example-plugin") for file in (ROOT / folder).rglob("*.swift")]
    programs = [block.text for block in BLOCKS if block.language == "swift" and is_program(block)]
    return squeezed("".join(map(uncommented, [file.read_text() for file in files] + programs)))


def compile_program(text, directory):
    plugin = sorted((ROOT / "docs/example-plugin/Sources/CloudKitRequest").glob("*.swift"))
    output = directory / "CloudKitRequest.swiftmodule"
    swiftc("-emit-module", "-parse-as-library", "-module-name", "CloudKitRequest", "-emit-module-path", output, *plugin)
    program = directory / "main.swift"
    program.write_text(text)
    swiftc("-typecheck", "-swift-version", "6", "-I", directory, program)


def swiftc(*arguments):
    assert MODULES.is_dir(), f"the modules that {BINARY} was built from are not beside it, in {MODULES}"
    maps = [
        *ROOT.glob("Sources/System/C*/module.modulemap"),
        *ROOT.glob(".build/checkouts/*/Sources/*/include/module.modulemap"),
        *MODULES.parent.glob("*.build/module.modulemap"),
    ]
    flags = subprocess.run(["pkg-config", "--cflags", "p11-kit-1"], capture_output=True, text=True, check=True).stdout.split()
    importing = [f"-fmodule-map-file={path}" for path in maps if "_Example" not in str(path)] + flags
    command = ["swiftc", *arguments, "-I", MODULES, *(word for flag in importing for word in ("-Xcc", flag))]
    ended = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


# Commands


def scripts(block):
    """The commands for a shell: of a transcript, the lines after a prompt and their continuation lines."""
    if block.language in ("sh", "bash"):
        return [block.text]
    if block.language == "console" or re.match(r"[$#] \w", block.text):
        return [match[1] for match in re.finditer(r"^[$#] ((?:.*\\\n)*.*)$", block.text, re.MULTILINE)]
    return [block.text] if re.search(r"^privyseal [a-z]", block.text, re.MULTILINE) else []


@of("sh", "bash", "console", "")
def test_shell_commands_can_be_parsed(block):
    for script in scripts(block):
        ended = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr


@pytest.fixture(scope="module")
def program():
    printed = subprocess.run([BINARY, "--experimental-dump-help"], capture_output=True, check=True).stdout
    return json.loads(printed)["command"]


@of("sh", "bash", "console", "")
def test_every_command_of_privyseal_exists_with_its_options(block, program):
    for script in scripts(block):
        for words in invocations(script):
            command = program
            while words and (found := [each for each in command.get("subcommands", []) if each["commandName"] == words[0]]):
                command, words = found[0], words[1:]
            default = [each for each in command.get("subcommands", []) if each["commandName"] == command.get("defaultSubcommand")]
            if words and default and not words[0].startswith("-"):
                command = default[0]
            assert not command.get("subcommands") or not words or words[0].startswith("-"), f"no command {words[0]}"
            known = {
                ("--" if name["kind"] == "long" else "-") + name["name"]
                for argument in command.get("arguments", [])
                for name in argument.get("names") or []
            }
            for word in words:
                if re.match(r"--?[a-z]", word):
                    assert word.partition("=")[0] in known, f"{command['commandName']} has no option {word}"


def test_the_documentation_has_many_commands():
    """Otherwise the functions above and below find none."""
    assert sum(len(list(invocations(script))) for block in BLOCKS for script in scripts(block)) > 60


def invocations(script):
    """The arguments of each call of `privyseal`."""
    for line in re.sub(r"\\\n", " ", script).splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        lexer.whitespace_split = True
        words = list(lexer)
        for position, word in enumerate(words):
            if word == "privyseal" and "systemctl" not in words and "install" not in words[:position]:
                rest = words[position + 1 :]
                end = next((index for index, each in enumerate(rest) if each[0] in "|&;<>)"), len(rest))
                yield rest[:end]


# Configurations


class Loader(yaml.SafeLoader):
    """Reads a timestamp as a string."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}

BASE = f"""
listeners:
  public: {{address: "127.0.0.1:0"}}
accounts:
  - issuerId: {ISSUER_ID}
    apps: [{{bundleId: com.example.app, features: [promotional-offer]}}]
    keys: [{{keyId: 2X9R4HXF34, uri: "file:/nowhere/AuthKey.p8"}}]
    activeKey: 2X9R4HXF34
clients:
  - name: shop
    tokens: [{{sha256: "{'ab' * 32}"}}]
    allow: [{{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"]}}]
"""


@of("yaml")
def test_check_accepts_each_configuration(block, tmp_path):
    shown = yaml.load(filled(block.text), Loader)
    if "scrape_configs" in shown:
        # A configuration of Prometheus.
        return
    base = yaml.safe_load(BASE)
    if "listen" in shown:
        del base["listeners"]
    if "keys" in shown:
        shown = {"accounts": [{**base["accounts"][0], "keys": shown["keys"]}]}
    if "accounts" in shown:
        shown["accounts"] = [{**base["accounts"][0], **account} for account in shown["accounts"]]
    configuration = tmp_path / "gateway.yaml"
    configuration.write_text(yaml.safe_dump({**base, "audit": {"database": f"{tmp_path}/audit.db"}, **shown}))
    # The keys do not exist on this machine: the status is 1 for a valid configuration, 78 for an invalid one.
    ended = subprocess.run([BINARY, "check", "--config", configuration], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1, ended.stderr


def filled(text):
    """The text with a different value for each "…"."""
    numbers = iter(range(1, 100))
    text = text.replace("issuerId: …", f"issuerId: {ISSUER_ID}")
    return re.sub('"…"', lambda _: f'"{next(numbers):064x}"', text)


# Other languages


@of("json")
def test_json_blocks_are_valid_json(block):
    try:
        json.loads(block.text)
    except json.JSONDecodeError:
        # Several JSON values, on separate lines or in sequence.
        decoder, rest = json.JSONDecoder(), block.text.strip()
        while rest:
            _, end = decoder.raw_decode(rest)
            rest = rest[end:].strip()


@of("sql")
def test_sqlite_executes_the_sql_blocks(block):
    sqlite3.connect(":memory:").executescript(block.text)


@of("ini")
def test_systemd_units_have_only_sections_and_assignments(block):
    for line in block.text.splitlines():
        assert not line or re.match(r"#|\[\w+\]$|\w+=", line), line
