import type { FastifyInstance } from 'fastify';
import { keyIdOf } from '../../kernel/access.ts';
import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import { AppError, ERRORS } from '../../kernel/errors.ts';
import type { Deprecation } from '../../kernel/release.ts';
import type { HttpPorts } from '../ports.ts';
import type { Route } from '../route.ts';

/**
 * The least time between the announcement and the end of an endpoint (docs/decisions/versions.md#deprecation).
 */
const NOTICE_MONTHS = 12;
const GONE = 410;

const midnight = (day: string) => Temporal.PlainDate.from(day).toZonedDateTime('UTC').epochMilliseconds;

/** @throws {Error} for an announcement that breaks the policy: a mistake in the program. */
export function assertDeprecationPolicy({
  operationId,
  deprecated,
}: Pick<Route, 'operationId' | 'deprecated'>): void {
  if (deprecated === undefined) return;
  const earliest = Temporal.PlainDate.from(deprecated.since).add({ months: NOTICE_MONTHS });
  if (Temporal.PlainDate.compare(deprecated.sunset, earliest) < 0) {
    throw new Error(`${operationId} must be announced for ${NOTICE_MONTHS} months`);
  }
  if (ERRORS[deprecated.code].status !== GONE) {
    throw new Error(`${operationId} must end in a code of status ${GONE}`);
  }
}

interface Options extends Pick<HttpPorts, 'deprecatedUses'> {
  clock: Clock;
  basePath: string;
}

/**
 * Announces the end of endpoints on every answer of theirs: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and
 * `Link`. From the sunset on they are gone, for callers without a key too.
 */
export function deprecation(app: FastifyInstance, options: Options): void {
  const { clock, basePath, deprecatedUses } = options;
  app.decorateRequest('gone', null);
  app.addHook('onRequest', (request, reply, done) => {
    const deprecated = request.endpoint?.deprecated;
    if (deprecated === undefined) return done();
    const sunset = midnight(deprecated.sunset);
    reply.header('Deprecation', `@${midnight(deprecated.since) / 1000}`);
    reply.header('Sunset', dateFromMs(sunset).toUTCString());
    reply.header('Link', links(deprecated, basePath));
    if (clock.ms() >= sunset) request.gone = sunsetError(deprecated, basePath);
    done();
  });
  app.addHook('onResponse', (request, _reply, done) => {
    const { caller, endpoint: route } = request;
    if (route?.deprecated !== undefined && caller !== null && keyIdOf(caller) !== null) {
      const endpoint = `${route.method} ${route.path}`;
      deprecatedUses.note({ workspaceId: caller.workspaceId, endpoint });
    }
    done();
  });
}

function links({ successor }: Deprecation, basePath: string): string {
  const changelog = `<${basePath}/changelog>; rel="deprecation"; type="application/json"`;
  return successor === null ? changelog : `${changelog}, <${basePath}${successor}>; rel="successor-version"`;
}

function sunsetError({ sunset, successor, code }: Deprecation, basePath: string): AppError {
  const instead = successor === null ? '' : ` Use ${basePath}${successor}.`;
  return new AppError(code, { message: `This endpoint was removed on ${sunset}.${instead}` });
}
