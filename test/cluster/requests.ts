/** Result of one request of the load. */
export interface Sample {
  /** Time of its end, by `performance.now()`. */
  atMs: number;
  tookMs: number;
  /** HTTP status, or why there was none. */
  outcome: number | 'reset' | 'timeout';
}

interface Response {
  sample: Sample;
  text: string;
}

export interface RequestOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: object;
}

const TIMEOUT_MS = 20_000;

/** Sends a request and never throws. */
export async function sample(
  url: string,
  { method = 'GET', headers = {}, body }: RequestOptions = {},
): Promise<Response> {
  const begun = performance.now();
  const end = (outcome: Sample['outcome'], text: string): Response => {
    const atMs = performance.now();
    return { sample: { atMs, tookMs: atMs - begun, outcome }, text };
  };
  try {
    const response = await fetch(url, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return end(response.status, await response.text());
  } catch (error) {
    return end(error instanceof DOMException ? 'timeout' : 'reset', '');
  }
}

export const isOk = ({ outcome }: Sample): boolean => typeof outcome === 'number' && outcome < 300;
