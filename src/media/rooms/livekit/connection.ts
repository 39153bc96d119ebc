import { randomUUID } from 'node:crypto';
import type { ParticipantInfo } from 'livekit-server-sdk';
import {
  type EngineConnection,
  InvalidSignalError,
  type RoomPeer,
  type RoomTrack,
  type RoomTrackKind,
  type Signal,
} from '../engine.ts';
import { type ParticipantConnection, tracksOf, visitOf } from './identities.ts';

interface Options {
  peer: RoomPeer;
  send(signal: Signal): void;
  /** What a host has muted of this identity. */
  muted: ReadonlySet<RoomTrackKind>;
  /** For browsers. */
  url: string;
  mint(who: ParticipantConnection): Promise<string>;
  /** Lets it go at the server. */
  remove(who: ParticipantConnection): Promise<void>;
}

/**
 * One browser, which has its media at LiveKit. It gets `{op: 'open'}` first, asks by `{op: 'hello'}` whenever it is about to
 * connect, and gets `{op: 'token', url, token}`.
 */
export class LivekitConnection implements EngineConnection {
  readonly #options: Options;
  readonly #visit = randomUUID();
  /** It has been seen at the server, sending these. */
  #seen: Set<RoomTrackKind> | null = null;
  #missingSinceMs: number | null = null;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  open(): void {
    if (!this.#isClosed) this.#options.send({ op: 'open' });
  }

  get who(): ParticipantConnection {
    const { peer, muted } = this.#options;
    return { identity: peer.identity, visit: this.#visit, muted };
  }

  get permissions() {
    return this.#options.peer.permissions;
  }

  async signal(message: Signal): Promise<void> {
    if (message.op !== 'hello') throw new InvalidSignalError('Unknown signal type.');
    if (this.#isClosed) return;
    const { send, url, mint } = this.#options;
    const token = await mint(this.who);
    if (!this.#isClosed) send({ op: 'token', url, token });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#options.remove(this.who);
  }

  /** Without a word to the server, which lets it go anyway. */
  end(): void {
    this.#isClosed = true;
  }

  /** What the server has of it now; undefined: nothing. */
  observe(info: ParticipantInfo | undefined, nowMs: number): Observation {
    if (info === undefined) {
      if (this.#seen === null) return { missingMs: 0, tracks: null };
      this.#missingSinceMs ??= nowMs;
      return { missingMs: Math.max(1, nowMs - this.#missingSinceMs), tracks: null };
    }
    this.#missingSinceMs = null;
    // Of an older connection, whose end is not done.
    if (visitOf(info) !== this.#visit) return { missingMs: 0, tracks: null };
    const tracks = tracksOf(info);
    const before = this.#seen;
    this.#seen = new Set(tracks.map(({ kind }) => kind));
    const hasStopped = before !== null && [...before].some((kind) => this.#seen?.has(kind) !== true);
    return { missingMs: 0, tracks: hasStopped ? tracks : null };
  }

  /** It was told of as lost. */
  forget(): void {
    this.#seen = null;
    this.#missingSinceMs = null;
  }
}

interface Observation {
  /** For how long it has not been there any more, at least 1; 0 for one that is there, or never was. */
  missingMs: number;
  /** What it sends, where it has stopped sending something. */
  tracks: RoomTrack[] | null;
}
