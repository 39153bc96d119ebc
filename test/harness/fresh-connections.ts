import { get } from 'node:http';

export interface FreshConnectionsOptions {
  /** Concurrent connections. */
  clients: number;
  /** Number of requests, unless `until` ends them. */
  count?: number;
  until?: Promise<unknown>;
  /** A request without a response within this time has failed. Default: 5 seconds. */
  timeoutMs?: number;
  headers?: Record<string, string>;
}

/** Sends requests, each over a new connection. */
export async function sendFreshConnections(
  url: string,
  {
    clients,
    count = Number.POSITIVE_INFINITY,
    until,
    timeoutMs = 5000,
    headers = {},
  }: FreshConnectionsOptions,
): Promise<{ sent: number; failures: string[] }> {
  const failures: string[] = [];
  let left = count;
  let sent = 0;
  void until?.then(() => {
    left = 0;
  });
  const client = async () => {
    while (left > 0) {
      left -= 1;
      sent += 1;
      const failure = await sendOnce(url, { timeoutMs, headers });
      if (failure !== null) failures.push(failure);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { sent, failures };
}

/** Returns the reason why the request failed, or null. */
function sendOnce(
  url: string,
  { timeoutMs, headers }: Required<Pick<FreshConnectionsOptions, 'timeoutMs' | 'headers'>>,
): Promise<string | null> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: timeoutMs, headers }, (response) => {
      response.once('error', (error) => resolve(error.message));
      response.once('end', () =>
        resolve(response.statusCode === 200 ? null : `status ${response.statusCode}`),
      );
      response.resume();
    });
    request.once('timeout', () => request.destroy(new Error(`no response within ${timeoutMs} ms`)));
    request.once('error', (error) => resolve(error.message));
  });
}
