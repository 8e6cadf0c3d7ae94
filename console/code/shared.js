// shared.js -- what the printers have in common.

// As botocore does: SSESpecification -> sse_specification.
export const snake = (name) => name.replace(/(.)([A-Z][a-z]+)/g, '$1_$2').replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
export const kebab = (name) => snake(name).replace(/_/g, '-');
export const lowerFirst = (name) => name[0].toLowerCase() + name.slice(1);

// JSON without a prototype's surprises, indented.
export const json = (value, indent) => JSON.stringify(value, null, indent);

// A text between single quotes of a shell.
export const shell = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);

const TYPES = new Set(['S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS']);

// Parameters whose content are attribute values: name -> shape.
const SHAPES = {
  Key: 'item', Item: 'item', ExpressionAttributeValues: 'item', ExclusiveStartKey: 'item', Parameters: 'list', Keys: 'items',
};
// Only of structures: a tag has a Key as well.
export const shapeOf = (name, content) => (typeof content === 'object' ? SHAPES[name] : undefined);

export function typeOf(raw) {
  const type = Object.keys(raw)[0];
  if (!TYPES.has(type)) throw new Error(`${type} is no type`);
  return type;
}

// The class of a structure below a parameter of this name, in Java and in Go.
const CLASSES = {
  KeySchema: 'KeySchemaElement', AttributeDefinitions: 'AttributeDefinition', GlobalSecondaryIndexes: 'GlobalSecondaryIndex', LocalSecondaryIndexes: 'LocalSecondaryIndex', Tags: 'Tag', TransactItems: 'TransactWriteItem', Statements: 'BatchStatementRequest', TransactStatements: 'ParameterizedStatement',
  GlobalSecondaryIndexUpdates: 'GlobalSecondaryIndexUpdate', 'GlobalSecondaryIndexUpdates.Create': 'CreateGlobalSecondaryIndexAction', 'GlobalSecondaryIndexUpdates.Update': 'UpdateGlobalSecondaryIndexAction', 'GlobalSecondaryIndexUpdates.Delete': 'DeleteGlobalSecondaryIndexAction',
};
// These have the name of their parameter.
const OF_THEIR_NAME = new Set(['Projection', 'ProvisionedThroughput', 'StreamSpecification', 'TimeToLiveSpecification', 'PointInTimeRecoverySpecification', 'Put', 'Delete', 'Update', 'ConditionCheck', 'Get', 'PutRequest', 'DeleteRequest', 'WriteRequest', 'KeysAndAttributes']);

export function classOf(name, parent, content) {
  if (name === 'TransactItems' && content?.[0]?.Get) return 'TransactGetItem';
  return CLASSES[`${parent}.${name}`] ?? CLASSES[name] ?? (OF_THEIR_NAME.has(name) ? name : undefined);
}

// For structures that are in no table here: the language is then not offered.
class Unknown extends Error {}
export function textsOf(content, name) {
  const isKnown = Array.isArray(content) || name === 'ExpressionAttributeNames';
  if (!isKnown || Object.values(content).some((one) => typeof one !== 'string')) throw new Unknown();
  return content;
}
export function unlessUnknown(print) {
  return (operation, parameters, options) => {
    try {
      return print(operation, parameters, options);
    } catch (error) {
      if (error instanceof Unknown) return null;
      throw error;
    }
  };
}

// Parameters that are seconds since 1970.
export const isTime = (name) => name === 'RestoreDateTime';
