#!/usr/bin/env python3
"""Checks what PrivySeal's audit log says, without PrivySeal. Described in docs/audit-format.md.

check.py inclusion PROOF VKEYFILE     an entry is in the log
check.py consistency PROOF VKEYFILE   an older log is the beginning of a newer one
check.py note FILE VKEYFILE           a checkpoint was signed by the log

VKEYFILE holds verifier keys, one in a line. The log's own must be among them. With the keys of witnesses, the answer
names those that cosigned. Needs the package `cryptography`.
"""
import base64
import hashlib
import sys
from datetime import datetime, timezone

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key


WITNESS = 4  # the type of a witness's key: Ed25519, for cosignatures


class Refused(Exception):
    pass


def require(holds, sentence):
    if not holds:
        raise Refused(sentence)


def decode(text):
    data = base64.b64decode(text, validate=True)
    require(base64.b64encode(data).decode() == text, "not the Base64 that an encoder writes")
    return data


def number(text):
    require(text.isascii() and text.isdigit() and str(int(text)) == text, f"not a decimal number: {text}")
    return int(text)


def leaf_hash(entry):
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def read_keys(path):
    """Verifier keys: {(name, key ID): (type, public key)}."""
    keys = {}
    for line in open(path, encoding="utf-8").read().split():
        name, key_id, data = line.split("+", 2)
        kind, material = decode(data)[0], decode(data)[1:]
        if kind in (1, WITNESS):
            hashed = name.encode() + b"\n" + bytes([kind]) + material
            key = ed25519.Ed25519PublicKey.from_public_bytes(material)
        else:  # ECDSA with P-256
            require(kind == 2, f"a key of type {kind} cannot be used")
            hashed, key = material, load_der_public_key(material)
        require(hashlib.sha256(hashed).hexdigest()[:8] == key_id, f"the key ID of {name} is not that of its key")
        keys[name, bytes.fromhex(key_id)] = kind, key
    return keys


def check_note(note, keys):
    """Verifies the signatures by known keys. Gives the checkpoint: origin, size, root, and who cosigned when."""
    text, signatures = note.rsplit("\n\n", 1)
    text += "\n"
    signers, witnesses = set(), []
    for line in signatures.removesuffix("\n").split("\n"):
        dash, name, data = line.split(" ")
        key_id, signature = decode(data)[:4], decode(data)[4:]
        kind, key = keys.get((name, key_id), (None, None))
        if dash != "\u2014" or key is None:
            continue  # of a key that we do not know
        try:
            if kind == WITNESS:
                seconds, signature = int.from_bytes(signature[:8], "big"), signature[8:]
                key.verify(signature, f"cosignature/v1\ntime {seconds}\n{text}".encode())
                witnesses.append(f"{name} at {datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%SZ}")
            else:
                key.verify(signature, text.encode(), *([ec.ECDSA(SHA256())] if kind == 2 else []))
                signers.add(name)
        except InvalidSignature:
            raise Refused(f"the signature by {name} is wrong") from None
    origin, size, root = text.split("\n")[:3]
    require(origin in signers, f"the key of {origin} did not sign, or is not known")
    require(len(decode(root)) == 32, "the root has not 32 bytes")
    return origin, number(size), decode(root), f" Cosigned by {', '.join(witnesses)}." if witnesses else ""


def check_inclusion(proof, keys):
    """A C2SP tlog-proof with the entry in its line `extra`. The walk is that of RFC 9162, 2.1.3.2."""
    head, note = proof.split("\n\n", 1)
    title, extra, index, *hashes = head.split("\n")
    require(title == "c2sp.org/tlog-proof@v1" and extra.startswith("extra ") and index.startswith("index "),
            "this is not a proof with an entry")
    origin, size, root, cosigned = check_note(note, keys)
    entry, index = decode(extra[6:]), number(index[6:])
    require(index < size, f"entry {index} is not among {size}")
    value, node, last = leaf_hash(entry), index, size - 1
    for sibling in map(decode, hashes):
        require(last > 0, "the path is too long")
        if node % 2 == 1 or node == last:
            value = node_hash(sibling, value)
            while node % 2 == 0 and node > 0:
                node, last = node // 2, last // 2
        else:
            value = node_hash(value, sibling)
        node, last = node // 2, last // 2
    require(last == 0 and value == root, "the entry does not lead to the checkpoint's root")
    return f"Entry {index} is in the log {origin} of {size} entries: {entry.decode()}{cosigned}"


def check_consistency(proof, keys):
    """The walk is that of RFC 9162, 2.1.4.2."""
    head, *notes = proof.split("\n\n")
    title, *hashes = head.split("\n")
    require(title == "privyseal/consistency-proof@v1" and len(notes) == 4, "this is not a consistency proof")
    origin, old, old_root, _ = check_note(notes[0] + "\n\n" + notes[1], keys)
    other, new, new_root, cosigned = check_note(notes[2] + "\n\n" + notes[3], keys)
    require(origin == other, "the checkpoints are of two logs")
    require(old <= new, "the old checkpoint is the larger one")
    path, node, last = list(map(decode, hashes)), old - 1, new - 1
    if old == new or old == 0:
        require(not path and old_root == (new_root if old == new else hashlib.sha256().digest()),
                "the roots do not fit")
        return f"The log {origin} of {new} entries begins with that of {old}.{cosigned}"
    while node % 2 == 1:
        node, last = node // 2, last // 2
    if node == 0:  # the old tree is perfect: its root is not repeated in the proof
        path.insert(0, old_root)
    require(path, "the path is too short")
    old_value = new_value = path[0]
    for value in path[1:]:
        require(last > 0, "the path is too long")
        if node % 2 == 1 or node == last:
            old_value, new_value = node_hash(value, old_value), node_hash(value, new_value)
            while node % 2 == 0 and node > 0:
                node, last = node // 2, last // 2
        else:
            new_value = node_hash(new_value, value)
        node, last = node // 2, last // 2
    require(last == 0 and old_value == old_root and new_value == new_root, "the hashes do not lead to both roots")
    return f"The log {origin} of {new} entries begins with that of {old}.{cosigned}"


def check_checkpoint(note, keys):
    origin, size, root, cosigned = check_note(note, keys)
    return f"The log {origin} signed for {size} entries with the root {root.hex()}.{cosigned}"


CHECKS = {"inclusion": check_inclusion, "consistency": check_consistency, "note": check_checkpoint}


def main(arguments):
    if len(arguments) != 3 or arguments[0] not in CHECKS:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        with open(arguments[1], encoding="utf-8", newline="") as file:
            print(CHECKS[arguments[0]](file.read(), read_keys(arguments[2])))
        return 0
    except Refused as reason:
        print(f"Refused: {reason}.")
    except (ValueError, IndexError, OSError, OverflowError) as error:
        print(f"Refused: it has not the right form, or cannot be read ({error}).")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
