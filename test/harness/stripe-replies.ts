import { randomBytes } from 'node:crypto';
import type { Params } from './form-request.ts';

/** Response to one request: the status, and the object as in Stripe's reference. */
export interface Reply {
  status: number;
  body: Thing;
}

/** An object of Stripe's. */
export type Thing = Record<string, unknown>;

export const OUT_OF_ORDER: Reply = {
  status: 500,
  body: { error: { type: 'api_error', message: 'Something went wrong on our end.' } },
};

export const REUSED: Reply = {
  status: 400,
  body: { error: { type: 'idempotency_error', message: 'Keys can only be used with the same parameters.' } },
};

export function ok(body: Thing): Reply {
  return { status: 200, body };
}

export function missing(id: string): Reply {
  const error = {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such object: '${id}'`,
  };
  return { status: 404, body: { error } };
}

export function refused(code: string, message: string): Reply {
  return { status: 400, body: { error: { type: 'invalid_request_error', code, message } } };
}

export function random(): string {
  return randomBytes(12).toString('hex');
}

export function isThing(value: unknown): value is Thing {
  return typeof value === 'object' && value !== null;
}

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`no text: ${JSON.stringify(value)}`);
  return value;
}

export function nested(value: string | Params | undefined): Params {
  return typeof value === 'object' ? value : {};
}
