import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../kernel/access.ts';
import { AppError, type ErrorCode } from '../../kernel/errors.ts';
import type { IdempotentOutcome, StoredResponse } from '../../platform/db/idempotency.ts';
import type { HttpPorts } from '../ports.ts';
import { logRefusal, toAppError } from './errors.ts';

const FORMAT = /^[A-Za-z0-9_-]{8,255}$/;
const REQUEST_HEADER = 'Idempotency-Key';
const STATE_HEADER = 'X-SVC-Idempotency';
const REPLAY_HEADER = 'X-SVC-Idempotent-Replay';
export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * The Idempotency-Key of a request, or null where none was sent (docs/api/conventions.md#idempotency).
 *
 * @throws {AppError} INVALID_IDEMPOTENCY_KEY, for a repeated header too: its values arrive joined by a comma.
 */
export function idempotencyKeyOf(headers: FastifyRequest['headers']): string | null {
  const sent = headers['idempotency-key'];
  if (sent === undefined) return null;
  if (typeof sent === 'string' && FORMAT.test(sent)) return sent;
  throw new AppError('INVALID_IDEMPOTENCY_KEY', { field: REQUEST_HEADER });
}

interface IdempotentCall {
  key: string;
  caller: Caller;
  request: FastifyRequest;
  reply: FastifyReply;
  /** The handler asks others, so no transaction is held while it runs. */
  isLeased: boolean;
  /** Runs the handler; sets the status of the reply and returns its envelope, as JSON. */
  handle(operationId: string | null): Promise<string>;
}

type Ports = Pick<HttpPorts, 'idempotency' | 'conflict' | 'log'>;

/**
 * Answers a request that carries an Idempotency-Key: runs the handler, or replays its response
 * (docs/api/conventions.md#idempotency, docs/decisions/idempotency.md). Only what a handler answered is stored:
 * 2xx and 4xx, but no 429, which time heals.
 *
 * @throws {AppError} IDEMPOTENCY_KEY_REUSE, IDEMPOTENCY_IN_FLIGHT, and what the handler throws unstored.
 */
export async function answerOnce(ports: Ports, call: IdempotentCall): Promise<FastifyReply> {
  const { key, caller, request, reply } = call;
  let ran = false;
  const claim = {
    workspaceId: caller.workspaceId,
    scope: [holderOf(caller), request.method, request.url.split('?', 1)[0] ?? '', key],
    fingerprint: fingerprintOf(request),
  };
  let outcome: IdempotentOutcome;
  try {
    const run = (operationId: string | null) => {
      ran = true;
      return respond(ports, call, operationId);
    };
    outcome = await (call.isLeased
      ? ports.idempotency.onceLeased(claim, run)
      : ports.idempotency.once(claim, () => run(null)));
  } catch (error) {
    // Before the handler ran, only the store can have failed.
    reply.header(STATE_HEADER, ran ? 'not_stored' : 'unavailable');
    throw error;
  }
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

/** A key is of one workspace; a session says with each request which one it is for. */
function holderOf({ actor, workspaceId }: Caller): string {
  return actor.kind === 'key' ? actor.id : `${actor.id} ${workspaceId}`;
}

/** The bytes as they were sent: a repetition that was serialised anew is another body. */
function fingerprintOf(request: FastifyRequest): Uint8Array {
  const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  return Buffer.from(hash('sha256', `${mediaType}\n${request.rawBody ?? ''}`, 'hex'), 'hex');
}

/** Of a stored refusal, whose text `respond` wrote. */
function codeOf({ status, body }: StoredResponse): ErrorCode | null {
  if (status < 400) return null;
  const { error }: { error: ErrorCode | { code: ErrorCode } } = JSON.parse(body);
  return typeof error === 'string' ? error : error.code;
}

/** The response as text, so that what is stored is what is sent. */
async function respond(
  ports: Ports,
  { request, reply, handle }: IdempotentCall,
  operationId: string | null,
): Promise<StoredResponse> {
  try {
    const body = await handle(operationId);
    return { status: reply.statusCode, body };
  } catch (error) {
    const failure = toAppError(error, ports.conflict);
    if (failure.status >= 500 || failure.status === 429) throw error;
    logRefusal(ports.log, failure, request.id);
    request.errorCode = failure.code;
    request.quotaRefusal = failure.refusal ?? null;
    reply.headers(failure.headers);
    return { status: failure.status, body: JSON.stringify(failure.body()) };
  }
}
