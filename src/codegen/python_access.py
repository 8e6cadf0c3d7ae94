
from __future__ import annotations

import base64 as _base64
import collections.abc as _abc
import decimal as _decimal
import typing as _typing

Numeric = _typing.Union[int, _decimal.Decimal]
Item = _typing.Dict[str, _typing.Any]
_T = _typing.TypeVar("_T")


class Database:
    """A boto3 client of DynamoDB, and the names that the model's tables have there if they differ."""

    def __init__(self, client: _typing.Any, tables: _abc.Mapping[str, str] | None = None):
        self.client = client
        self.tables = dict(tables or {})

    def table(self, name: str) -> str:
        return self.tables.get(name, name)


class Page(_typing.Generic[_T]):
    """Items, and the key to give as start_after for those behind them; None: there are no more."""

    def __init__(self, items: list[_T], last_key: Item | None):
        self.items = items
        self.last_key = last_key


class Results(_typing.Generic[_T]):
    """Items of a Query or a Scan. Pages are read when they are needed."""

    def __init__(
        self,
        operation: _abc.Callable[..., _typing.Any],
        request: dict[str, _typing.Any],
        start_after: Item | None,
        one_page: bool,
    ):
        self._operation = operation
        self._request = request
        self._start_after = start_after
        self._one_page = one_page

    def pages(self) -> _abc.Iterator[Page[_T]]:
        request, last_key = dict(self._request), self._start_after
        while True:
            if last_key is not None:
                request["ExclusiveStartKey"] = _encode_item(last_key)
            answer = self._operation(**request)
            key = answer.get("LastEvaluatedKey")
            last_key = None if key is None else _decode_item(key)
            items = [_decode_item(item) for item in answer["Items"]]
            yield Page(_typing.cast("list[_T]", items), last_key)
            if last_key is None or self._one_page:
                return

    def __iter__(self) -> _abc.Iterator[_T]:
        for page in self.pages():
            yield from page.items


def _part(name: str, value: _typing.Any, takes_all: bool = False) -> str:
    """The text of a parameter of a key: never empty, and without the separator of keys."""
    if isinstance(value, (bytes, bytearray)):
        text = _base64.b64encode(value).decode()
    else:
        text = str(value)
    if text == "" or ("#" in text and not takes_all):
        raise ValueError(f"{name} must not be empty or contain #")
    return text


def _encode(value: _typing.Any) -> dict[str, _typing.Any]:
    """A value as an attribute value of the API."""
    if value is None:
        return {"NULL": True}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, (int, _decimal.Decimal)):
        return {"N": str(value)}
    if isinstance(value, (bytes, bytearray)):
        return {"B": bytes(value)}
    if isinstance(value, (set, frozenset)) and value:
        encoded = [_encode(member) for member in value]
        (kind,) = {kind for member in encoded for kind in member}
        return {kind + "S": [member[kind] for member in encoded]}
    if isinstance(value, _abc.Mapping):
        return {"M": _encode_item(value)}
    if isinstance(value, (list, tuple)):
        return {"L": [_encode(member) for member in value]}
    raise TypeError(f"{type(value).__name__} is no attribute value: numbers are int or Decimal")


def _encode_item(item: _abc.Mapping[str, _typing.Any]) -> dict[str, _typing.Any]:
    return {name: _encode(value) for name, value in item.items()}


def _decode(value: dict[str, _typing.Any]) -> _typing.Any:
    ((kind, content),) = value.items()
    if kind == "NULL":
        return None
    if kind == "N":
        return _decimal.Decimal(content)
    if kind == "NS":
        return {_decimal.Decimal(member) for member in content}
    if kind in ("SS", "BS"):
        return set(content)
    if kind == "L":
        return [_decode(member) for member in content]
    if kind == "M":
        return _decode_item(content)
    return content


def _decode_item(item: dict[str, _typing.Any]) -> dict[str, _typing.Any]:
    return {name: _decode(value) for name, value in item.items()}
