import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError, badRequest } from '../../kernel/errors.ts';
import { parseJson } from '../../platform/json.ts';
import { assertNoInvalidText } from '../validation.ts';
import { carriesIdempotencyKey } from './idempotency.ts';

/** Bodies are JSON up to 1 MB (docs/decisions/lists-and-ids.md#bodies). */
export const BODY_LIMIT_BYTES = 1_048_576;

/** Time in which a request must send its body. */
const BODY_MS = 60_000;

/**
 * Refuses bodies that do not come to their end in time, and hangs up, but for those of the routes that stream them. It is
 * an answer like any other, with the headers of a key that was accepted (docs/concepts/conventions.md#headers).
 */
export function bodyDeadline(app: FastifyInstance, limitMs = BODY_MS): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    if (hasBody(raw) && request.routeOptions.config.streams !== true) {
      const refuse = () => {
        if (reply.sent || reply.raw.headersSent) raw.destroy();
        else reply.header('connection', 'close').send(new AppError('REQUEST_TIMEOUT'));
      };
      const timer = setTimeout(refuse, limitMs).unref();
      raw.once('end', () => clearTimeout(timer));
      raw.once('close', () => clearTimeout(timer));
    }
    done();
  });
}

/** Reports whether the request announces a body that is not empty. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
}

const FORM_TYPE = /^(application\/x-www-form-urlencoded|text\/plain)\b/i;
const INVALID = 'The body is not valid JSON, or is nested more than 64 levels deep.';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses JSON bodies and keeps their bytes; every other media type is 415. */
export function jsonBody(app: FastifyInstance): void {
  app.decorateRequest('rawBody', null);
  app.decorateRequest('bodyFailure', null);
  // Clients such as curl send a form's media type with the empty body of a call without one.
  app.addHook('onRequest', ({ routeOptions, raw }, _reply, done) => {
    const { headers } = raw;
    const isForm = FORM_TYPE.test(headers['content-type'] ?? '');
    if (!hasBody(raw) && isForm && routeOptions.config.route !== undefined) delete headers['content-type'];
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    const body = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    request.rawBody = body;
    try {
      done(null, readBody(body));
    } catch (error) {
      const failure = error instanceof AppError ? error : badRequest('body', INVALID);
      if (!carriesIdempotencyKey(request)) return done(failure);
      request.bodyFailure = failure;
      done(null, undefined);
    }
  });
}

function readBody(bytes: Buffer): unknown {
  const text = utf8.decode(bytes);
  if (text.trim() === '') return undefined;
  const value = parseJson(text);
  assertNoInvalidText(text, value);
  return value;
}
