/** A request that carries an Idempotency-Key. */
export interface IdempotentRequest {
  workspaceId: string;
  /** Scope of the key and the key itself: API key, method, path, Idempotency-Key. */
  scope: readonly string[];
  /** Digest of the request parts that must be equal in a repetition. */
  fingerprint: Uint8Array;
  /** Fingerprint as releases before 0.3 computed it from the bytes; their records last for 24 hours. */
  legacyFingerprint: Uint8Array;
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

/** Reports whether the record of a key was made for the same body. */
export function isSameBody(request: IdempotentRequest, recorded: Uint8Array): boolean {
  return [request.fingerprint, request.legacyFingerprint].some((one) => Buffer.compare(one, recorded) === 0);
}

/** The key of a request, in the forms that the steps need. */
export interface Claim {
  request: IdempotentRequest;
  id: Buffer;
  name: string;
}
