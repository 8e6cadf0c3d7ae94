
import * as assert from "node:assert";
import * as crypto from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import * as sdk from "@aws-sdk/client-dynamodb";
import * as access from "./access";

type Json = { [kind: string]: any };
interface SampleTable {
  CreateTable: sdk.CreateTableCommandInput;
  Rows: { Entity: string | null; Item: { [name: string]: Json } }[];
}
const ENDPOINT = process.env.AWS_ENDPOINT_URL_DYNAMODB || process.env.AWS_ENDPOINT_URL;
const SKIP = ENDPOINT ? false : "AWS_ENDPOINT_URL_DYNAMODB names no server to create tables on";
const SAMPLE: { Tables: SampleTable[] } = JSON.parse(
  fs.readFileSync(path.join(__dirname, "sample.json"), "utf8"),
);
const client = new sdk.DynamoDBClient({
  endpoint: ENDPOINT,
  region: process.env.AWS_REGION || "us-east-1",
  credentials: {
    accessKeyId: process.env.AWS_ACCESS_KEY_ID || "test",
    secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY || "test",
  },
});
const tables = new Map<string, string>();
const database = new access.Database(client, tables);

/** The attribute value of a JSON text, in which binary is base64, as the functions have it. */
function native(value: Json): access.Value {
  const kind = Object.keys(value)[0];
  const content = value[kind];
  const scalar = (text: string) =>
    kind.startsWith("N") ? access.numeric(text) : kind.startsWith("B") ? bytes(text) : text;
  if (kind === "NULL") return null;
  if (kind === "BOOL") return content;
  if (kind === "L") return content.map(native);
  if (kind === "M") return nativeItem(content);
  if (kind === "N" || kind === "B" || kind === "S") return scalar(content);
  return new Set(content.map(scalar)) as Set<string>;
}

function nativeItem(item: { [name: string]: Json }): access.Item {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, native(value)]));
}

function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}

/** Values that compare as equal if they are: numbers by their text, binary by its bytes. */
function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString("base64") };
  if (value instanceof Set) return { set: [...value].map(comparable).map(String).sort() };
  if (value instanceof access.Exact) return Number(value.text);
  if (Array.isArray(value)) return value.map(comparable);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, v]) => [name, comparable(v)]));
}

function some(item: access.Item, names: string[]): unknown {
  const has = (name: string) => Object.prototype.hasOwnProperty.call(item, name);
  return comparable(
    Object.fromEntries(names.map((name) => [name, has(name) ? item[name] : undefined])),
  );
}

interface Expectation {
  run: () => unknown;
  table: string;
  count?: number;
  keys?: access.Item[];
  ordered?: boolean;
  entities?: string[];
  pages?: number;
  refused?: boolean;
}

async function itemsOf(result: unknown): Promise<{ items: access.Item[]; pages: number }> {
  if (!(result instanceof access.Results)) {
    const item = await result;
    return { items: item === undefined ? [] : [item as access.Item], pages: 1 };
  }
  const found = { items: [] as access.Item[], pages: 0 };
  for await (const page of result.pages()) {
    found.items.push(...page.items);
    found.pages++;
  }
  return found;
}

/** The result of a write, of which the model expects nothing but that it succeeds. */
async function written(result: Promise<unknown>): Promise<undefined> {
  await result;
  return undefined;
}

/** The entity of the sample's row that has the item's key. */
function entityOf(name: string, item: access.Item): string | null {
  const table = SAMPLE.Tables.find((at) => at.CreateTable.TableName === name);
  const names = table!.CreateTable.KeySchema!.map((key) => key.AttributeName!);
  const same = (row: access.Item) =>
    JSON.stringify(some(row, names)) === JSON.stringify(some(item, names));
  return table!.Rows.find((row) => same(nativeItem(row.Item)))?.Entity ?? null;
}

async function check(expected: Expectation): Promise<void> {
  if (expected.refused) {
    await assert.rejects(
      async () => itemsOf(expected.run()),
      (error) => error instanceof sdk.DynamoDBServiceException || error instanceof RangeError,
    );
    return;
  }
  const { items, pages } = await itemsOf(expected.run());
  if (expected.count !== undefined) assert.strictEqual(items.length, expected.count);
  if (expected.pages !== undefined) assert.strictEqual(pages, expected.pages);
  if (expected.keys !== undefined) {
    const keys = expected.keys;
    assert.strictEqual(items.length, keys.length);
    const found = items.map((item, i) =>
      some(item, Object.keys(keys[expected.ordered === false ? 0 : i])));
    const wanted = keys.map(comparable);
    const inOrder = (list: unknown[]) =>
      expected.ordered === false ? list.map((at) => JSON.stringify(at)).sort() : list;
    assert.deepStrictEqual(inOrder(found), inOrder(wanted));
  }
  if (expected.entities !== undefined) {
    const found = new Set(items.map((item) => entityOf(expected.table, item)));
    assert.deepStrictEqual([...found].sort(), [...new Set(expected.entities)].sort());
  }
}

/** What is built is in the sample's row. */
function checkBuilt(table: number, row: number, built: object): void {
  const item = nativeItem(SAMPLE.Tables[table].Rows[row].Item);
  const names = Object.keys(built);
  assert.deepStrictEqual(some(built as access.Item, names), some(item, names));
}

before(async () => {
  for (const table of SKIP ? [] : SAMPLE.Tables) {
    const name = `model-test-${crypto.randomUUID()}`;
    await client.send(new sdk.CreateTableCommand({ ...table.CreateTable, TableName: name }));
    tables.set(table.CreateTable.TableName!, name);
    await sdk.waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1 }, { TableName: name });
    for (const row of table.Rows) {
      const Item = access._encodeItem(nativeItem(row.Item));
      await client.send(new sdk.PutItemCommand({ TableName: name, Item }));
    }
  }
});

after(async () => {
  for (const name of tables.values())
    await client.send(new sdk.DeleteTableCommand({ TableName: name }));
  client.destroy();
});

