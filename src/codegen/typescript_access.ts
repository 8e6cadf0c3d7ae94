
import * as _sdk from "@aws-sdk/client-dynamodb";

/** A number that a JavaScript number cannot hold exactly. */
export class Exact {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}
export type Numeric = number | Exact;
export type Value =
  | string | Numeric | boolean | null | Uint8Array
  | Set<string> | Set<Numeric> | Set<Uint8Array>
  | Value[] | { [name: string]: Value };
export type Item = { [name: string]: Value };

/** The number that a text is; Exact if a JavaScript number would round it. */
export function numeric(text: string): Numeric {
  return String(Number(text)) === text ? Number(text) : new Exact(text);
}

/** A client of DynamoDB, and the names that the model's tables have there if they differ. */
export class Database {
  constructor(
    readonly client: _sdk.DynamoDBClient,
    readonly tables: ReadonlyMap<string, string> = new Map(),
  ) {}
  table(name: string): string {
    return this.tables.get(name) ?? name;
  }
}

/** Items, and the key to give as startAfter for those behind them; undefined: there are no more. */
export interface Page<T> {
  items: T[];
  lastKey: Item | undefined;
}

type _Request = Omit<_sdk.QueryCommandInput, "KeyConditions">;
type _Answer = {
  Items?: Record<string, _sdk.AttributeValue>[];
  LastEvaluatedKey?: Record<string, _sdk.AttributeValue>;
};

/** Items of a Query or a Scan. Pages are read when they are needed. */
export class Results<T> implements AsyncIterable<T> {
  constructor(
    private readonly send: (request: _Request) => Promise<_Answer>,
    private readonly request: _Request,
    private readonly startAfter: Item | undefined,
    private readonly onePage: boolean,
  ) {}
  async *pages(): AsyncGenerator<Page<T>> {
    let lastKey = this.startAfter;
    do {
      const after = lastKey === undefined ? {} : { ExclusiveStartKey: _encodeItem(lastKey) };
      const answer = await this.send({ ...this.request, ...after });
      const key = answer.LastEvaluatedKey;
      lastKey = key === undefined ? undefined : _decodeItem<Item>(key);
      yield { items: (answer.Items ?? []).map((item) => _decodeItem<T>(item)), lastKey };
    } while (lastKey !== undefined && !this.onePage);
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const page of this.pages()) yield* page.items;
  }
  async all(): Promise<T[]> {
    const items: T[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}

/** Any name is a member of its own, also __proto__. */
function _set(item: Item, name: string, value: Value): void {
  Object.defineProperty(item, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The text of a parameter of a key: never empty, and without the separator of keys. */
function _part(name: string, value: string | Numeric | Uint8Array, takesAll = false): string {
  const text = value instanceof Uint8Array ? Buffer.from(value).toString("base64") : String(value);
  if (text === "" || (text.includes("#") && !takesAll))
    throw new RangeError(`${name} must not be empty or contain #`);
  return text;
}

/** A value as an attribute value of the API. */
export function _encode(value: Value): _sdk.AttributeValue {
  if (value === null) return { NULL: true };
  if (typeof value === "boolean") return { BOOL: value };
  if (typeof value === "string") return { S: value };
  if (typeof value === "number" || value instanceof Exact) return { N: String(value) };
  if (value instanceof Uint8Array) return { B: value };
  if (Array.isArray(value)) return { L: value.map(_encode) };
  if (!(value instanceof Set)) return { M: _encodeItem(value) };
  const members: (string | Numeric | Uint8Array)[] = [...value];
  if (members.every((member) => typeof member === "string")) return { SS: members as string[] };
  if (members.every((member) => member instanceof Uint8Array)) return { BS: members as Uint8Array[] };
  return { NS: members.map(String) };
}

export function _encodeItem(item: object): Record<string, _sdk.AttributeValue> {
  return Object.fromEntries(
    Object.entries(item)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, _encode(value as Value)]),
  );
}

function _decode(value: _sdk.AttributeValue): Value {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return numeric(value.N);
  if (value.B !== undefined) return value.B;
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.SS !== undefined) return new Set(value.SS);
  if (value.NS !== undefined) return new Set(value.NS.map(numeric));
  if (value.BS !== undefined) return new Set(value.BS);
  if (value.L !== undefined) return value.L.map(_decode);
  if (value.M !== undefined) return _decodeItem<Item>(value.M);
  return null;
}

function _decodeItem<T>(item: Record<string, _sdk.AttributeValue>): T {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, _decode(value)])) as T;
}
