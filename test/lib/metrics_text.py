"""Reads a page in Prometheus' text format, and insists on its rules."""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')
ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


class Page:
    def __init__(self):
        self.samples = {}  # name -> {frozenset of labels: value}
        self.types = {}

    def values(self, name, **labels):
        """[(labels, value)] of the samples that have at least these labels."""
        return [
            (dict(key), value)
            for key, value in self.samples.get(name, {}).items()
            if labels.items() <= dict(key).items()
        ]

    def value(self, name, **labels):
        """Of the one sample with exactly these labels; 0 if there is none."""
        return self.samples.get(name, {}).get(frozenset(labels.items()), 0)

    def sum(self, name, **labels):
        return sum(value for _, value in self.values(name, **labels))


def parse_labels(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, text
        assert match[1] not in labels, text
        labels[match[1]] = re.sub(r"\\.", lambda found: ESCAPES[found[0]], match[2])
        at = match.end()
    return labels


def family_of(name, types):
    for suffix in ("_bucket", "_sum", "_count"):
        base = name.removesuffix(suffix)
        if base != name and types.get(base) == "histogram":
            return base
    return name


def parse(text):
    assert text.endswith("\n")
    page, seen, current = Page(), set(), None
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in page.types, f"{name} has two types"
            page.types[name] = kind
            current = name
            seen.add(name)
        elif not line.startswith("#"):
            match = SAMPLE.fullmatch(line)
            assert match, line
            name, labels, value = match[1], parse_labels(match[2] or ""), float(match[3])
            assert family_of(name, page.types) == current, f"{name} is outside its family"
            family = page.samples.setdefault(name, {})
            key = frozenset(labels.items())
            assert key not in family, f"{line} is there twice"
            family[key] = value
    return page
