"""Power cuts: what a disk may hold after one, made from the journal of test/lib/preload/power_cut.c.

A `Disk` holds, for each file and folder below a root, what is durable and, in order, what was done
since. A line of the journal is one step of it. `Disk.cut` is one of the states that a disk could be
in if the power failed behind that step; which one is chosen at random. What a state may be is said
in test/crash/README.md.

Durable is only what was synced: bytes and size of a file by a sync of the file, names by a sync of
the folder that they are in; and neither counts if the sync had not ended.
"""

import os
import pathlib
import posixpath
import struct

import stator_process

SECTOR = 512
PAGE = 4096

# The kinds of lines, as power_cut.c has them.
OPEN, CLOSE, WRITE, TRUNCATE, ALLOCATE, SYNC_BEGIN, SYNC_END, RENAME, UNLINK, MKDIR, LINK = range(
    1, 12
)
LINE = struct.Struct("=IiQQII")

DATA_STATES = ("lost", "kept", "prefix", "pages", "zeros", "garbage", "mixed")
# A journal of names keeps their order. Some file systems have none; RocksDB needs one, our own files
# do not.
NAME_STATES = ("lost", "kept", "prefix")
NAME_STATES_UNORDERED = (*NAME_STATES, "any")


def variables(root, journal=None, kill=None, linger_ms=0, arm=None, clock_s=0):
    """What a process needs in its environment to be watched."""
    chosen = {
        "LD_PRELOAD": stator_process.preload("power_cut"),
        "POWER_CUT_ROOT": str(root),
        "POWER_CUT_CLOCK_S": str(clock_s),
        "POWER_CUT_JOURNAL": journal and str(journal),
        "POWER_CUT_KILL": kill,
        "POWER_CUT_LINGER_MS": str(linger_ms),
        "POWER_CUT_ARM": arm and str(arm),
    }
    return {name: value for name, value in chosen.items() if value}


class Line:
    __slots__ = ("kind", "descriptor", "offset", "aux", "path", "data")

    def __init__(self, kind, descriptor=-1, offset=0, aux=0, path="", data=b""):
        self.kind = kind
        self.descriptor = descriptor
        self.offset = offset
        self.aux = aux
        self.path = path
        self.data = data


def read_journal(path):
    """The lines of a journal; the last one may have been cut short by a kill."""
    text = pathlib.Path(path).read_bytes()
    lines = []
    at = 0
    while at + LINE.size <= len(text):
        kind, descriptor, offset, aux, path_size, data_size = LINE.unpack_from(text, at)
        at += LINE.size
        if at + path_size + data_size > len(text):
            break
        name = text[at : at + path_size].decode()
        data = text[at + path_size : at + path_size + data_size]
        lines.append(Line(kind, descriptor, offset, aux, name, data))
        at += path_size + data_size
    return lines


# --- Files ---


def changed(content, change):
    """The content behind a change, which is (kind, offset or size, bytes)."""
    kind, offset, data = change
    if kind == WRITE:
        if len(content) < offset:
            content.extend(bytes(offset - len(content)))
        content[offset : offset + len(data)] = data
    elif kind == TRUNCATE and offset < len(content):
        del content[offset:]
    elif len(content) < offset:
        content.extend(bytes(offset - len(content)))
    return content


class File:
    def __init__(self, content=b""):
        self.durable = bytearray(content)
        self.pending = []
        self.synced = 0  # How many changes were pending and are durable.

    def sync_one(self):
        changed(self.durable, self.pending.pop(0))

    def newest(self):
        content = bytearray(self.durable)
        for change in self.pending:
            changed(content, change)
        return content

    def after_cut(self, how, choices):
        if not self.pending or how == "lost":
            return bytes(self.durable)
        if how == "kept":
            return bytes(self.newest())
        if how == "mixed":
            return self.after_cut(choices.choice(DATA_STATES[:-1]), choices)
        return bytes(getattr(self, "_" + how)(choices))

    def _prefix(self, choices):
        """The first changes are there, and of the next one, if it is a write, the first sectors."""
        count = choices.randrange(len(self.pending))
        content = bytearray(self.durable)
        for change in self.pending[:count]:
            changed(content, change)
        kind, offset, data = self.pending[count]
        unit = choices.choice((SECTOR, PAGE))
        ends = range((offset // unit + 1) * unit, offset + len(data), unit)
        if kind == WRITE and ends:
            changed(content, (WRITE, offset, data[: choices.choice(ends) - offset]))
        return content

    def _pages(self, choices):
        """Each sector or page is an old or a new one, in no order; what is neither is zero."""
        newest = self.newest()
        unit = choices.choice((SECTOR, PAGE))
        small, large = sorted((len(self.durable), len(newest)))
        size = choices.choice((small, large, choices.randint(small, large)))
        content = bytearray(self.durable[:size])
        content.extend(bytes(size - len(content)))
        for start in range(0, size, unit):
            part = newest[start : min(start + unit, size)]
            if choices.random() < 0.5:
                content[start : start + len(part)] = part
        return content

    def _zeros(self, _choices):
        """The size has changed, the bytes have not."""
        size = len(self.newest())
        content = bytearray(self.durable[:size])
        content.extend(bytes(size - len(content)))
        return content

    def _garbage(self, choices):
        """As with zeros, but new sectors hold what was on the disk before."""
        content = self._zeros(choices)
        start = -(-len(self.durable) // SECTOR) * SECTOR
        if start < len(content):
            content[start:] = choices.randbytes(len(content) - start)
        return content


# --- Folders ---


class Folder:
    def __init__(self):
        self.durable = {}
        self.newest = {}
        self.pending = []  # (order, {name: file, folder or None}); each is done or not as a whole.
        self.synced = 0

    def change(self, order, names):
        self.pending.append((order, names))
        put_names(self.newest, names)

    def sync_one(self):
        put_names(self.durable, self.pending.pop(0)[1])


def put_names(entries, names):
    for name, node in names.items():
        if node is None:
            entries.pop(name, None)
        else:
            entries[name] = node


class Disk:
    def __init__(self, root):
        """All that lies below the root is durable."""
        self.path = str(root)
        self.root = load(pathlib.Path(root))
        self._order = 0
        self._open = {}  # Descriptor: file or folder.
        self._syncs = {}  # Number: (file or folder, how many of its changes it covers).
        self.lies = False  # A disk that says it has synced and has not.

    # --- Steps ---

    def _find(self, path):
        """(folder, name, file or folder or None); the folder is None where there is none."""
        relative = posixpath.relpath(posixpath.normpath(path), self.path)
        if relative == ".":
            return None, "", self.root
        *folders, name = relative.split("/")
        folder = self.root
        for part in folders:
            folder = folder.newest.get(part) if isinstance(folder, Folder) else None
        if not isinstance(folder, Folder):
            return None, name, None
        return folder, name, folder.newest.get(name)

    def _change(self, folder, names):
        self._order += 1
        folder.change(self._order, names)

    def apply(self, line):
        if line.kind == OPEN:
            self._apply_open(line)
        elif line.kind == CLOSE:
            self._open.pop(line.descriptor, None)
        elif line.kind in (WRITE, TRUNCATE, ALLOCATE):
            self._open[line.descriptor].pending.append((line.kind, line.offset, line.data))
        elif line.kind == SYNC_BEGIN:
            node = self._open[line.descriptor]
            self._syncs[line.aux] = node, node.synced + len(node.pending)
        elif line.kind == SYNC_END:
            self._apply_sync(*self._syncs.pop(line.aux))
        else:
            self._apply_names(line)

    def _apply_open(self, line):
        folder, name, node = self._find(line.path)
        if node is None and line.aux & os.O_CREAT:
            node = File()
            self._change(folder, {name: node})
        elif node is not None and line.aux & os.O_TRUNC:
            node.pending.append((TRUNCATE, 0, b""))
        # Files of stdio are unknown here, and may yet be opened for reading.
        self._open[line.descriptor] = node if node is not None else File()

    def _apply_sync(self, node, covered):
        """A sync that began later may have ended before this one."""
        while node.synced < covered and not self.lies:
            node.sync_one()
            node.synced += 1

    def _apply_names(self, line):
        folder, name, node = self._find(line.path)
        if line.kind == MKDIR:
            self._change(folder, {name: Folder()})
        elif node is None:
            return  # A file of stdio.
        elif line.kind == UNLINK:
            self._change(folder, {name: None})
        else:
            new_folder, new_name, _ = self._find(line.data.decode())
            assert new_folder is folder, "names move within a folder only"
            old = {name: None} if line.kind == RENAME else {}
            self._change(folder, {**old, new_name: node})

    # --- Cuts ---

    def cut(self, choices, data=None, names=None):
        """{path: bytes, or None for a folder} of one possible state, and its description."""
        data = data or choices.choice(DATA_STATES)
        names = names or choices.choice(NAME_STATES)
        kept = self._kept_names(names, choices)
        state = {}

        def walk(folder, prefix):
            entries = dict(folder.durable)
            for order, change in folder.pending:
                if order in kept:
                    put_names(entries, change)
            for name, node in sorted(entries.items()):
                path = prefix + name
                if isinstance(node, Folder):
                    state[path] = None
                    walk(node, path + "/")
                else:
                    state[path] = node.after_cut(data, choices)

        walk(self.root, "")
        return state, f"bytes {data}, names {names}"

    def _kept_names(self, names, choices):
        """The orders of the changes of names that the cut leaves."""
        orders = sorted(order for folder in folders(self.root) for order, _ in folder.pending)
        if names == "lost":
            return set()
        if names == "prefix":
            orders = orders[: choices.randrange(len(orders) + 1)]
        elif names == "any":
            orders = [order for order in orders if choices.random() < 0.5]
        return set(orders)


def folders(folder):
    """A folder and those within it, also those that are gone but may come back."""
    seen = {}

    def walk(one):
        if id(one) in seen:
            return
        seen[id(one)] = one
        changes = [names for _, names in one.pending]
        for entries in (one.durable, one.newest, *changes):
            for node in entries.values():
                if isinstance(node, Folder):
                    walk(node)

    walk(folder)
    return list(seen.values())


def load(path):
    folder = Folder()
    for entry in sorted(path.iterdir()):
        if not entry.is_dir() and not entry.is_file():
            continue  # A socket that a killed server left behind.
        node = load(entry) if entry.is_dir() else File(entry.read_bytes())
        folder.durable[entry.name] = folder.newest[entry.name] = node
    return folder


def write_state(state, root):
    """Makes an empty or missing folder hold that state, and nothing else."""
    root = pathlib.Path(root)
    root.mkdir(exist_ok=True)
    for name, content in state.items():
        if content is None:
            (root / name).mkdir(mode=0o700)
        else:
            (root / name).touch(0o600)  # A server refuses keys that others may open.
            (root / name).write_bytes(content)
