"""What a package is made of: pinned sources, and a bill of materials that names them with their licences."""

import json
import re
import shutil
import subprocess

from conftest import BINARY, ROOT


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
    assert document["dependencies"] == [{"ref": document["metadata"]["component"]["bom-ref"], "dependsOn": references}]
    assert len(set(references)) == len(references)


def test_the_same_program_has_the_same_bill_of_materials():
    assert bill().stdout == bill().stdout


def test_a_package_without_a_known_licence_stops_the_bill_of_materials(tmp_path):
    for pin in resolved()["pins"]:
        name = pin["location"].removesuffix(".git").rpartition("/")[2]
        (tmp_path / name).mkdir()
        for file in (ROOT / ".build" / "checkouts" / name).glob("LICENSE*"):
            shutil.copy(file, tmp_path / name)
    for file in (tmp_path / "Yams").iterdir():
        file.write_text("All rights reserved.")
    ended = bill(checkouts=tmp_path)
    assert ended.returncode != 0
    assert "Yams has no licence file that is known here" in ended.stderr


def resolved():
    return json.loads((ROOT / "Package.resolved").read_text())


def test_every_package_that_is_linked_in_is_pinned_to_the_version_that_is_resolved():
    manifest = (ROOT / "Package.swift").read_text()
    pinned = dict(re.findall(r'\.package\(url: "([^"]+?)(?:\.git)?", exact: "([^"]+)"', manifest))
    assert manifest.count(".package(url:") == len(pinned)
    versions = {pin["location"].removesuffix(".git"): pin["state"]["version"] for pin in resolved()["pins"]}
    assert pinned.items() <= versions.items()
    # These two are for Apple's platforms, or for a product that is not used.
    unused = {"swift-http-structured-headers", "swift-nio-transport-services"}
    assert {each.rpartition("/")[2] for each in versions.keys() - pinned.keys()} == unused


def test_the_base_images_of_the_container_are_named_by_digest():
    text = (ROOT / "Dockerfile").read_text()
    images = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert len(images) == 2
    for image in images:
        variable = re.search(r"@\$\{(\w+)\}$", image)
        assert variable and f"ARG {variable[1]}\n" in text
