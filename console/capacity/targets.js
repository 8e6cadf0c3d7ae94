// targets.js -- the table and its indexes as Application Auto Scaling names them. No DOM.

export const service = 'autoscaling';
export const ServiceNamespace = 'dynamodb';

// The table and its global indexes, read and write, as Application Auto Scaling names them.
export function dimensions(table) {
  const of = (label, ResourceId, kind, units) => ['Read', 'Write'].map((way) => ({ label: `${label}, ${way.toLowerCase()}`, way, units: units?.[`${way}CapacityUnits`] ?? 0, target: { ServiceNamespace, ResourceId, ScalableDimension: `dynamodb:${kind}:${way}CapacityUnits` } }));
  const id = `table/${table.TableName}`;
  return [...of('Table', id, 'table', table.ProvisionedThroughput), ...(table.GlobalSecondaryIndexes ?? []).flatMap((one) => of(one.IndexName, `${id}/index/${one.IndexName}`, 'index', one.ProvisionedThroughput))];
}

export const isFor = ({ target }) => (one) => one.ResourceId === target.ResourceId && one.ScalableDimension === target.ScalableDimension;
