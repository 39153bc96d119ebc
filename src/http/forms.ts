import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../kernel/errors.ts';
import type { WebAssets } from './assets.ts';
import { messagePage, type Page, sendPage } from './page.ts';

/** One field of a form or of a query; '' when it is missing, given more than once, or has a NUL, which no database takes. */
export function formField(fields: unknown, name: string): string {
  if (typeof fields !== 'object' || fields === null) return '';
  // Not by a list of all: a form may have a hundred thousand.
  const value: unknown = Object.getOwnPropertyDescriptor(fields, name)?.value;
  return typeof value === 'string' && !value.includes('\0') ? value : '';
}

/**
 * Rejects forms submitted by other sites; browsers report the origin of a form (Fetch Metadata).
 *
 * @throws {AppError} origin_not_allowed.
 */
export async function rejectCrossSite({ method, headers }: FastifyRequest): Promise<void> {
  const site = headers['sec-fetch-site'];
  if (method !== 'POST' || site === undefined || site === 'same-origin' || site === 'none') return;
  throw new AppError('origin_not_allowed', { message: 'Open this page directly and try again.' });
}

/** Sends an error page; unexpected errors go to the program's error handler, which logs them. */
export function sendFailure(
  assets: WebAssets,
  error: unknown,
  reply: FastifyReply,
  pageOf: (error: AppError) => Page,
): FastifyReply {
  if (!(error instanceof AppError)) throw error;
  reply.headers(error.headers);
  return sendPage(reply, assets, pageOf(error));
}

/** Returns the error page, with a custom text for a missing resource. */
export function failurePage(
  { code, status, message }: AppError,
  missing: { heading: string; text: string },
): Page {
  const words = code === 'NOT_FOUND' ? missing : { heading: 'Something went wrong', text: message };
  return { status, title: words.heading, body: messagePage({ ...words, isOff: true }), frames: "'none'" };
}
