import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { OneOf } from '../../../http/schema.ts';
import { compileInput } from '../../../http/validation.ts';
import { parseJson } from '../../../platform/json.ts';
import { mayWatch } from '../access.rules.ts';
import type { PlaybackSessions } from '../playback-sessions.ts';
import type { Snapshots } from '../snapshots.ts';
import type { WatchedBy } from './files.pages.ts';
import type { StreamSnapshot } from './snapshot.ts';

interface Deps {
  streams: Snapshots<StreamSnapshot>;
  sessions: PlaybackSessions;
  viewers: WatchedBy;
}

/** A beacon has some hundred bytes; of a longer body nothing is kept. */
const BODY_BYTES = 16_384;

const Beacon = Type.Object({
  session: Type.String({ maxLength: 300 }),
  n: Type.Integer({ minimum: 0 }),
  events: Type.Array(
    Type.Object({
      type: OneOf(['PLAY', 'PAUSE', 'SEEK', 'TICK', 'END', 'ERROR'] as const),
      positionSec: Type.Number(),
      at: Type.Union([Type.String({ maxLength: 40 }), Type.Number()]),
    }),
    { minItems: 1, maxItems: 100 },
  ),
});
const readBeacon = compileInput(Beacon, 'body');

/** After these the viewer does not watch. */
const LEAVES: ReadonlySet<string> = new Set(['PAUSE', 'END']);

/**
 * `POST /playback/beacon`: players tell that they play (docs/api/playback.md#beacons). 204 whatever comes: a page that
 * is being closed reads no answer.
 */
export function beaconPage(deps: Deps): (app: FastifyInstance) => void {
  return (app) => {
    app.register(async (scope) => {
      // sendBeacon says text/plain; whatever it says, it is read below.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _body, done) => done(null));
      scope.setErrorHandler((_error, _request, reply) => reply.status(204).send());
      scope.post('/playback/beacon', async (request, reply) => {
        const text = await readText(request);
        if (text !== null) await count(deps, text, request);
        return reply.status(204).header('Cache-Control', 'no-store').send();
      });
    });
  };
}

/**
 * Counts the viewer of a broadcast that is on. Whoever was given the page of a member was entitled to it then; to a
 * private broadcast nobody is.
 */
async function count({ streams, sessions, viewers }: Deps, text: string, request: FastifyRequest) {
  const beacon = parseBeacon(text);
  const session = beacon === null ? null : sessions.read(beacon.session);
  if (beacon === null || session === null) return;
  const stream = await streams.get(session.id);
  const { grant, tokenMark: token } = session;
  if (!stream?.isLive) return;
  const { visibility } = stream;
  if (!mayWatch({ visibility, grant, isEntitled: visibility !== 'PRIVATE' })) return;
  const last = beacon.events.findLast(({ type }) => type !== 'ERROR');
  if (last === undefined) return;
  const viewer = { ip: request.ip, userAgent: request.headers['user-agent'] ?? '', token };
  viewers.seen(stream, viewer, LEAVES.has(last.type) ? 'gone' : 'beacon');
}

function parseBeacon(text: string) {
  try {
    return readBeacon(parseJson(text));
  } catch {
    return null;
  }
}

/** Null when it is too long, or breaks off; the rest is read and thrown away. */
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
