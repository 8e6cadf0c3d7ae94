"""plots.py -- the plots of a run, as SVG texts: bars and lines, on a scale of powers of ten or a
plain one."""

import dataclasses
import html
import math

FONT = "font-family='system-ui, sans-serif'"
WIDTH = 1200
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP = 80, 20, 76
INK, FAINT = "#24292f", "#d0d7de"
# Told apart also by those who do not tell red from green.
COLOURS = {
    "stator": "#0b5fb5",
    "stator-memory": "#5aa9e6",
    "nginx": "#8c959f",
    "dynoxide": "#d9730d",
    "dynamodb-local": "#e8b339",
    "dynalite": "#7d4e9e",
}
LINE_COLOURS = (COLOURS["stator"], COLOURS["dynoxide"], COLOURS["dynalite"])


def text(x, y, content, size=13, anchor="start", colour=INK, more=""):
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' text-anchor='{anchor}' fill='{colour}' "
        f"{FONT} {more}>{html.escape(content)}</text>"
    )


def line(x1, y1, x2, y2, colour=FAINT):
    return f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{colour}'/>"


def short(value):
    """1234567 as 1.2M; at most three digits."""
    for limit, letter in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            number = value / limit
            digits = f"{number:.0f}" if number >= 10 else f"{number:.1f}".removesuffix(".0")
            return digits + letter
    return f"{value:.0f}" if value >= 10 or value == round(value) else f"{value:.1f}"


@dataclasses.dataclass(frozen=True)
class Scale:
    """Values to heights above the base line."""

    low: float
    high: float
    height: float
    powers: bool  # Of ten, or plain from zero.

    def at(self, value):
        if not self.powers:
            return self.height * value / self.high
        value = max(value, self.low)
        span = math.log10(self.high / self.low)
        return self.height * math.log10(value / self.low) / span

    def ticks(self):
        if not self.powers:
            step = 10 ** math.floor(math.log10(self.high))
            step = step / 5 if self.high / step < 2 else step / 2 if self.high / step < 5 else step
            return [step * number for number in range(int(self.high / step) + 1)]
        first, last = round(math.log10(self.low)), round(math.log10(self.high))
        return [10.0**power for power in range(first, last + 1)]


def scale_of(values, height, powers):
    if not powers:
        return Scale(0, max(values) * 1.1, height, False)
    low = 10.0 ** math.floor(math.log10(min(values)))
    high = 10.0 ** math.ceil(math.log10(max(values) * 1.001))
    return Scale(low, high, height, True)


def frame(title, note, legend, scale, height_below):
    """The parts that all plots have. `legend` is [(label, colour)]."""
    height = MARGIN_TOP + scale.height + height_below
    base = MARGIN_TOP + scale.height
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height:.0f}' role='img'>",
        f"<title>{html.escape(title)}</title>",
        f"<rect width='{WIDTH}' height='{height:.0f}' fill='#ffffff'/>",
        text(MARGIN_LEFT, 24, title, 16, more="font-weight='600'"),
        text(WIDTH - MARGIN_RIGHT, height - 8, note, 11, "end", "#57606a"),
    ]
    x = MARGIN_LEFT
    for label, colour in legend:
        parts.append(f"<rect x='{x:.1f}' y='38' width='12' height='12' fill='{colour}'/>")
        parts.append(text(x + 17, 49, label, 12))
        x += 34 + 6.6 * len(label)
    for tick in scale.ticks():
        y = base - scale.at(tick)
        parts.append(line(MARGIN_LEFT, y, WIDTH - MARGIN_RIGHT, y))
        parts.append(text(MARGIN_LEFT - 8, y + 4, short(tick), 12, "end"))
    return parts, base


def bars(title, note, groups, names, labels, powers=True):
    """`groups` is [(label, {name: value})]; a bar for each of `names`, with its value above it."""
    values = [value for _, group in groups for value in group.values() if value > 0]
    scale = scale_of(values, 300, powers)
    legend = [(labels[name], COLOURS[name]) for name in names]
    parts, base = frame(title, note, legend, scale, 76)
    group_width = (WIDTH - MARGIN_LEFT - MARGIN_RIGHT) / len(groups)
    width = group_width * 0.86 / len(names)
    for number, (label, group) in enumerate(groups):
        left = MARGIN_LEFT + group_width * number + group_width * 0.07
        for place, name in enumerate(names):
            x = left + width * place
            if name not in group:
                parts.append(text(x + width / 2, base - 4, "-", 11, "middle"))
                continue
            height = max(1.0, scale.at(group[name]))
            parts.append(
                f"<rect x='{x:.1f}' y='{base - height:.1f}' width='{width * 0.92:.1f}' "
                f"height='{height:.1f}' fill='{COLOURS[name]}'/>"
            )
            parts.append(text(x + width / 2, base - height - 4, short(group[name]), 9, "middle"))
        for row, words in enumerate(wrapped(label, group_width / 7)):
            middle = left + group_width * 0.43
            parts.append(text(middle, base + 18 + 15 * row, words, 12, "middle"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def lines(title, note, series, points, powers=False):
    """`series` is {label: [value...]}, one value for each label of `points`."""
    values = [value for list_ in series.values() for value in list_ if value > 0]
    scale = scale_of(values, 300, powers)
    colours = dict(zip(series, LINE_COLOURS))
    parts, base = frame(title, note, list(colours.items()), scale, 56)
    width = WIDTH - MARGIN_LEFT - MARGIN_RIGHT
    step = width / max(1, len(points) - 1)
    every = math.ceil(len(points) / 15)
    for number, label in enumerate(points):
        if number % every == 0:
            parts.append(text(MARGIN_LEFT + step * number, base + 18, label, 12, "middle"))
    for label, list_ in series.items():
        places = [
            f"{MARGIN_LEFT + step * number:.1f},{base - scale.at(value):.1f}"
            for number, value in enumerate(list_)
        ]
        parts.append(
            f"<polyline points='{' '.join(places)}' fill='none' stroke='{colours[label]}' "
            "stroke-width='2'/>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def wrapped(label, width):
    """Lines of at most so many characters, if the words allow it."""
    rows = [""]
    for word in label.split():
        if rows[-1] and len(rows[-1]) + 1 + len(word) > width:
            rows.append("")
        rows[-1] = f"{rows[-1]} {word}".strip()
    return rows
