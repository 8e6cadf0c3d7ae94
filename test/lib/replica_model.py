"""A model of replication between regions, as src/replica/ does it (src/replica/replicas.h), small
enough to be run thousands of times: regions, clocks that differ, links that break, messages that
are lost, late or repeated, restarts, a region that joins while all write, and one that is lost.

Every safeguard can be left out, to see that the model would notice: run(seed, without={...}).
"""

import random

SAFEGUARDS = (
    "session",  # rows are taken in a session, in the order of their numbers
    "cut",  # a closed time is taken before the pass over the queue, not after it
    "compare",  # an entry leaves the queue only if it is the one that was sent
    "know",  # the source waits until all members know the newcomer
    "freeze",  # a member that is being made counts, so nothing is collected meanwhile
    "base",  # rows without a stamp are taken by a newcomer only, where it has nothing
    "raise",  # a stamp that is received raises the clock
    "resend",  # what came from a lost region is sent once more by those that have it
)


class Region:
    def __init__(self, name, skew):
        self.name, self.skew = name, skew
        self.clock = 0
        self.items, self.stamps = {}, {}
        self.queues = {}  # peer -> {key: time of the entry}
        self.members = set()  # The others, as this region knows them.
        self.closed, self.low_of, self.received = {}, {}, {}
        self.active = True
        self.given, self.session, self.last = {}, {}, {}
        self.number = 0
        self.passes = {}  # peer -> [time of the cut, keys left]
        self.noted = set()
        self.notes = 0

    def tick(self, now):
        self.clock = max(now * 10 + self.skew, self.clock + 1)
        return self.clock


class World:
    def __init__(self, seed, without=()):
        self.random = random.Random(seed)
        self.without = set(without)
        assert self.without <= set(SAFEGUARDS)
        self.now = 0
        self.truth = {}
        self.flight = []  # [when, from, to, message]
        self.cut = set()
        skews = [0, 0, -400, 900]
        self.regions = [Region(name, self.random.choice(skews)) for name in "abc"]
        self.lost, self.newcomer, self.source = None, None, None
        self.keys = range(self.random.choice([2, 6, 20]))
        for region in self.regions:
            region.members = {other for other in self.regions if other is not region}
            region.noted = set(region.members)
            region.queues = {other: {} for other in region.members}
        for key in self.keys:  # What was there before the table was global has no stamp.
            if self.random.random() < 0.3:
                for region in self.regions:
                    region.items[key] = ("base", key)
                self.truth[key] = ((0, ""), ("base", key))

    def has(self, safeguard):
        return safeguard not in self.without

    # --- Writing ---

    def write(self, region):
        key = self.random.choice(self.keys)
        value = None if self.random.random() < 0.35 else (region.name, self.now, key)
        stamp = (region.tick(self.now), region.name)
        self.store(region, key, stamp, value)
        for peer in region.members:
            region.queues[peer][key] = stamp[0]
        if stamp > self.truth.get(key, ((-1, ""), None))[0]:
            self.truth[key] = (stamp, value)

    @staticmethod
    def store(region, key, stamp, value):
        if stamp is not None:
            region.stamps[key] = stamp
        if value is None:
            region.items.pop(key, None)
        else:
            region.items[key] = value

    # --- Sending ---

    def low(self, region):
        peers = [peer for peer in region.members if peer is not self.lost]
        if not self.has("freeze"):
            peers = [peer for peer in peers if peer.active]
        if not peers:
            return 0
        return min(region.closed.get(p, 0) if p in region.noted else 0 for p in peers)

    def send(self, region, peer):
        if peer not in region.noted:
            return
        queue = region.queues[peer]
        if region.passes.get(peer) is None:
            region.passes[peer] = [region.tick(self.now), sorted(queue)]
        _, left = region.passes[peer]
        keys = left[: self.random.choice([1, 3, 40])]
        rows = []
        for key in keys:
            if key not in queue:
                continue
            stamp, value = region.stamps.get(key), region.items.get(key)
            if stamp is not None or value is not None:
                rows.append((key, stamp, value, queue[key]))
        region.number += 1
        self.post(region, peer, {
            "rows": rows, "keys": keys, "closed": region.closed.get(peer, 0),
            "low": self.low(region), "members": len(region.members),
            "session": region.session.get(peer), "number": region.number,
            "entries": {key: queue[key] for key in keys if key in queue},
            "pass": region.passes[peer],
        })  # fmt: skip

    def post(self, region, peer, message):
        if self.random.random() < 0.85:
            self.flight.append([self.now + self.random.randint(0, 3), region, peer, message])
        if self.random.random() < 0.15:  # Repeated, and held up on the way.
            self.flight.append([self.now + self.random.randint(0, 90), region, peer, message])

    def deliver(self):
        rest = []
        for entry in self.flight:
            when, region, peer, message = entry
            if self.lost in (region, peer):
                continue
            if when > self.now or (region.name, peer.name) in self.cut:
                rest.append(entry)
            else:
                self.receive(region, peer, message)
        self.flight = rest

    def receive(self, sender, region, message):
        if sender not in region.members:
            return
        if self.has("session"):
            if region.given.get(sender) is None or message["session"] != region.given[sender]:
                region.given[sender] = (region.name, self.now, self.random.random())
                region.last[sender] = 0
                sender.session[region] = region.given[sender]
                return
            if message["number"] <= region.last[sender]:
                return
            region.last[sender] = message["number"]
        for key, stamp, value, _ in message["rows"]:
            self.apply(region, key, stamp, value)
        region.received[sender] = max(region.received.get(sender, 0), message["closed"])
        if message["members"] == len(region.members):
            region.low_of[sender] = max(region.low_of.get(sender, 0), message["low"])
        if self.random.random() < 0.9:  # Otherwise the answer is lost.
            self.settle(sender, region, message)

    def apply(self, region, key, stamp, value):
        if stamp is None:
            free = key not in region.items and key not in region.stamps
            if not self.has("base") or (free and not region.active):
                self.store(region, key, None, value)
            return
        if self.has("raise"):
            region.clock = max(region.clock, stamp[0])
        if stamp > region.stamps.get(key, (-1, "")):
            self.store(region, key, stamp, value)

    def settle(self, sender, region, message):
        queue = sender.queues[region]
        for key, entry in message["entries"].items():
            if not self.has("compare") or queue.get(key) == entry:
                queue.pop(key, None)
        current = sender.passes.get(region)
        # A server that was started again gets no answers to what it had asked before.
        if current is None or current is not message["pass"]:
            return
        current[1] = [key for key in current[1] if key not in message["keys"]]
        if not current[1]:
            closed = current[0] if self.has("cut") else sender.tick(self.now)
            sender.closed[region] = max(sender.closed.get(region, 0), closed)
            sender.passes[region] = None
            if region is self.newcomer and sender is self.source and not region.active:
                region.active = True

    # --- Collecting ---

    def collect(self, region):
        members = [peer for peer in region.members if peer is not self.lost]
        if self.has("freeze") and any(not m.active for m in [*members, region]):
            return
        if not self.has("freeze"):
            members = [m for m in members if m.active]
        lows = [region.low_of.get(m, 0) for m in members]
        own = [region.closed.get(m, 0) for m in members]
        low = min([*lows, *own], default=0)
        for key in [key for key, stamp in region.stamps.items() if stamp[0] <= low]:
            del region.stamps[key]

    # --- Members come and go ---

    def note(self, region, peer, everything):
        keys = set(region.stamps) | (set(region.items) if everything else set())
        region.notes += 1  # No answer is under way: one thread sends and notes.
        for key in keys:
            region.queues.setdefault(peer, {})[key] = -region.notes
        region.closed[peer] = 0
        region.passes[peer] = None
        region.noted.add(peer)

    def join(self):
        live = [region for region in self.regions if region is not self.lost]
        new = Region("n", self.random.choice([0, 500, -300]))
        new.active = False
        new.members = set(live)
        new.noted = set(live)
        new.queues = {region: {} for region in live}
        self.newcomer, self.source = new, self.random.choice(live)
        self.regions.append(new)
        self.unaware = [region for region in live if region is not self.source]
        self.learn(self.source)

    def learn(self, region):
        region.members.add(self.newcomer)
        region.queues.setdefault(self.newcomer, {})
        region.low_of = {}  # Said in an earlier epoch.
        region.closed = {**region.closed, self.newcomer: 0}

    def proceed(self):
        if self.newcomer is None or self.newcomer in self.source.noted:
            unaware = getattr(self, "unaware", [])
        else:
            unaware = self.unaware
            if not unaware or not self.has("know"):
                self.note(self.source, self.newcomer, True)
        if unaware and self.random.random() < 0.1:
            region = unaware.pop()
            if region is not self.lost:
                self.learn(region)
                self.note(region, self.newcomer, False)

    def lose(self):
        self.lost = self.random.choice([r for r in self.regions[:3] if r is not self.source])
        for region in self.regions:
            if region is self.lost:
                continue
            region.members.discard(self.lost)
            region.low_of = {}
            if self.has("resend"):
                for peer in region.members:
                    self.note(region, peer, False)

    def restart(self, region):
        """Forgets what is in memory only."""
        region.closed, region.low_of, region.received = {}, {}, {}
        region.passes, region.session, region.given, region.last = {}, {}, {}, {}

    # --- Runs ---

    def step(self, loses, joins, steps):
        self.now += 1
        live = [region for region in self.regions if region is not self.lost]
        for region in live:
            if region.active and self.random.random() < self.rate:
                self.write(region)
        if self.random.random() < 0.04:
            names = [region.name for region in live]
            self.cut = {(a, b) for a in names for b in names if self.random.random() < 0.4}
        elif self.random.random() < 0.04:
            self.cut = set()
        if joins and self.newcomer is None and self.now > steps // 4:
            self.join()
        settled = self.newcomer is None or (self.newcomer.active and not self.unaware)
        if loses and self.lost is None and self.now > steps // 2 and settled:
            self.lose()
            live.remove(self.lost)
        self.proceed()
        for region in live:
            for peer in sorted(region.members, key=lambda r: r.name):
                # A newcomer is filled slowly, or hears of others late, in some runs.
                if self.random.random() < (0.5 if peer.active else self.haste):
                    self.send(region, peer)
        self.deliver()
        for region in live:
            self.collect(region)
            if self.random.random() < 0.004:
                self.restart(region)

    def heal(self):
        """Everything arrives, in order, several times over."""
        self.cut, self.flight = set(), []
        for _ in range(400):
            self.now += 1
            live = [region for region in self.regions if region is not self.lost]
            while getattr(self, "unaware", []):
                region = self.unaware.pop()
                if region is not self.lost:
                    self.learn(region)
                    self.note(region, self.newcomer, False)
            self.proceed()
            for region in live:
                for peer in sorted(region.members, key=lambda r: r.name):
                    if peer in region.noted and (region.queues[peer] or not peer.active):
                        self.send(region, peer)
            self.deliver()
            if not any(region.queues[p] for region in live for p in region.members):
                break


def run(seed, without=(), steps=None, loses=None, joins=None):
    """True if all regions have the same items in the end: the latest of each key, unless a region
    was lost with what only it had."""
    world = World(seed, without)
    steps = steps or world.random.choice([150, 400])
    world.rate = world.random.choice([0.1, 0.5])
    world.haste = world.random.choice([0.02, 0.1, 0.5])
    loses = world.random.random() < 0.4 if loses is None else loses
    joins = world.random.random() < 0.6 if joins is None else joins
    for _ in range(steps):
        world.step(loses, joins, steps)
    world.heal()
    live = [region for region in world.regions if region is not world.lost]
    if any(region.items != live[0].items for region in live):
        return False
    if world.lost is not None:
        return True
    truth = {key: value for key, (_, value) in world.truth.items() if value is not None}
    return live[0].items == truth
