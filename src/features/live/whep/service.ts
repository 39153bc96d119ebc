import { setTimeout as sleep } from 'node:timers/promises';
import { throttle } from '../../../kernel/cache.ts';
import type { ClientInfo } from '../../../kernel/client-info.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { AppError, badRequest, notFound, tooManyRequests } from '../../../kernel/errors.ts';
import { ipBlock } from '../../../kernel/ip-block.ts';
import type { WhepPort } from '../../../media/contract/index.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import { hashSecret, newSecret } from '../../../platform/tokens.ts';
import type { AdmitLive, LiveAdmission, Viewer } from '../../audience/playback/index.ts';
import { type Audience, admittedUntil, createAudience } from './audience.ts';
import * as repository from './repository.ts';

/** Bus topic of new offers, answers and ended sessions. */
export const WHEP_TOPIC = 'whep';
/** Bus topic of media nodes that serve viewers by WHEP. */
const NODE_TOPIC = 'whep node';

const SILENT_MS = 10_000;
const SAY_MS = 3000;
const ANSWER_MS = 8000;
const LOOK_MS = 250;
const SPENT_MS = 60_000;
const FULL_RETRY_SEC = 30;
const PURPOSE = 'addresses of viewers by WHEP';
const NOWHERE = 'Real-time playback is currently unavailable. Play HLS, or try again in a moment.';

interface Deps {
  db: Db;
  bus: Bus;
  clock: Clock;
  secrets: Pick<Secrets, 'sign'>;
  /** Maximum concurrent viewers of one IP address. */
  perAddress: number;
  /** Reports whether a media role with WHEP was active recently. */
  isThere(): boolean;
  admit: AdmitLive;
  /** Records a viewer of a broadcast. */
  seen(admission: LiveAdmission, visit: ClientInfo): void;
  /** Records the bytes sent for a stream. */
  sent(admission: LiveAdmission, bytes: number): void;
  /** Subscribes to changes of streams. */
  onChanged(listener: (streamId: string) => void): void;
}

interface Playing {
  token: string;
  answer: string;
  viewerCount: number;
}

/** Viewers by WHEP (docs/concepts/whep.md): offers and answers between them and the media role, and who may watch on. */
export interface Whep {
  /**
   * @returns the secret of the session URL, and the answer.
   * @throws {AppError} NOT_FOUND without access, and while there is nothing to show; BAD_REQUEST for a
   *   rejected offer; CONFLICT for media that WebRTC cannot show; RATE_LIMITED at the maximum of viewers per
   *   IP address; SERVICE_UNAVAILABLE.
   */
  play(request: { streamId: string; viewer: Viewer; visit: ClientInfo; offer: string }): Promise<Playing>;
  /** Ends the session for the client. @throws {AppError} NOT_FOUND. */
  end(token: string): Promise<void>;
  /** Returns the ICE user fragments of the client in an open session. @throws {AppError} NOT_FOUND. */
  iceOf(token: string): Promise<readonly string[]>;
  /** Checks which viewers of this process may continue; runs every second, and when a stream has changed. */
  look(): Promise<void>;
  /** Port for the media plane. */
  readonly port: WhepPort;
  /** Deletes sessions that were never answered or used. */
  sweep(): Promise<void>;
}

/** @returns whether a media role with WHEP was active recently. */
export function trackWhepAvailability(bus: Bus): () => boolean {
  let heardMs = Number.NEGATIVE_INFINITY;
  bus.subscribe(NODE_TOPIC, () => {
    heardMs = performance.now();
  });
  return () => performance.now() - heardMs < SILENT_MS;
}

export function createWhep(deps: Deps): Whep {
  const { db, bus, clock, admit } = deps;
  const told = () => bus.publish(WHEP_TOPIC);
  const audience: Audience = createAudience({ ...deps, told });
  deps.onChanged((streamId) => audience.changed(streamId));
  return {
    async play({ streamId, viewer, visit, offer }) {
      if (!offer.startsWith('v=0') || offer.includes('\0'))
        throw badRequest('body', 'The body must be a session description (SDP) starting with "v=0".');
      const admission = await admit(streamId, viewer);
      if (admission === null || admission.shows === null) throw notFound();
      if (!deps.isThere() || !admission.stream.hasSignal)
        throw new AppError('SERVICE_UNAVAILABLE', { message: NOWHERE });
      const token = newSecret();
      const id = idOf(token);
      await offerFor(deps, { id, streamId, offer, ip: visit.ip });
      told();
      const answer = await answerOf(deps, id);
      audience.add(id, { streamId, viewer, visit });
      return { token, answer, viewerCount: admission.stream.viewerCount };
    },
    async end(token) {
      if ((await repository.endSessions(db, [idOf(token)])) === 0) throw notFound();
      told();
    },
    async iceOf(token) {
      const ice = await repository.findIce(db, idOf(token));
      if (ice === undefined) throw notFound();
      return ice.split(' ');
    },
    look: () => audience.look(),
    port: portOf(deps, told),
    sweep: () =>
      repository.deleteEnded(db, {
        unused: dateFromMs(clock.ms() - 2 * ANSWER_MS),
        over: dateFromMs(clock.ms() - SPENT_MS),
      }),
  };
}

/** @throws {AppError} RATE_LIMITED. */
async function offerFor(
  { db, clock, secrets, perAddress }: Deps,
  { id, streamId, offer, ip }: { id: string; streamId: string; offer: string; ip: string },
): Promise<void> {
  const mark = secrets.sign(PURPOSE, ipBlock(ip));
  await db.transaction().execute(async (tx) => {
    await repository.lockAddress(tx, mark);
    const watching = await repository.countOfAddress(tx, mark, clock.now());
    if (watching >= perAddress) throw tooManyRequests('RATE_LIMITED', FULL_RETRY_SEC * 1000);
    await repository.insertSession(tx, {
      ...{ id, stream_id: streamId, state: 'OFFERED', offer, ip_hash: mark },
      ...{ admitted_until: admittedUntil(clock), created_at: clock.now() },
    });
  });
}

function portOf({ db, bus, clock }: Deps, told: () => void): WhepPort {
  return {
    started: (nodeId) => repository.deleteOfNode(db, nodeId),
    async take(nodeId, streamIds) {
      const since = dateFromMs(clock.ms() - ANSWER_MS);
      const rows = await repository.claimOffers(db, nodeId, streamIds, since);
      return rows.map(({ id, stream_id: streamId, offer }) => ({ sessionId: id, streamId, offer }));
    },
    async answered(sessionId, sdp) {
      await repository.answer(db, sessionId, { state: 'ANSWERED', text: sdp, now: clock.now() });
      told();
    },
    async refused(sessionId, refusal, words) {
      await repository.answer(db, sessionId, { state: 'REFUSED', text: words, refusal, now: clock.now() });
      told();
    },
    carried: async (nodeId, sent) => new Set(await repository.heartbeat(db, nodeId, sent, clock.now())),
    ended: (sessionId) => repository.deleteSession(db, sessionId),
    isThere: throttle(() => bus.publish(NODE_TOPIC), SAY_MS),
  };
}

/** Waits for the media role. */
async function answerOf({ db, bus }: Deps, id: string): Promise<string> {
  const deadline = performance.now() + ANSWER_MS;
  let hinted = Promise.withResolvers<void>();
  const unsubscribe = bus.subscribe(WHEP_TOPIC, () => hinted.resolve());
  try {
    while (performance.now() < deadline) {
      const row = await repository.findSession(db, id);
      if (row?.state === 'ANSWERED') return row.answer ?? '';
      if (row?.state === 'REFUSED') throw refusalOf(row);
      if (row?.state !== 'OFFERED') break;
      await Promise.race([hinted.promise, sleep(LOOK_MS)]);
      hinted = Promise.withResolvers<void>();
    }
  } finally {
    unsubscribe();
  }
  await repository.endSessions(db, [id]);
  bus.publish(WHEP_TOPIC);
  throw new AppError('SERVICE_UNAVAILABLE', { message: NOWHERE });
}

function refusalOf(row: NonNullable<Awaited<ReturnType<typeof repository.findSession>>>): AppError {
  const message = row.answer ?? '';
  if (row.refusal === 'OFFER') return badRequest('body', message);
  if (row.refusal === 'SIGNAL') return new AppError('CONFLICT', { message });
  return new AppError('SERVICE_UNAVAILABLE', { message, headers: { 'Retry-After': String(FULL_RETRY_SEC) } });
}

function idOf(token: string): string {
  return hashSecret(token).toString('hex');
}
