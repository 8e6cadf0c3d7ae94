/* app.js -- two stacks, of which one imports from the other, for test_cloudformation_cdk.py. STAGE is
 * part of a name, INDEX adds an index. */
const cdk = require('aws-cdk-lib');
const dynamodb = require('aws-cdk-lib/aws-dynamodb');
const app = new cdk.App({ analyticsReporting: false });
const shop = new cdk.Stack(app, 'Shop');
const orders = new dynamodb.TableV2(shop, 'Orders', {
  partitionKey: { name: 'customer', type: dynamodb.AttributeType.STRING },
  sortKey: { name: 'order', type: dynamodb.AttributeType.STRING },
  globalSecondaryIndexes: [{ indexName: 'byStatus',
    partitionKey: { name: 'status', type: dynamodb.AttributeType.STRING } }],
  timeToLiveAttribute: 'expires',
  removalPolicy: cdk.RemovalPolicy.DESTROY,
});
const audit = new dynamodb.Table(shop, 'Audit', {
  partitionKey: { name: 'id', type: dynamodb.AttributeType.STRING },
  billingMode: dynamodb.BillingMode.PROVISIONED,
  removalPolicy: cdk.RemovalPolicy.DESTROY,
});
audit.autoScaleReadCapacity({ minCapacity: 1, maxCapacity: 10 })
  .scaleOnUtilization({ targetUtilizationPercent: 70 });
new cdk.CfnOutput(shop, 'OrdersName', { value: orders.tableName, exportName: 'orders-name' });
const report = new cdk.Stack(app, 'Report');
report.addStackDependency(shop);
const sums = new dynamodb.Table(report, 'Sums', {
  partitionKey: { name: 'day', type: dynamodb.AttributeType.STRING },
  tableName: 'sums-' + (process.env.STAGE || 'dev'),
  removalPolicy: cdk.RemovalPolicy.RETAIN,
});
new cdk.CfnOutput(report, 'From', { value: cdk.Fn.importValue('orders-name') });
if (process.env.INDEX)
  sums.addGlobalSecondaryIndex({ indexName: 'byMonth',
    partitionKey: { name: 'month', type: dynamodb.AttributeType.STRING } });
