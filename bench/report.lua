-- report.lua -- how every script of this folder ends: one line that bench/run reads.
function done(summary, latency, requests)
  local errors = summary.errors
  print(string.format("RESULT requests=%d duration_us=%d p50_us=%d p99_us=%d errors=%d",
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
