"""What is under way when a server is ended at a named point, and what must be so afterwards.

A scenario makes its tables in a new store, has clients that work until the server is gone, and
verifies what a server has that was started on what was left. It knows what was acknowledged and what
was seen; whatever is neither of those nor was under way must not be there.
"""

import copy
import time

import expiry_load
import index_load
import item_load
import stator_process
import stream_load
import trigger_load
from fast_client import FastClient
from function_target import FunctionTarget
from stream_replay import Replay, all_records, scan

DAY_S = 24 * 3600
TRIMMED_MAX_S = 60


class Scenario:
    flags = ()
    states_max = None  # How many states after one power cut can be looked at.

    def __init__(self, seed):
        self.seed = seed
        self.clients = []
        self.clock_s = 0  # How much server time passes at each start of the server.

    def set_up(self, server):
        raise NotImplementedError

    def verify(self, server, directory):
        raise NotImplementedError

    def new_round(self):
        """The server is about to start for the clients."""

    def try_out(self, server, directory):
        """Verifies, and remembers nothing of what was found: this server's store is given up."""
        copy.deepcopy(self).verify(server, directory)

    def close(self):
        """The scenario is over."""


class Items(Scenario):
    """Puts, deletes, reads and refusals of items with two indexes."""

    WRITERS = 4
    READERS = 2
    KEYS = 100  # Of each writer.

    def __init__(self, seed):
        super().__init__(seed)
        self.writers = [item_load.Writer(n, seed, self.KEYS) for n in range(self.WRITERS)]
        self.clients = [*self.writers]
        for number in range(self.READERS):
            self.clients.append(item_load.Reader(f"reader-{number}", seed, self.writers))

    def set_up(self, server):
        client = FastClient(server.port)
        stator_process.create_table(client, item_load.TABLE, global_=item_load.INDEXES)
        client.close()

    def verify(self, server, directory):
        client = FastClient(server.port)
        item_load.verify(client, self.writers, lambda writer: writer.keys)
        client.close()


class HeavyItems(Items):
    """The same with items so large that table files are written and merged all the time."""

    WRITERS = 1
    READERS = 1

    def __init__(self, seed):
        super().__init__(seed)
        heavy = [item_load.Writer(f"{item_load.HEAVY}-{n}", seed, keys_max=8) for n in range(4)]
        self.writers += heavy
        self.clients += heavy


class Tables(Scenario):
    """Tables are created and deleted, and nothing else is written."""

    def __init__(self, seed):
        super().__init__(seed)
        self.maker = item_load.TableMaker("table-maker", seed)
        self.clients = [self.maker]

    def set_up(self, server):
        pass

    def verify(self, server, directory):
        client = FastClient(server.port)
        self.maker.verify(client)
        client.close()


class Backfill(Scenario):
    """An index is created and deleted over and over, and nothing else is written."""

    ITEMS = 1000
    WRITERS = 0

    def __init__(self, seed):
        super().__init__(seed)
        writers = [index_load.Writer(number, seed) for number in range(self.WRITERS)]
        self.clients = [index_load.IndexMaker("index-maker", seed), *writers]

    def set_up(self, server):
        client = FastClient(server.port)
        stator_process.create_table(client, index_load.TABLE)
        index_load.load(client, self.ITEMS)
        client.close()

    def verify(self, server, directory):
        client = FastClient(server.port)
        index_load.verify(client)
        client.close()


class BackfillWithWrites(Backfill):
    """An index is created and deleted over and over, while items are written."""

    WRITERS = 2


class Expiry(Scenario):
    """Items expire while others are written, and time to live is enabled and disabled."""

    flags = ("--ttl-interval", "20")
    ITEMS = 500

    def __init__(self, seed):
        super().__init__(seed)
        self.writers = [expiry_load.Writer(number, seed) for number in range(2)]
        self.clients = [*self.writers, expiry_load.Switch("switch", seed)]
        self.stays = {}

    def set_up(self, server):
        client = FastClient(server.port)
        indexes = {"by-bucket": ([("bucket", "S", "HASH")], "ALL")}
        stator_process.create_table(client, expiry_load.TABLE, global_=indexes)
        self.stays = expiry_load.load(client, self.ITEMS)
        client.close()

    def verify(self, server, directory):
        client = FastClient(server.port)
        expiry_load.verify(client, self.writers, self.stays)
        client.close()


class Stream(Scenario):
    """Changes of a table with a stream, whose shards end all the time."""

    flags = stream_load.FLAGS

    def __init__(self, seed):
        super().__init__(seed)
        self.clients = [stream_load.Writer(number, seed) for number in range(3)]
        self.arn = None
        self.records = 0

    def set_up(self, server):
        client = FastClient(server.port)
        self.arn = stream_load.set_up(client)
        client.close()

    def verify(self, server, directory):
        client = FastClient(server.port)
        replay = stream_load.assert_replays_to_the_table(client, self.arn)
        assert replay.record_count >= self.records
        self.records = replay.record_count
        client.close()


class Trimming(Stream):
    """The same, but each start is on another day, so that what is in the stream is trimmed."""

    def __init__(self, seed):
        super().__init__(seed)
        self.clock_s = DAY_S + 60
        self.horizon_s = 0

    def new_round(self):
        time.sleep(1 - time.time() % 1)  # Records tell whole seconds.
        self.horizon_s = int(time.time())

    def verify(self, server, directory):
        """Of the items that the stream still tells of, it tells the end."""
        client = FastClient(server.port)
        stream_load.settled(client)
        replay = self.replay_once_trimmed(client)
        items = scan(client, stream_load.TABLE, stream_load.KEY_NAMES)
        for key, item in replay.items.items():
            assert items.get(key) == item, key
        client.close()

    def replay_once_trimmed(self, client):
        """What is old goes while it is read, so a replay begins when there is no more of it. What is
        trimmed between two shards would show as a change that is missing: two readings are equal
        only if nothing went during the first one."""
        until = time.monotonic() + TRIMMED_MAX_S
        before = None
        while True:
            records = self.records_if_trimmed(client)
            if records is not None and records == before:
                break
            before = records
            assert time.monotonic() < until, "what is old is not trimmed"
        replay = Replay(stream_load.KEY_NAMES, knows_beginning=False)
        for record in records:
            replay.apply(record)
        return replay

    def records_if_trimmed(self, client):
        """All records, or None if there are old ones, or some go while they are read."""
        try:
            records = list(all_records(client, self.arn))
        except AssertionError as error:
            if "Shard does not exist" not in str(error) and "Trimmed" not in str(error):
                raise
            return None
        times = [r["dynamodb"]["ApproximateCreationDateTime"] for r in records]
        return records if all(created_s >= self.horizon_s for created_s in times) else None


class Triggers(Scenario):
    """Records go to a function, which refuses each fifth for good."""

    states_max = 1  # The function cannot forget what it was called with.
    WRITERS = 4
    POISON = 5

    def __init__(self, seed):
        super().__init__(seed)
        self.clients = [trigger_load.Writer(number, seed) for number in range(self.WRITERS)]
        self.target = FunctionTarget(self.decide)

    def decide(self, records):
        values = [trigger_load.identity(record)[1] for record in records]
        return (500, "no") if any(value % self.POISON == 0 for value in values) else (200, "null")

    def set_up(self, server):
        trigger_load.add_trigger(server, self.target, retries_max=0)

    def verify(self, server, directory):
        wanted = set().union(*(client.acknowledged for client in self.clients))
        delivered, given_up = trigger_load.caught_up(directory, self.target, wanted)
        assert {record for record in wanted if record[1] % self.POISON == 0} <= given_up
        assert all(value % self.POISON == 0 for _, value in given_up)
        trigger_load.assert_in_order(self.target)
        client = FastClient(server.port)
        for key in {key for key, _ in delivered | given_up}:
            body = {"TableName": trigger_load.TABLE, "Key": {"p": {"S": key}}}
            newest = int(client.call("GetItem", body)[1]["Item"]["n"]["N"])
            seen = max(value for other, value in delivered | given_up if other == key)
            assert newest >= seen, f"{key}: {seen} was delivered, and the table has {newest}"
        client.close()

    def close(self):
        self.target.close()


ALL = {
    scenario.__name__: scenario
    for scenario in (
        Items,
        HeavyItems,
        Tables,
        Backfill,
        BackfillWithWrites,
        Expiry,
        Stream,
        Trimming,
        Triggers,
    )
}
