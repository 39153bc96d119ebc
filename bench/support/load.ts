import autocannon from 'autocannon';

/** Order to the process: the requests to send. */
export interface LoadRequest {
  url: string;
  /** URLs on the same server, requested in turn instead of `url`. */
  inTurn?: string[];
  /** Headers, used by the requests in turn. */
  headers: Record<string, string>[];
  connections: number;
  /** Default: until it is killed. */
  seconds?: number;
}

/**
 * Sends requests with these headers in turn, in a separate process so that its cost can be measured
 * separately.
 */
process.once('message', async ({ url, inTurn = [], headers, connections, seconds = 3600 }: LoadRequest) => {
  const asked = inTurn.length > 0 ? inTurn : [url];
  const requests = Array.from({ length: Math.max(asked.length, headers.length) }, (_, n) => ({
    method: 'GET' as const,
    path: (asked[n % asked.length] ?? url).slice(new URL(url).origin.length),
    headers: headers[n % headers.length] ?? {},
  }));
  const result = await autocannon({ url, connections, duration: seconds, requests });
  process.send?.({
    requests: result['2xx'],
    seconds: result.duration,
    failed: result.non2xx + result.errors,
  });
});
process.once('disconnect', () => process.exit());
