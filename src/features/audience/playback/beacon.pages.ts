import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { clientInfoOf } from '../../../http/client-info.ts';
import { OneOf } from '../../../http/schema.ts';
import { compileInput } from '../../../http/validation.ts';
import { parseJson } from '../../../platform/json.ts';
import { EVENT_TYPES } from './beacon.rules.ts';
import type { Beacons } from './beacon.service.ts';
import { SESSION_LENGTH } from './playback-sessions.ts';

/** Maximum size of a beacon, which has some hundred bytes; a longer body is discarded. */
const BODY_BYTES = 16_384;
const MAX_BEACON_NUMBER = 2_147_483_647;

const Moment = Type.Union([Type.String({ maxLength: 40 }), Type.Number()]);
const Beacon = Type.Object({
  session: Type.String({ maxLength: SESSION_LENGTH }),
  n: Type.Integer({ minimum: 0, maximum: MAX_BEACON_NUMBER }),
  sentAt: Type.Optional(Moment),
  isPresence: Type.Optional(Type.Boolean()),
  events: Type.Array(
    Type.Object({
      type: OneOf(EVENT_TYPES),
      positionSec: Type.Number(),
      at: Moment,
      quality: Type.Optional(Type.Integer({ minimum: 1, maximum: 20_000 })),
    }),
    { minItems: 1, maxItems: 100 },
  ),
});
const readBeacon = compileInput(Beacon, 'body');

/**
 * Registers `POST /playback/beacon`, on which players report playback (docs/concepts/playback.md#beacons).
 * Always returns 204, because a closing page reads no response.
 */
export function beaconPage({ beacons }: { beacons: Beacons }): (app: FastifyInstance) => void {
  return (app) => {
    app.register(async (scope) => {
      // sendBeacon sends text/plain; the content type is ignored, and the body is read below.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _body, done) => done(null));
      scope.setErrorHandler((_error, _request, reply) => reply.status(204).send());
      scope.post('/playback/beacon', async (request, reply) => {
        const text = await readText(request);
        const beacon = text === null ? null : parseBeacon(text);
        if (beacon !== null) await beacons.take(beacon, clientInfoOf(request));
        return reply.status(204).header('Cache-Control', 'no-store').send();
      });
    });
  };
}

function parseBeacon(text: string) {
  try {
    return readBeacon(parseJson(text));
  } catch {
    return null;
  }
}

/** Returns the body; null when it is too long or incomplete. The rest is read and discarded. */
function readText({ raw }: FastifyRequest): Promise<string | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    raw.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > BODY_BYTES) return resolve(null);
      chunks.push(chunk);
    });
    raw.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    raw.once('error', () => resolve(null));
    raw.once('close', () => resolve(null));
  });
}
