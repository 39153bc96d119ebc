import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../kernel/access.ts';
import { AppError, type ErrorCode } from '../../kernel/errors.ts';
import type { IdempotentOutcome, IdempotentRequest, StoredResponse } from '../../platform/db/idempotency.ts';
import { canonicalJson } from '../../platform/json.ts';
import type { HttpPorts } from '../ports.ts';
import { logRejection, toAppError } from './errors.ts';

const FORMAT = /^[A-Za-z0-9_-]{8,255}$/;
const REQUEST_HEADER = 'Idempotency-Key';
const STATE_HEADER = 'X-SVC-Idempotency';
const REPLAY_HEADER = 'X-SVC-Idempotent-Replay';
export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * The Idempotency-Key of a request, or null where none was sent (docs/concepts/conventions.md#idempotency).
 *
 * @throws {AppError} INVALID_IDEMPOTENCY_KEY, for a repeated header too: its values arrive joined by a comma.
 */
export function idempotencyKeyOf(headers: FastifyRequest['headers']): string | null {
  const sent = headers['idempotency-key'];
  if (sent === undefined) return null;
  if (typeof sent === 'string' && FORMAT.test(sent)) return sent;
  throw new AppError('INVALID_IDEMPOTENCY_KEY', { field: REQUEST_HEADER });
}

/** Reports whether the endpoint reads the Idempotency-Key that the request carries. */
export function carriesIdempotencyKey({ endpoint, headers }: FastifyRequest): boolean {
  const isIdempotent = endpoint !== null && endpoint.idempotent !== false;
  return isIdempotent && headers['idempotency-key'] !== undefined;
}

/** Runs the handler; sets the status of the reply and returns its envelope, as JSON. */
type Handle = (idempotentRunId: string | null) => Promise<string>;

interface IdempotentCall {
  key: string;
  caller: Caller;
  request: FastifyRequest;
  reply: FastifyReply;
  /** The handler asks others, so no transaction is held while it runs. */
  isLeased: boolean;
  /** Validates the input. @throws {AppError} BAD_REQUEST. */
  prepare(): Handle;
}

type Ports = Pick<HttpPorts, 'idempotency' | 'databaseFailure' | 'log'>;

/**
 * Answers a request that carries an Idempotency-Key: runs the handler, or replays its response
 * (docs/concepts/conventions.md#idempotency, docs/decisions/idempotency.md). A key whose response is stored is answered
 * before the input is validated. Only the responses of handlers are stored: 2xx and 4xx except 429.
 *
 * @throws {AppError} IDEMPOTENCY_KEY_REUSE, IDEMPOTENCY_IN_FLIGHT, what `prepare` throws for a key without a stored
 * response, and what the handler throws unstored.
 */
export async function replayOrRun(ports: Ports, call: IdempotentCall): Promise<FastifyReply> {
  // First: validation fills defaults into the body.
  const claim = claimOf(call);
  const prepared = prepare(call);
  const outcome =
    typeof prepared === 'function'
      ? await runOnce(ports, call, claim, prepared)
      : await storedOutcome(ports, call, claim);
  if (outcome === null) throw prepared;
  return sendOutcome(call, outcome);
}

function claimOf({ key, caller, request }: IdempotentCall): IdempotentRequest {
  return {
    workspaceId: caller.workspaceId,
    scope: [holderOf(caller), request.method, request.url.split('?', 1)[0] ?? '', key],
    ...fingerprintsOf(request),
  };
}

/** Returns the handler, or the failure of the validation. */
function prepare(call: IdempotentCall): Handle | Error {
  try {
    return call.prepare();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function storedOutcome(ports: Ports, { reply }: IdempotentCall, claim: IdempotentRequest) {
  try {
    return await ports.idempotency.find(claim);
  } catch (error) {
    reply.header(STATE_HEADER, 'unavailable');
    throw error;
  }
}

async function runOnce(
  ports: Ports,
  call: IdempotentCall,
  claim: IdempotentRequest,
  handle: Handle,
): Promise<IdempotentOutcome> {
  let ran = false;
  const run = (idempotentRunId: string | null) => {
    ran = true;
    return respond(ports, call, () => handle(idempotentRunId));
  };
  try {
    return await (call.isLeased
      ? ports.idempotency.onceLeased(claim, run)
      : ports.idempotency.once(claim, () => run(null)));
  } catch (error) {
    // Before the handler ran, only the store can have failed.
    call.reply.header(STATE_HEADER, ran ? 'not_stored' : 'unavailable');
    throw error;
  }
}

/** @throws {AppError} IDEMPOTENCY_KEY_REUSE, IDEMPOTENCY_IN_FLIGHT. */
function sendOutcome({ request, reply }: IdempotentCall, outcome: IdempotentOutcome): FastifyReply {
  if (outcome.kind === 'reused' || outcome.kind === 'in-flight') {
    reply.header(STATE_HEADER, 'not_stored');
    throw new AppError(outcome.kind === 'reused' ? 'IDEMPOTENCY_KEY_REUSE' : 'IDEMPOTENCY_IN_FLIGHT', {
      field: REQUEST_HEADER,
    });
  }
  reply.header(STATE_HEADER, outcome.kind);
  if (outcome.kind === 'replayed') reply.header(REPLAY_HEADER, 'true');
  const { status, body } = outcome.response;
  if (outcome.kind === 'replayed') request.errorCode = codeOf(outcome.response);
  return reply.status(status).header('Content-Type', JSON_TYPE).send(body);
}

/** A key belongs to one workspace; a session names the workspace in each request. */
function holderOf({ actor, workspaceId }: Caller): string {
  return actor.kind === 'key' ? actor.id : `${actor.id} ${workspaceId}`;
}

/** Digests of the body: of its JSON value, and of its bytes; both are the same where the body is not JSON. */
function fingerprintsOf({ headers, rawBody, body }: FastifyRequest) {
  const mediaType = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  const digest = (content: Buffer | string) =>
    hash('sha256', Buffer.concat([Buffer.from(`${mediaType}\n`), Buffer.from(content)]), 'buffer');
  const legacyFingerprint = digest(rawBody ?? '');
  return {
    fingerprint: body === undefined ? legacyFingerprint : digest(canonicalJson(body)),
    legacyFingerprint,
  };
}

/** Returns the error code of a stored rejection written by `respond`. */
function codeOf({ status, body }: StoredResponse): ErrorCode | null {
  if (status < 400) return null;
  const { error }: { error: ErrorCode | { code: ErrorCode } } = JSON.parse(body);
  return typeof error === 'string' ? error : error.code;
}

/** Returns the response as text, so that the stored response equals the sent one. */
async function respond(
  ports: Ports,
  { request, reply }: IdempotentCall,
  handle: () => Promise<string>,
): Promise<StoredResponse> {
  try {
    const body = await handle();
    return { status: reply.statusCode, body };
  } catch (error) {
    const failure = toAppError(error, ports.databaseFailure);
    if (failure.status >= 500 || failure.status === 429) throw error;
    logRejection(ports.log, failure, request.id);
    request.errorCode = failure.code;
    request.quotaRefusal = failure.quota ?? null;
    reply.headers(failure.headers);
    return { status: failure.status, body: JSON.stringify(failure.body()) };
  }
}
