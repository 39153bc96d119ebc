import type { IncomingMessage } from 'node:http';

/** The parameters of a request, with those in brackets as objects. */
export type Params = { [name: string]: string | Params };

/** A request to an API that takes forms. */
export interface Call {
  method: string;
  path: string;
  /** Parameters of the query and of the body. */
  params: Params;
  idempotencyKey: string | null;
  /** The header `Stripe-Account`. */
  account: string | null;
}

export async function readCall(request: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const url = new URL(request.url ?? '/', 'http://stripe');
  const sent = new URLSearchParams(Buffer.concat(chunks).toString());
  const { 'idempotency-key': key, 'stripe-account': account } = request.headers;
  return {
    method: request.method ?? '',
    path: url.pathname,
    params: bracketed([...url.searchParams, ...sent]),
    idempotencyKey: typeof key === 'string' && request.method === 'POST' ? key : null,
    account: typeof account === 'string' ? account : null,
  };
}

/** `a[b][0]=c` as `{a: {b: {0: 'c'}}}`. */
function bracketed(pairs: [string, string][]): Params {
  const params: Params = {};
  for (const [name, value] of pairs) {
    const path = name.split(/[[\]]+/).filter((part) => part !== '');
    const last = path.pop() ?? '';
    let into = params;
    for (const part of path) {
      const below = into[part];
      const next: Params = typeof below === 'object' ? below : {};
      into[part] = next;
      into = next;
    }
    into[last] = value;
  }
  return params;
}
