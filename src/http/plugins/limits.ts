import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import type { WindowCount } from '../../platform/counters.ts';
import type { HttpPorts } from '../ports.ts';
import type { Limit } from '../route.ts';

type Ports = { counters: Pick<HttpPorts['counters'], 'window'> };

/**
 * The caps of single endpoints (docs/api/conventions.md#rate-limits): after key, limit and policy, before the
 * body is read.
 */
export function limits(app: FastifyInstance, ports: Ports): void {
  app.addHook('onRequest', async (request) => {
    for (const limit of request.routeOptions.config.route?.limits ?? []) {
      const subject = subjectOf(limit, request);
      if (subject !== null) await count(ports, limit, subject);
    }
  });
}

/**
 * Counts one request of an address against a limit, for pages that are no endpoints.
 *
 * @throws {AppError} RATE_LIMITED with `Retry-After`.
 */
export function countAddress(ports: Ports, limit: Limit, ip: string): Promise<void> {
  return count(ports, limit, addressBlock(ip));
}

async function count(ports: Ports, limit: Limit, subject: string): Promise<void> {
  const { bucket, per, max, windowSec } = limit;
  const window = await ports.counters.window(windowSec).hit(counterKey(`${bucket}:${per}:${subject}`));
  if (window.count > max) throw refusal(limit, window);
}

/** Of one size whatever came: a counter remembers many. */
function counterKey(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** Null where a key is counted and none came, as on public endpoints. */
function subjectOf({ per, param }: Limit, request: FastifyRequest): string | null {
  const who = per === 'ip' ? addressBlock(request.ip) : request.caller?.keyId;
  if (who === undefined) return null;
  return param === undefined ? who : `${who}:${paramOf(request.params, param)}`;
}

function paramOf(params: unknown, name: string): string {
  if (typeof params !== 'object' || params === null) return '';
  const value = String(Object.entries(params).find(([key]) => key === name)?.[1] ?? '');
  // What cannot be an id is counted as one: it names nothing that could be told apart.
  return ID.test(value) ? value : '';
}

/** All ids are made of these, and no longer. */
const ID = /^[\w-]{1,64}$/;

/** An IPv6 client holds a whole /64, so that is what counts as its address. */
export function addressBlock(ip: string): string {
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  const groups = [...left, ...(tail === undefined ? [] : missing), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

function refusal({ refusal: kind }: Limit, { resetInMs }: WindowCount): AppError {
  const retryAfter = Math.max(1, Math.ceil(resetInMs / 1000));
  const headers = { 'Retry-After': String(retryAfter) };
  if (kind !== 'plain') return new AppError(kind, { headers });
  return new AppError('RATE_LIMITED', { headers, plain: 'Too many requests', beside: { retryAfter } });
}
