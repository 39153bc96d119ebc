import type { FastifyInstance } from 'fastify';
import { badRequest } from '../../kernel/errors.ts';
import { isIsoDate } from '../../kernel/iso-date.ts';
import { API_VERSIONS, latestPublished, publishedReleases } from '../../kernel/release.ts';

export const VERSION_HEADER = 'Svc-API-Version';

/** Oldest first (docs/concepts/conventions.md#versions, docs/decisions/versions.md). */
const PUBLISHED = publishedReleases(API_VERSIONS);

export const LATEST_VERSION: string = latestPublished(API_VERSIONS).version;

/**
 * The exact release that a requested version means: `1`, `1.0`, `1.0.0`, or a date, which means the release
 * in force on that day.
 *
 * @throws {AppError} BAD_REQUEST, field `Svc-API-Version`.
 */
export function resolveVersion(requested: string): string {
  if (isIsoDate(requested)) {
    const release = PUBLISHED.findLast((candidate) => candidate.date <= requested);
    if (release !== undefined) return release.version;
  } else if (/^\d+(\.\d+){0,2}$/.test(requested)) {
    const release = PUBLISHED.findLast(({ version }) => `${version}.`.startsWith(`${requested}.`));
    if (release !== undefined) return release.version;
  }
  const supported = PUBLISHED.map(({ version, date }) => `${version} (or a date from ${date})`).join(', ');
  throw badRequest(VERSION_HEADER, `This version is not supported. Supported: 1, 1.0, ${supported}.`);
}

/** Names the release that responded on every response, errors and preflights included. */
export function versionHeader(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('svc-api-version', LATEST_VERSION);
    reply.header('vary', VERSION_HEADER);
    done();
  });
}

/** Resolves the release that the request asks for, and rejects an unknown one; after the key and the rate limit. */
export function version(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const requested = request.headers['svc-api-version'];
    if (requested === undefined || requested === '') return done();
    try {
      reply.header(VERSION_HEADER, resolveVersion(String(requested)));
      done();
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}
