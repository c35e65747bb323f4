"""Answers of libasterix, an independent implementation.

decode [EDITION]: reads datagrams in hexadecimal, one a line, and prints for each a JSON list with one object
a record, or null where libasterix refuses the datagram.
encode SEED COUNT [EDITION]: makes random records with every item that its specifications have, encodes them
and prints a JSON object with the datagram and its records a line.

With EDITION there is one category, 021 of that edition.

An object has the items' and subitems' names as path and their values in the items' units.
"""

import json
import random
import sys

import asterix.generated as gen
from asterix import base

CATEGORIES = {
    1: gen.Cat_001_1_4,
    2: gen.Cat_002_1_2,
    10: gen.Cat_010_1_1,
    20: gen.Cat_020_1_11,
    21: gen.Cat_021_2_6,
    34: gen.Cat_034_1_29,
    48: gen.Cat_048_1_32,
    62: gen.Cat_062_1_20,
    63: gen.Cat_063_1_6,
    65: gen.Cat_065_1_5,
}
# The editions of category 021 before 2.0 have another profile, which a record does not say.
EARLY = {
    "0.23": gen.Cat_021_0_23,
    "0.24": gen.Cat_021_0_24,
    "0.25": gen.Cat_021_0_25,
    "0.26": gen.Cat_021_0_26,
}
if sys.argv[-1] in EARLY:
    CATEGORIES = {21: EARLY[sys.argv[-1]]}
# Categories whose fields may come in random order as well.
RANDOM_ORDER = (1, 2)
# Where libasterix differs from the published text, and asterix-decoder does not: the resolution of
# I010/202 is 0.25 m/s (2^-4 there, with which the range of the text, 8192 m/s, could not be said),
# and the correlations of I020/500 are in two's complement (unsigned there).
SCALED = {"I010/202/VX": 4.0, "I010/202/VY": 4.0}
TWOS_COMPLEMENT = ("I020/500/DOP/XY", "I020/500/SDP/XY")


def value_of(element):
    bits, raw = element.cv_bit_size, element.as_uint()
    content = getattr(element.cv_rule, "cv_content", None)
    if content is not None and issubclass(content, base.ContentQuantity):
        return content.cv_signedness.convert(bits, raw) * content.cv_lsb
    if content is not None and issubclass(content, base.ContentString):
        if issubclass(content.cv_string_type, base.StringAscii):
            return raw.to_bytes(bits // 8, "big").decode("ascii", "replace").rstrip(" ")
    return raw if bits <= 32 else f"{raw:x}"


def flatten(node, path, out):
    if isinstance(node, base.Element):
        out[path] = value_of(node)
    elif isinstance(node, base.Group):
        for item in node.arg:
            flatten_item(item, path, out)
    elif isinstance(node, base.Extended):
        for item in (item for group in node.arg for item in group if item is not None):
            flatten_item(item, path, out)
    elif isinstance(node, base.Repetitive):
        for index, part in enumerate(node.arg):
            flatten(part, f"{path}/{index}", out)
    elif isinstance(node, base.Compound):
        for name, part in node.arg.items():
            flatten(part.arg.arg, f"{path}/{name}", out)
    elif isinstance(node, base.Explicit):
        out[path] = node.get_bytes().hex()
    elif isinstance(node, base.Bits):
        out[path] = node.to_uinteger()
    else:
        raise TypeError(type(node))


def flatten_item(item, path, out):
    if isinstance(item, base.Spare):
        return
    named = item.arg
    rule = named.arg
    inner = rule.arg if hasattr(rule, "arg") else rule.bs
    flatten(inner, f"{path}/{named.cv_name}", out)


def flatten_record(category, record):
    out = {}
    random_order = [item for rfs in record.items_rfs or [] for item in rfs or []]
    for name, item in [*record.items_regular.items(), *random_order]:
        flatten(item.arg.arg, f"I{category:03d}/{name}", out)
    for path, factor in SCALED.items():
        if path in out:
            out[path] *= factor
    for path in TWOS_COMPLEMENT:
        if path in out and out[path] >= 8192:
            out[path] -= 16384
    return out


def is_track(record):
    return flatten_record(1, record).get("I001/020/TYP") == 1


def parse_records(spec, octets):
    uap = spec.cv_uap
    if not hasattr(uap, "cv_uaps"):
        return uap.parse(octets)
    # Category 001 has a profile of plots and one of tracks: what the record itself says counts.
    records, rest = [], octets
    while len(rest):
        for name in ("plot", "track"):
            parsed = uap.cv_uaps[name].parse(base.ParsingMode.StrictParsing, rest)
            if not isinstance(parsed, ValueError) and is_track(parsed[0]) == (name == "track"):
                break
        else:
            return ValueError("neither a plot nor a track")
        record, rest = parsed
        records.append(record)
    return records


def decode(datagram):
    blocks = base.RawDatablock.parse(base.Bits.from_bytes(datagram))
    if isinstance(blocks, ValueError):
        return None
    records = []
    for block in blocks:
        category = block.get_category()
        if category not in CATEGORIES:
            continue
        parsed = parse_records(CATEGORIES[category], block.get_raw_records())
        if isinstance(parsed, ValueError):
            return None
        records += [flatten_record(category, record) for record in parsed]
    return records


def argument(node, rng):
    """A random argument for the variation class `node`."""
    if issubclass(node, base.Element):
        content = getattr(node.cv_rule, "cv_content", None)
        if content is not None and issubclass(content, base.ContentString):
            if issubclass(content.cv_string_type, base.StringAscii):
                letters = rng.choices(b"ABCXYZ019 ", k=node.cv_bit_size // 8)
                return int.from_bytes(bytes(letters), "big")
        return rng.getrandbits(node.cv_bit_size)
    if issubclass(node, base.Group):
        return tuple(item_argument(entry[0], rng) for entry in node.cv_items_list)
    if issubclass(node, base.Extended):
        groups = node.cv_items_list[: rng.randint(1, len(node.cv_items_list))]
        return tuple(
            tuple(None if entry is None else item_argument(entry[0], rng) for entry in group)
            for group in groups
        )
    if issubclass(node, base.Repetitive):
        return [argument(node.cv_variation, rng) for _ in range(rng.randint(1, 3))]
    if issubclass(node, base.Compound):
        known = [item for item in node.cv_items_list if item is not None]
        chosen = rng.sample(known, rng.randint(1, len(known)))
        return {item.cv_name: named_argument(item, rng) for item in chosen}
    if issubclass(node, base.Explicit):
        return rng.randbytes(rng.randint(1, 12))
    raise TypeError(node)


def item_argument(item, rng):
    return 0 if issubclass(item, base.Spare) else named_argument(item.cv_non_spare, rng)


def named_argument(named, rng):
    rule = named.cv_rule
    return argument(getattr(rule, "cv_variation", None) or rule.cv_default_variation, rng)


def encode(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        category = rng.choice(list(CATEGORIES))
        spec = CATEGORIES[category]
        records = []
        for _ in range(rng.randint(1, 3)):
            kinds = getattr(spec.cv_uap, "cv_uaps", None)
            kind = rng.choice(["plot", "track"])
            record = kinds[kind] if kinds else spec.cv_uap.cv_record
            known = record.cv_items_dict
            chosen = rng.sample(list(known), rng.randint(0, len(known)))
            always = {"010", "020"} if kinds else {"010"}
            arguments = {name: named_argument(known[name], rng) for name in sorted({*always, *chosen})}
            if kinds:
                first, *further = arguments["020"]
                arguments["020"] = ((int(kind == "track"), *first[1:]), *further)
            rfs = []
            if category in RANDOM_ORDER and rng.random() < 0.3:
                moved = [name for name in arguments if name not in always and rng.random() < 0.5]
                rng.shuffle(moved)
                rfs = [[(name, arguments.pop(name)) for name in moved]]
            records.append(record.create(arguments, *rfs))
        datagram = spec.create(records).unparse().to_bytes()
        flat = [flatten_record(category, record) for record in records]
        print(json.dumps({"datagram": datagram.hex(), "records": flat}))


if sys.argv[1] == "decode":
    for line in sys.stdin:
        print(json.dumps(decode(bytes.fromhex(line))))
else:
    encode(int(sys.argv[2]), int(sys.argv[3]))
