/** A request that carries an Idempotency-Key. */
export interface IdempotentRequest {
  workspaceId: string;
  /** What the key counts within, and the key itself: API key, method, path, Idempotency-Key. */
  scope: readonly string[];
  /** A digest of what must be the same in a repetition. */
  fingerprint: Uint8Array;
}

export interface StoredResponse {
  status: number;
  /** The exact text. */
  body: string;
}

export type IdempotentOutcome =
  | { kind: 'stored' | 'replayed'; response: StoredResponse }
  /** The key belongs to another request body. */
  | { kind: 'reused' }
  /** Another request with the key still runs. */
  | { kind: 'in-flight' };

/** The key of a request, in the forms that the steps need. */
export interface Claim {
  request: IdempotentRequest;
  id: Buffer;
  name: string;
}
