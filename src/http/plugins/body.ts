import type { FastifyInstance } from 'fastify';
import { parse } from 'secure-json-parse';
import { AppError, badRequest } from '../../kernel/errors.ts';
import { assertStorable } from '../validation.ts';

/** Bodies are JSON up to 1 MB (`api.md` C0). */
export const BODY_LIMIT_BYTES = 1_048_576;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses JSON bodies and keeps the text; every other media type is 415. */
export function jsonBody(app: FastifyInstance): void {
  app.decorateRequest('rawBody', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      const text = typeof bytes === 'string' ? bytes : utf8.decode(bytes);
      request.rawBody = text;
      if (text.trim() === '') return done(null, undefined);
      const value: unknown = parse(text);
      assertStorable(text, value);
      done(null, value);
    } catch (error) {
      done(error instanceof AppError ? error : badRequest('body', 'The body is not valid JSON.'));
    }
  });
}
