import { setTimeout as sleep } from 'node:timers/promises';
import type { AppendEvent, Events } from '../../../events/index.ts';
import { throttle } from '../../../kernel/cache.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import type { PublishGrant, PublishRequest, WhipPort } from '../../../media/contract/index.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { hashSecret, newSecret } from '../../../platform/tokens.ts';
import * as repository from './repository.ts';

/** Bus topic of new offers, answers and ended sessions. */
export const WHIP_TOPIC = 'whip';
/** Bus topic of media nodes that accept publishes by WHIP. */
const NODE_TOPIC = 'whip node';

const SILENT_MS = 10_000;
const SAY_MS = 3000;
const ANSWER_MS = 8000;
const LOOK_MS = 250;
/** Silence of a media node after which its sessions are lost; it reports them every second. */
const LOST_MS = 60_000;
const UNAUTHORISED = 'Send a valid stream key as "Authorization: Bearer <stream key>".';
const NOWHERE = 'WHIP publishing is currently unavailable. Try again in a moment, or publish with RTMP.';

interface Deps {
  db: Db;
  events: Pick<Events, 'transaction'>;
  bus: Bus;
  clock: Clock;
  /** Reports whether a media role with WHIP was active recently. */
  isThere(): boolean;
  /** Returns what the key may publish; null when it may not. */
  authorise(request: PublishRequest): Promise<PublishGrant | null>;
  /**
   * Locks the stream, so that a change that ends its sessions sees the new one.
   * @returns the error that rejects the offer; null when it is admitted.
   */
  admitOffer(change: { tx: Tx; append: AppendEvent }, grant: PublishGrant): Promise<AppError | null>;
  /** Returns the publish grant of a stream, even when another encoder publishes to it. */
  admit: WhipPort['admit'];
}

/** Publishes by WHIP (docs/concepts/whip.md): offers and answers between clients and the media role. */
export interface Whip {
  /**
   * @param key the stream key; never logged.
   * @returns the secret of the session URL, and the answer.
   * @throws {AppError} UNAUTHORIZED, QUOTA_EXCEEDED, BAD_REQUEST for a rejected offer, SERVICE_UNAVAILABLE.
   */
  publish(request: { key: string; ip: string; offer: string }): Promise<{ token: string; answer: string }>;
  /** Ends the session for the client. @throws {AppError} NOT_FOUND. */
  end(token: string): Promise<void>;
  /** Returns the ICE user fragments of the client in an open session. @throws {AppError} NOT_FOUND. */
  iceOf(token: string): Promise<readonly string[]>;
  /** Port for the media plane. */
  readonly port: WhipPort;
  /** Deletes sessions that were never answered or used, and those that outlived their node. */
  sweep(): Promise<void>;
}

/** @returns whether a media role with WHIP was active recently. */
export function trackWhipAvailability(bus: Bus): () => boolean {
  let heardMs = Number.NEGATIVE_INFINITY;
  bus.subscribe(NODE_TOPIC, () => {
    heardMs = performance.now();
  });
  return () => performance.now() - heardMs < SILENT_MS;
}

export function createWhip(deps: Deps): Whip {
  const { db, bus, clock } = deps;
  const told = () => bus.publish(WHIP_TOPIC);
  return {
    async publish({ key, ip, offer }) {
      if (!offer.startsWith('v=0') || offer.includes('\0'))
        throw badRequest('body', 'The body must be a session description (SDP) starting with "v=0".');
      const grant = await deps.authorise({ key, ip, app: 'whip', protocol: 'whip' });
      if (grant === null) throw unauthorized();
      if (!deps.isThere()) throw new AppError('SERVICE_UNAVAILABLE', { message: NOWHERE });
      const token = newSecret();
      const id = idOf(token);
      await keep(deps, grant, { id, offer });
      told();
      return { token, answer: await answerOf(deps, id) };
    },
    async end(token) {
      if (!(await repository.endSession(db, idOf(token)))) throw notFound();
      told();
    },
    async iceOf(token) {
      const ice = await repository.findIce(db, idOf(token));
      if (ice === undefined) throw notFound();
      return ice.split(' ');
    },
    port: portOf(deps, told),
    sweep: () =>
      repository.deleteEnded(db, {
        unused: dateFromMs(clock.ms() - 2 * ANSWER_MS),
        lost: dateFromMs(clock.ms() - LOST_MS),
      }),
  };
}

/** @throws {AppError} UNAUTHORIZED when the key has changed in between, QUOTA_EXCEEDED. */
async function keep(
  { events, admitOffer, clock }: Deps,
  grant: PublishGrant,
  session: { id: string; offer: string },
): Promise<void> {
  const refusal = await events.transaction(async (tx, append) => {
    const refused = await admitOffer({ tx, append }, grant);
    if (refused !== null) return refused;
    const { streamId: stream_id } = grant;
    await repository.insertSession(tx, { ...session, stream_id, state: 'OFFERED', created_at: clock.now() });
    return null;
  });
  // Commits the notification of the owner before the error is thrown.
  if (refusal !== null) throw refusal.code === 'UNAUTHORIZED' ? unauthorized() : refusal;
}

export function unauthorized(): AppError {
  // RFC 9110, section 15.5.2.
  return new AppError('UNAUTHORIZED', { message: UNAUTHORISED, headers: { 'WWW-Authenticate': 'Bearer' } });
}

function portOf({ db, bus, clock, admit }: Deps, told: () => void): WhipPort {
  return {
    admit,
    started: (nodeId) => repository.deleteOfNode(db, nodeId),
    async take(nodeId) {
      const rows = await repository.claimOffers(db, nodeId, dateFromMs(clock.ms() - ANSWER_MS));
      return rows.map(({ id, stream_id: streamId, offer }) => ({ sessionId: id, streamId, offer }));
    },
    async answered(sessionId, sdp) {
      await repository.answer(db, sessionId, { state: 'ANSWERED', text: sdp });
      told();
    },
    async refused(sessionId, words) {
      await repository.answer(db, sessionId, { state: 'REFUSED', text: words });
      told();
    },
    carried: async (nodeId) => new Set(await repository.listNodeSessions(db, nodeId)),
    ended: (sessionId) => repository.deleteSession(db, sessionId),
    isThere: throttle(() => bus.publish(NODE_TOPIC), SAY_MS),
  };
}

/** Waits for the media role. */
async function answerOf({ db, bus }: Deps, id: string): Promise<string> {
  const deadline = performance.now() + ANSWER_MS;
  let hinted = Promise.withResolvers<void>();
  const unsubscribe = bus.subscribe(WHIP_TOPIC, () => hinted.resolve());
  try {
    while (performance.now() < deadline) {
      const row = await repository.findSession(db, id);
      if (row?.state === 'ANSWERED') return row.answer ?? '';
      if (row?.state === 'REFUSED') throw badRequest('body', row.answer ?? '');
      if (row?.state !== 'OFFERED') break;
      await Promise.race([hinted.promise, sleep(LOOK_MS)]);
      hinted = Promise.withResolvers<void>();
    }
  } finally {
    unsubscribe();
  }
  await repository.endSession(db, id);
  bus.publish(WHIP_TOPIC);
  throw new AppError('SERVICE_UNAVAILABLE', { message: NOWHERE });
}

function idOf(token: string): string {
  return hashSecret(token).toString('hex');
}
