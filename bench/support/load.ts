import autocannon from 'autocannon';

/** What the process is to send. */
export interface LoadRequest {
  url: string;
  /** Of one request after the other. */
  headers: Record<string, string>[];
  connections: number;
  /** Default: until it is killed. */
  seconds?: number;
}

/** Sends requests with these headers in turn: a process of its own, so that it can be told apart. */
process.once('message', async ({ url, headers, connections, seconds = 3600 }: LoadRequest) => {
  const requests = headers.map((one) => ({ method: 'GET' as const, headers: one }));
  const result = await autocannon({ url, connections, duration: seconds, requests });
  process.send?.({
    requests: result['2xx'],
    seconds: result.duration,
    failed: result.non2xx + result.errors,
  });
});
process.once('disconnect', () => process.exit());
