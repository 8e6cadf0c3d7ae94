// frames.js -- what drawing costs the page's main thread.
//
// Measured in CPU time: how long a frame takes on the clock also depends on the other programs that
// share the machine.
'use strict';

// Scrolls `box` to `places`, some near the last one and some far away, and draws a frame at each. The
// milliseconds of CPU time that the costliest one took, its script, layout and painting included.
async function costliestFrame(page, box, places) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find((metric) => metric.name === 'TaskDuration').value * 1000;
  };
  let worst = 0;
  for (let place = 0; place < places; place += 1) {
    const before = await busy();
    await box.evaluate((element, i) => new Promise((resolve) => {
      const channel = new MessageChannel(); // Its message comes after the paint.
      channel.port1.onmessage = resolve;
      element.scrollTop = i % 3 ? element.scrollTop + 400 : ((i * 7919) % 100) * 0.01 * element.scrollHeight;
      requestAnimationFrame(() => channel.port2.postMessage(0));
    }), place);
    worst = Math.max(worst, (await busy()) - before);
  }
  await session.detach();
  return worst;
}

module.exports = { costliestFrame };
