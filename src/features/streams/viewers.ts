import { createHmac, randomBytes } from 'node:crypto';

/** A viewer who has not asked for a media playlist for so long has left. */
export const WATCHING_MS = 15_000;
/** A broadcast that nobody has asked for in so long is forgotten; a viewer who comes later counts anew. */
const FORGET_MS = 3_600_000;
/** Viewers of one stream who are counted one by one; beyond, a sample of them is. */
const COUNTED = 50_000;
/** Nor can anybody make this process remember more than so many of one stream at once. */
const WATCHING_MAX = 200_000;
const SALT_BYTES = 16;
const KEY_BYTES = 6;

/** What tells viewers apart. Nobody's identity: two behind one address with the same browser are one. */
export interface ViewerIdentity {
  ip: string;
  userAgent: string;
  /** The playback token, where the stream needs one. */
  token: string;
}

/** Who watches one broadcast through this process. */
interface Audience {
  /** The broadcast's session; null until the stream has had a signal. */
  sessionId: string | null;
  /** Of this broadcast alone and never stored, so that a hash says nothing outside of it. */
  salt: Buffer;
  /** When each was last seen, the longest unseen first. */
  watching: Map<number, number>;
  known: DistinctCounter;
  seenAtMs: number;
}

export interface AudienceCount {
  streamId: string;
  sessionId: string | null;
  current: number;
  /** Distinct viewers of the session so far; exact up to 50 000, within about one percent above. */
  unique: number;
}

/** Counts viewers in memory. */
export interface Audiences {
  /** A viewer was given a media playlist of the broadcast that this session belongs to. */
  seen(streamId: string, sessionId: string | null, viewer: ViewerIdentity, nowMs: number): void;
  /** Lets go of those who have left, and says what is left; a stream with nobody is said with 0. */
  count(nowMs: number): AudienceCount[];
}

export function createAudiences(): Audiences {
  const audiences = new Map<string, Audience>();
  const audienceOf = (streamId: string, sessionId: string | null): Audience => {
    const known = audiences.get(streamId);
    // A start before the encoder has no session yet; its viewers belong to the one that comes.
    if (known !== undefined && known.sessionId === null) known.sessionId = sessionId;
    if (known !== undefined && (sessionId === null || known.sessionId === sessionId)) return known;
    const made: Audience = {
      sessionId,
      salt: randomBytes(SALT_BYTES),
      watching: new Map(),
      known: new DistinctCounter(),
      seenAtMs: 0,
    };
    audiences.set(streamId, made);
    return made;
  };
  return {
    seen(streamId, sessionId, viewer, nowMs) {
      const audience = audienceOf(streamId, sessionId);
      audience.seenAtMs = nowMs;
      const key = keyOf(viewer, audience.salt);
      audience.known.add(key);
      const { watching } = audience;
      if (!watching.delete(key) && watching.size >= WATCHING_MAX) return;
      watching.set(key, nowMs);
    },
    count(nowMs) {
      return [...audiences].map(([streamId, audience]) => {
        for (const [key, atMs] of audience.watching) {
          if (atMs > nowMs - WATCHING_MS) break;
          audience.watching.delete(key);
        }
        if (audience.seenAtMs <= nowMs - FORGET_MS) audiences.delete(streamId);
        const { sessionId, watching, known } = audience;
        return { streamId, sessionId, current: watching.size, unique: known.estimate() };
      });
    },
  };
}

function keyOf({ ip, userAgent, token }: ViewerIdentity, salt: Buffer): number {
  const text = JSON.stringify([ip, userAgent, token]);
  return createHmac('sha256', salt).update(text).digest().readUIntBE(0, KEY_BYTES);
}

/**
 * Counts distinct keys in bounded memory (Wegman's adaptive sampling): when there are too many, only those
 * divisible by the next power of two are kept, and the number is scaled up by it.
 */
export class DistinctCounter {
  readonly #limit: number;
  readonly #sample = new Set<number>();
  #scale = 1;

  constructor(limit = COUNTED) {
    this.#limit = limit;
  }

  /** @param key a uniformly distributed integer. */
  add(key: number): void {
    if (key % this.#scale !== 0) return;
    this.#sample.add(key);
    while (this.#sample.size > this.#limit) {
      this.#scale *= 2;
      for (const kept of this.#sample) if (kept % this.#scale !== 0) this.#sample.delete(kept);
    }
  }

  estimate(): number {
    return this.#sample.size * this.#scale;
  }
}
