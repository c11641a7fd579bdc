"""The inputs of a package: pinned sources, and a bill of materials that names them with their licences."""

import json
import re
import shutil
import subprocess

from conftest import BINARY, ROOT


# Needed only on Apple's platforms, or by a product that is not used.
UNUSED = {"swift-http-structured-headers", "swift-nio-transport-services"}


def bill(**changes):
    arguments = {
        "program": BINARY,
        "version": "1.2.3",
        "resolved": "Package.resolved",
        "checkouts": ".build/checkouts",
        "libraries": "libc6 (>= 2.36), libssl3 (>= 3.0.0)",
        "epoch": "1700000000",
        **changes,
    }
    command = ["python3", "packaging/sbom.py", *(word for name, value in arguments.items() for word in (f"--{name}", str(value)))]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_the_bill_of_materials_names_every_swift_package_and_debian_library_with_its_licences():
    ended = bill()
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    pins = {pin["location"].removesuffix(".git").rpartition("/")[2]: pin["state"]["version"] for pin in resolved()["pins"]}
    components = {each["name"]: each for each in document["components"]}
    assert {name: components[name]["version"] for name in pins} == pins
    assert set(components) == {*pins, "swift", "libc6", "libssl3"}
    for name, component in components.items():
        assert component["licenses"], name
        assert re.match(rf"pkg:(swift/.*{name}|generic/swift|deb/debian/{name})@", component["purl"])
    assert components["Yams"]["licenses"] == [{"expression": "MIT"}]
    assert components["swift-nio"]["licenses"] == [{"expression": "Apache-2.0"}]
    references = [each["bom-ref"] for each in document["components"]]
    used = [each["bom-ref"] for each in document["components"] if each["name"] not in UNUSED]
    assert document["dependencies"][0] == {"ref": document["metadata"]["component"]["bom-ref"], "dependsOn": used}
    assert {each["name"] for each in document["components"] if each.get("scope") == "excluded"} == UNUSED
    assert components["libc6"]["licenses"] == [{"expression": "LGPL-2.1-or-later AND GPL-2.0-or-later"}]
    references += [part["bom-ref"] for each in document["components"] for part in each.get("components", [])]
    assert len(set(references)) == len(references)


def test_the_bill_of_materials_names_other_projects_inside_packages():
    components = json.loads(bill().stdout)["components"]
    carried = {(each["name"], part["name"]): part for each in components for part in each.get("components", [])}
    assert {"BoringSSL", "libyaml", "llhttp", "zlib", "XKCP", "ICU"} <= {name for _, name in carried}
    for package, target in (("swift-nio-ssl", "CNIOBoringSSL"), ("swift-crypto", "CCryptoBoringSSL")):
        hash_text = (ROOT / ".build" / "checkouts" / package / "Sources" / target / "hash.txt").read_text()
        assert carried[package, "BoringSSL"]["version"] in hash_text
    for part in carried.values():
        assert part["version"] in part["purl"] and part["licenses"], part


def test_unknown_c_code_in_a_package_stops_the_bill_of_materials(tmp_path):
    copied(tmp_path)
    folder = tmp_path / "swift-log" / "Sources" / "CSurprise"
    folder.mkdir(parents=True)
    (folder / "surprise.c").write_text("int surprise;\n")
    ended = bill(checkouts=tmp_path)
    assert ended.returncode != 0
    assert "CSurprise has C that packaging/vendored.py does not know" in ended.stderr


def test_the_same_program_has_the_same_bill_of_materials():
    assert bill().stdout == bill().stdout


def copied(place):
    """Copies the packages' licences, without their sources."""
    for pin in resolved()["pins"]:
        name = pin["location"].removesuffix(".git").rpartition("/")[2]
        (place / name).mkdir()
        for file in (ROOT / ".build" / "checkouts" / name).glob("LICENSE*"):
            shutil.copy(file, place / name)


def test_a_package_without_a_known_licence_stops_the_bill_of_materials(tmp_path):
    copied(tmp_path)
    for file in (tmp_path / "Yams").iterdir():
        file.write_text("All rights reserved.")
    ended = bill(checkouts=tmp_path)
    assert ended.returncode != 0
    assert "Yams has no licence file that is known here" in ended.stderr


def resolved():
    return json.loads((ROOT / "Package.resolved").read_text())


def test_every_linked_package_is_pinned_to_its_resolved_version():
    manifest = (ROOT / "Package.swift").read_text()
    pinned = dict(re.findall(r'\.package\(url: "([^"]+?)(?:\.git)?", exact: "([^"]+)"', manifest))
    assert manifest.count(".package(url:") == len(pinned)
    versions = {pin["location"].removesuffix(".git"): pin["state"]["version"] for pin in resolved()["pins"]}
    assert pinned.items() <= versions.items()
    assert {each.rpartition("/")[2] for each in versions.keys() - pinned.keys()} == UNUSED


def test_the_base_images_of_the_container_are_named_by_digest():
    text = (ROOT / "Dockerfile").read_text()
    images = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert len(images) == 2
    for image in images:
        variable = re.search(r"@\$\{(\w+)\}$", image)
        assert variable and re.search(rf"^ARG {variable[1]}(=sha256:[0-9a-f]{{64}})?$", text, re.MULTILINE)
