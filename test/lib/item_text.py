"""item_text.py -- a second implementation of the formats of src/format/, for tests to compare with.

Items are those of boto3's client: {"pk": {"S": "a"}}. Run as a program it writes random items, one
a line, as DynamoDB JSON, Ion and plain JSON with tabs between; test/unit/format/items.txt is
    python3 test/lib/item_text.py 4711 300 > test/unit/format/items.txt
"""

import base64
import decimal
import json
import random
import re
import sys

CONTEXT = decimal.Context(prec=38, Emin=-200, Emax=200)
# What an attribute may hold at most: 32 levels, of which a scalar is one.
DEPTH_MAX = 32

# --- Writing ---


def number_digits(text):
    """Sign, digits without zeros at the end, and the exponent of the last digit."""
    sign, digits, exponent = decimal.Decimal(text).as_tuple()
    digits = "".join(map(str, digits)).lstrip("0")
    if not digits:
        return "", "0", 0
    stripped = digits.rstrip("0")
    return "-" if sign else "", stripped, exponent + len(digits) - len(stripped)


def plain_number(text):
    sign, digits, exponent = number_digits(text)
    if exponent >= 0:
        return sign + digits + "0" * exponent
    if len(digits) > -exponent:
        return f"{sign}{digits[:exponent]}.{digits[exponent:]}"
    return f"{sign}0.{digits.rjust(-exponent, '0')}"


def ion_number(text):
    """As ion-java writes a BigDecimal."""
    sign, digits, exponent = number_digits(text)
    if exponent == 0:
        return f"{sign}{digits}."
    if exponent > 0:
        return f"{sign}{digits}d{exponent}"
    if len(digits) - 1 + exponent < -6:
        return f"{sign}{digits}d{exponent}"
    return plain_number(text)


ION_ESCAPES = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\"}


def ion_quoted(text, quote):
    out = ""
    for character in text:
        code = ord(character)
        if character == quote:
            out += "\\" + quote
        elif code in ION_ESCAPES:
            out += ION_ESCAPES[code]
        elif code < 0x20 or 0x7F <= code < 0xA0:
            out += f"\\x{code:02x}"
        else:
            out += character
    return quote + out + quote


def ion_name(name):
    bare = re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", name) and not re.fullmatch(r"\$[0-9]+", name)
    return name if bare and name not in ("null", "true", "false", "nan") else ion_quoted(name, "'")


def ion_value(value):
    ((kind, content),) = value.items()
    if kind == "S":
        return ion_quoted(content, '"')
    if kind == "N":
        return ion_number(content)
    if kind == "B":
        return "{{" + base64.b64encode(content).decode() + "}}"
    if kind == "BOOL":
        return "true" if content else "false"
    if kind == "NULL":
        return "null"
    if kind == "L":
        return "[" + ",".join(map(ion_value, content)) + "]"
    if kind == "M":
        return ion_item(content)
    members = [ion_value({kind[0]: member}) for member in sorted_set(kind, content)]
    return f"$dynamodb_{kind}::[" + ",".join(members) + "]"


def sorted_set(kind, content):
    order = {"S": str.encode, "N": decimal.Decimal, "B": bytes}[kind[0]]
    return sorted(content, key=order)


def sorted_names(item):
    return sorted(item.items(), key=lambda member: member[0].encode())


def ion_item(item):
    return "{" + ",".join(f"{ion_name(name)}:{ion_value(value)}" for name, value in sorted_names(item)) + "}"


def json_text(text):
    escapes = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
    return '"' + "".join(escapes.get(ord(c), c if ord(c) >= 0x20 else f"\\u{ord(c):04x}") for c in text) + '"'


def scalar_text(kind, content):
    if kind == "N":
        return plain_number(content)
    return base64.b64encode(content).decode() if kind == "B" else content


def json_value(value):
    ((kind, content),) = value.items()
    if kind in ("BOOL", "NULL"):
        body = "true" if content else "false"
    elif kind == "L":
        body = "[" + ",".join(map(json_value, content)) + "]"
    elif kind == "M":
        body = json_item(content)
    elif kind in ("SS", "NS", "BS"):
        body = "[" + ",".join(json_text(scalar_text(kind[0], m)) for m in sorted_set(kind, content)) + "]"
    else:
        body = json_text(scalar_text(kind, content))
    return f'{{"{kind}":{body}}}'


def json_item(item):
    return "{" + ",".join(f"{json_text(name)}:{json_value(value)}" for name, value in sorted_names(item)) + "}"


def plain_value(value):
    ((kind, content),) = value.items()
    if kind == "N":
        return plain_number(content)
    if kind == "BOOL":
        return "true" if content else "false"
    if kind == "NULL":
        return "null"
    if kind == "L":
        return "[" + ",".join(map(plain_value, content)) + "]"
    if kind == "M":
        return plain_item(content)
    if kind in ("SS", "NS", "BS"):
        return "[" + ",".join(plain_value({kind[0]: m}) for m in sorted_set(kind, content)) + "]"
    return json_text(scalar_text(kind, content))


def plain_item(item):
    return "{" + ",".join(f"{json_text(name)}:{plain_value(value)}" for name, value in sorted_names(item)) + "}"


def ion_line(item):
    return "$ion_1_0 {Item:" + ion_item(item) + "}"


def json_line(item):
    return '{"Item":' + json_item(item) + "}"


def csv_field(text):
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]|^ | $', text) else text


# --- Reading: DynamoDB JSON as boto3 would show it ---


def read_json_value(value):
    ((kind, content),) = value.items()
    if kind == "B":
        content = base64.b64decode(content)
    elif kind == "BS":
        content = [base64.b64decode(member) for member in content]
    elif kind == "L":
        content = [read_json_value(element) for element in content]
    elif kind == "M":
        content = read_json_item(content)
    return {kind: content}


def read_json_item(item):
    return {name: read_json_value(value) for name, value in item.items()}


def read_json_line(line):
    return read_json_item(json.loads(line)["Item"])


# --- Random items ---


def random_number(rng):
    digits = rng.choice([1, 2, 5, 17, 38])
    coefficient = rng.randrange(10**digits)
    exponent = rng.choice([0, 0, 0, 1, 3, -1, -2, -7, -12, rng.randrange(-130, 126 - digits)])
    number = decimal.Decimal(coefficient).scaleb(exponent, CONTEXT)
    if number and not -130 <= number.adjusted() <= 125:
        number = decimal.Decimal(coefficient)
    return plain_number(str(-number if rng.random() < 0.3 else number))


def random_text(rng, size_max=12):
    alphabet = [chr(rng.randrange(0x20, 0x7F)), chr(rng.randrange(0, 0x20)), "é", "\x7f", "\x85", "\xa0", "😀", '"', "'", "\\", "/"]
    weights = [60, 3, 4, 1, 1, 1, 2, 3, 3, 3, 3]
    return "".join(rng.choices(alphabet, weights)[0] for _ in range(rng.randrange(size_max)))


def random_binary(rng):
    return rng.randbytes(rng.randrange(9))


def random_set(rng, make):
    return list({make(rng) for _ in range(rng.randrange(1, 5))})


def random_value(rng, depth):
    kinds = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS"] + (["L", "M"] * 2 if depth < DEPTH_MAX else [])
    kind = rng.choice(kinds)
    if kind in ("L", "M"):
        size = rng.randrange(4) if depth < 5 else rng.randrange(2)
        elements = [random_value(rng, depth + 1) for _ in range(size)]
        return {"L": elements} if kind == "L" else {"M": {random_name(rng): element for element in elements}}
    scalar = {
        "S": lambda: random_text(rng),
        "N": lambda: random_number(rng),
        "B": lambda: random_binary(rng),
        "BOOL": lambda: rng.random() < 0.5,
        "NULL": lambda: True,
        "SS": lambda: random_set(rng, random_text),
        "NS": lambda: random_set(rng, random_number),
        "BS": lambda: random_set(rng, random_binary),
    }
    return {kind: scalar[kind]()}


def random_name(rng):
    return rng.choice(["a", "_b", "$c", "$12", "true", "null", "a b", "it's", "é", "名", "1", "x.y", 'q"q']) + rng.choice(["", "", "1", "\t"])


def deep_value(rng, levels):
    value = {"N": random_number(rng)}
    for _ in range(levels - 1):
        value = {"L": [value]} if rng.random() < 0.5 else {"M": {random_name(rng): value}}
    return value


def random_item(rng):
    item = {random_name(rng): random_value(rng, 1) for _ in range(rng.randrange(1, 7))}
    if rng.random() < 0.1:
        item["deep"] = deep_value(rng, DEPTH_MAX)
    return item


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    for _ in range(count):
        item = random_item(rng)
        print(json_line(item), ion_line(item), plain_item(item), sep="\t")


if __name__ == "__main__":
    main()
