// read_metric.js URL REQUEST -- prints a metric's first point, read by the SDK's CloudWatch client.
'use strict';
const { CloudWatchClient, GetMetricStatisticsCommand } = require('@aws-sdk/client-cloudwatch');

async function main(url, request) {
  const client = new CloudWatchClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
    maxAttempts: 1,
  });
  const input = JSON.parse(request);
  input.StartTime = new Date(input.StartTime * 1000);
  input.EndTime = new Date(input.EndTime * 1000);
  const { Datapoints } = await client.send(new GetMetricStatisticsCommand(input));
  client.destroy();
  console.log(JSON.stringify(Datapoints));
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
