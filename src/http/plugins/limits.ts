import type { FastifyInstance, FastifyRequest } from 'fastify';
import { tooManyRequests } from '../../kernel/errors.ts';
import { ipBlock } from '../../kernel/ip-block.ts';
import { counterKey, type WindowCount } from '../../platform/counters.ts';
import type { HttpPorts } from '../ports.ts';
import type { Limit } from '../route.ts';

type Ports = { counters: Pick<HttpPorts['counters'], 'window'> };

/**
 * The caps of single endpoints (docs/concepts/conventions.md#rate-limits): after key, limit and policy, before the
 * body is read.
 */
export function limits(app: FastifyInstance, ports: Ports): void {
  // Not async: endpoints without a limit need no promise.
  app.addHook('onRequest', (request, _reply, done) => {
    const limits = request.endpoint?.limits;
    if (limits === undefined) return done();
    countAll(ports, limits, request).then(() => done(), done);
  });
}

async function countAll(ports: Ports, limits: readonly Limit[], request: FastifyRequest): Promise<void> {
  for (const limit of limits) {
    const subject = subjectOf(limit, request);
    if (subject !== null) await count(ports, limit, subject);
  }
}

/**
 * Counts one request of an address against a limit, for pages that are no endpoints.
 *
 * @throws {AppError} RATE_LIMITED with `Retry-After`.
 */
export function limitByIp(ports: Ports, limit: Limit, ip: string): Promise<void> {
  return count(ports, limit, ipBlock(ip));
}

/**
 * Applies the limit to a signed-in person: a session counts as on endpoints. @throws {AppError} RATE_LIMITED.
 */
export function limitByActor(ports: Ports, limit: Limit, actorId: string): Promise<void> {
  return count(ports, limit, actorId);
}

async function count(ports: Ports, limit: Limit, subject: string): Promise<void> {
  const window = await hit(ports, limit, subject);
  if (window.count > limit.max) throw tooManyRequests(limit.refusal, window.resetInMs);
}

async function hit(ports: Ports, { bucket, per, windowSec }: Limit, subject: string): Promise<WindowCount> {
  return ports.counters.window(windowSec).hit(counterKey(`${bucket}:${per}:${subject}`));
}

/** Null where a key is counted and none came, as on public endpoints. A session counts as a key does. */
function subjectOf({ per, param }: Limit, request: FastifyRequest): string | null {
  const who = per === 'ip' ? ipBlock(request.ip) : request.caller?.actor.id;
  if (who === undefined) return null;
  return param === undefined ? who : `${who}:${paramOf(request.params, param)}`;
}

function paramOf(params: unknown, name: string): string {
  if (typeof params !== 'object' || params === null) return '';
  const value = String(Object.entries(params).find(([key]) => key === name)?.[1] ?? '');
  // Invalid IDs share one counter: they name no resource, so they need not be distinguished.
  return ID.test(value) ? value : '';
}

/** All ids are made of these, and no longer. */
const ID = /^[\w-]{1,64}$/;
