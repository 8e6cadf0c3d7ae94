"""Transactions are all or nothing, see one another whole, and take effect once: in normal running,
and across kill -9 and restarts.

Four applications, each with an invariant that a server breaks as soon as it takes a transaction
apart: a bank, lists that are appended to, doctors on call, and counters with tokens.
"""

import time
import uuid

import crash_run
import list_append
import pytest
import stator_process
from fast_client import FastClient

CLIENTS = 8
NORMAL_S = 2
TABLE = "transactions"
CANCELED = "TransactionCanceledException"


def key_of(name):
    return {"TableName": TABLE, "Key": {"pk": {"S": name}}}


def number(value):
    return {"N": str(value)}


def update(name, expression, condition=None, **values):
    action = {**key_of(name), "UpdateExpression": expression}
    if values:
        action["ExpressionAttributeValues"] = {f":{name}": value for name, value in values.items()}
    if condition:
        action["ConditionExpression"] = condition
    return {"Update": action}


def write(connection, actions, **parameters):
    """True, or False if a condition did not hold."""
    status, answer = connection.call("TransactWriteItems", {"TransactItems": actions, **parameters})
    if status == 200:
        return True
    assert answer["__type"].endswith(CANCELED), answer
    codes = {reason["Code"] for reason in answer["CancellationReasons"]}
    assert codes == {"None", "ConditionalCheckFailed"} or codes == {"ConditionalCheckFailed"}, codes
    return False


def read(connection, names):
    """The items, None where there is none."""
    gets = [{"Get": key_of(name)} for name in names]
    status, answer = connection.call("TransactGetItems", {"TransactItems": gets})
    assert status == 200, answer
    return [response.get("Item") for response in answer["Responses"]]


def put(connection, item):
    status, answer = connection.call("PutItem", {"TableName": TABLE, "Item": item})
    assert status == 200, answer


# --- A bank: the total never changes, no account is overdrawn, and journals have each transfer ---

ACCOUNTS = 12
OPENING_BALANCE = 100


class Teller(crash_run.Client):
    """Each transfer has a token; one whose answer did not come is sent again after the restart, so
    the teller's journal must have all that were acknowledged and no other."""

    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.transfers = 0
        self.refusals = 0
        self.audits = 0
        self.open = None  # (actions, token) of the transfer that has no answer.

    def journal(self):
        return f"journal-{self.name}"

    def step(self, connection):
        if self.open is None and self.choices.random() < 0.3:
            audit(connection)
            self.audits += 1
            return
        self.open = self.open or (self.transfer(), random_token(self.choices))
        actions, token = self.open
        if write(connection, actions, ClientRequestToken=token):
            self.transfers += 1
        else:
            self.refusals += 1
        self.open = None

    def transfer(self):
        source, target = self.choices.sample(range(ACCOUNTS), 2)
        amount = number(self.choices.randrange(1, OPENING_BALANCE))
        debit = update(
            f"account-{source}", "SET balance = balance - :a", "balance >= :a", a=amount
        )
        credit = update(f"account-{target}", "SET balance = balance + :a", a=amount)
        entry = update(self.journal(), "ADD n :one", one=number(1))
        return self.choices.sample([debit, credit, entry], 3)


def random_token(choices):
    return str(uuid.UUID(int=choices.getrandbits(128)))


def audit(connection):
    items = read(connection, [f"account-{account}" for account in range(ACCOUNTS)])
    balances = [int(item["balance"]["N"]) for item in items]
    assert sum(balances) == ACCOUNTS * OPENING_BALANCE, balances
    assert min(balances) >= 0, balances


class Bank:
    client = Teller

    @staticmethod
    def prepare(connection):
        for account in range(ACCOUNTS):
            name = {"S": f"account-{account}"}
            put(connection, {"pk": name, "balance": number(OPENING_BALANCE)})

    @staticmethod
    def verify(clients, connection):
        audit(connection)
        for client in clients:
            while client.open:
                client.step(connection)
            [entry] = read(connection, [client.journal()])
            counted = int(entry["n"]["N"]) if entry else 0
            assert counted == client.transfers, f"{client.transfers} transfers, {counted} counted"
        audit(connection)
        for what in ("transfers", "refusals", "audits"):
            count = sum(getattr(client, what) for client in clients)
            print(f"{count} {what}")
            assert count > 0


# --- Lists: the whole history has an order ---

LISTS = 4
LIST_LENGTH_MAX = 200  # Then a new set of lists begins: reading a list costs its length.


class Appender(crash_run.Client):
    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.history = []
        self.count = 0
        self.open = None

    def step(self, connection):
        self.count += 1
        name = f"{self.name}.{self.count}"
        generation = self.count // (LIST_LENGTH_MAX // CLIENTS)
        lists = self.choices.sample(range(LISTS), self.choices.randrange(1, LISTS + 1))
        keys = [f"list-{generation}-{number}" for number in lists]
        start = time.monotonic_ns()
        if self.choices.random() < 0.5:
            items = read(connection, keys)
            seen = {key: values_of(item) for key, item in zip(keys, items)}
            self.note(name, start, {}, seen)
            return
        appends = {key: name for key in keys}
        self.open = list_append.Transaction(name, start, list_append.UNKNOWN_END, appends, {})
        append = "SET v = list_append(if_not_exists(v, :none), :v)"
        value = {"L": [{"S": name}]}
        assert write(connection, [update(key, append, none={"L": []}, v=value) for key in keys])
        self.open = None
        self.note(name, start, appends, {})

    def note(self, name, start, appends, reads):
        end = time.monotonic_ns()
        self.history.append(list_append.Transaction(name, start, end, appends, reads))

    def settle(self, killed_at_ns):
        if self.open:
            self.history.append(self.open)
            self.open = None


def values_of(item):
    return [value["S"] for value in item["v"]["L"]] if item else []


class Lists:
    client = Appender

    @staticmethod
    def prepare(connection):
        pass

    @staticmethod
    def verify(clients, connection):
        history = [transaction for client in clients for transaction in client.history]
        keys = sorted({key for transaction in history for key in transaction.appends})
        start = time.monotonic_ns()
        last = {key: values_of(read(connection, [key])[0]) for key in keys}
        history.append(list_append.Transaction("last", start, time.monotonic_ns(), {}, last))
        print(f"{len(history)} transactions on {len(keys)} lists")
        list_append.check(history)
        assert len(history) > CLIENTS and keys


# --- Doctors: somebody of each pair is always on call ---

PAIRS = 3


class Doctor(crash_run.Client):
    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.rests = 0
        self.refusals = 0

    def step(self, connection):
        pair = self.choices.randrange(PAIRS)
        me, other = self.choices.sample([f"doctor-{pair}-a", f"doctor-{pair}-b"], 2)
        on = {"BOOL": True}
        choice = self.choices.random()
        if choice < 0.2:
            assert_somebody_on_call(connection, pair)
        elif choice < 0.5:
            assert write(connection, [update(me, "SET on_call = :on", on=on)])
        else:
            check = {
                **key_of(other),
                "ConditionExpression": "on_call = :on",
                "ExpressionAttributeValues": {":on": on},
            }
            rest = update(me, "SET on_call = :off", off={"BOOL": False})
            if write(connection, [{"ConditionCheck": check}, rest]):
                self.rests += 1
            else:
                self.refusals += 1


def assert_somebody_on_call(connection, pair):
    doctors = read(connection, [f"doctor-{pair}-a", f"doctor-{pair}-b"])
    assert any(doctor["on_call"]["BOOL"] for doctor in doctors), f"nobody of pair {pair}"


class OnCall:
    client = Doctor

    @staticmethod
    def prepare(connection):
        for pair in range(PAIRS):
            for name in (f"doctor-{pair}-a", f"doctor-{pair}-b"):
                put(connection, {"pk": {"S": name}, "on_call": {"BOOL": True}})

    @staticmethod
    def verify(clients, connection):
        for pair in range(PAIRS):
            assert_somebody_on_call(connection, pair)
        for what in ("rests", "refusals"):
            count = sum(getattr(client, what) for client in clients)
            print(f"{count} {what}")
            assert count > 0


# --- Tokens: a transaction that is sent again takes effect once ---


class Counter(crash_run.Client):
    """Adds one to two counters of its own under a token, and sends it again whenever the answer did
    not come, and now and then when it did."""

    def __init__(self, name, seed):
        super().__init__(name, seed)
        self.counted = 0
        self.repeats = 0
        self.retries = 0
        self.token = None

    def names(self):
        return [f"counter-{self.name}-{side}" for side in ("a", "b")]

    def step(self, connection):
        if self.token:
            self.retries += 1  # From before the kill.
        else:
            self.token = random_token(self.choices)
        add = [update(name, "ADD n :one", one=number(1)) for name in self.names()]
        self.send(connection, add)
        if self.choices.random() < 0.3:
            self.send(connection, add)
            self.repeats += 1
        if self.choices.random() < 0.1:
            other = [update(self.names()[0], "ADD n :two", two=number(2))]
            status, answer = self.call(connection, other)
            assert status == 400, answer
            assert answer["__type"].endswith("IdempotentParameterMismatchException"), answer
        self.token = None
        self.counted += 1

    def call(self, connection, actions):
        return connection.call(
            "TransactWriteItems", {"TransactItems": actions, "ClientRequestToken": self.token}
        )

    def send(self, connection, actions):
        status, answer = self.call(connection, actions)
        assert status == 200, answer


class Tokens:
    client = Counter

    @staticmethod
    def prepare(connection):
        pass

    @staticmethod
    def verify(clients, connection):
        for client in clients:
            while client.token:
                client.step(connection)
            values = [int(item["n"]["N"]) for item in read(connection, client.names())]
            assert values == [client.counted] * 2, f"{client.counted} counted, {values} stored"
        for what in ("counted", "repeats", "retries"):
            print(f"{sum(getattr(client, what) for client in clients)} {what}")
        assert sum(client.repeats for client in clients) > 0


APPLICATIONS = [Bank, Lists, OnCall, Tokens]


def prepare(application, port):
    connection = FastClient(port)
    stator_process.create_table(connection, TABLE)
    application.prepare(connection)
    connection.close()


def verify(application, clients, port):
    connection = FastClient(port)
    application.verify(clients, connection)
    connection.close()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_transactions_of_normal_running_keep_the_invariant(application, tmp_path):
    seed = crash_run.seeded()
    clients = [application.client(name, seed) for name in range(CLIENTS)]
    with crash_run.start_server(tmp_path) as server:
        prepare(application, server.port)
        crash_run.work(clients, server.port, NORMAL_S)
        verify(application, clients, server.port)
        server.stop()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_transactions_across_kills_keep_the_invariant(application, tmp_path):
    seed = crash_run.seeded()
    clients = [application.client(name, seed) for name in range(CLIENTS)]
    with crash_run.start_server(tmp_path) as server:
        prepare(application, server.port)
        server.kill()
    crash_run.work_across_kills(clients, tmp_path, seed)
    with crash_run.start_server(tmp_path) as server:
        verify(application, clients, server.port)
        server.stop()


def test_a_token_used_by_two_at_once_takes_effect_once(tmp_path):
    """Each is answered as the first, or told that the first is still under way."""
    rounds = 40
    with crash_run.start_server(tmp_path) as server:
        prepare(Tokens, server.port)
        connections = [FastClient(server.port) for _ in range(4)]
        body = {"TransactItems": [update("shared", "ADD n :one", one=number(1))]}
        for turn in range(rounds):
            body["ClientRequestToken"] = f"token-{turn}"
            for connection in connections:
                connection.send("TransactWriteItems", body)
            answers = [connection.receive() for connection in connections]
            assert any(status == 200 for status, _ in answers)
            for status, answer in answers:
                assert status == 200 or answer["__type"].endswith("TransactionInProgressException")
        assert read(connections[0], ["shared"])[0]["n"] == number(rounds)
        for connection in connections:
            connection.close()
        server.stop()
