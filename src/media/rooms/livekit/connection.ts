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
  /** Tracks of this identity that a host has muted. */
  muted: ReadonlySet<RoomTrackKind>;
  /** Server URL for browsers. */
  url: string;
  mint(who: ParticipantConnection): Promise<string>;
  /** Removes the connection from the server. */
  remove(who: ParticipantConnection): Promise<void>;
}

/**
 * Connection of one browser, whose media goes to LiveKit. It gets `{op: 'open'}` first, sends `{op: 'hello'}`
 * whenever it is about to connect, and gets `{op: 'token', url, token}`.
 */
export class LivekitConnection implements EngineConnection {
  readonly #options: Options;
  readonly #visit = randomUUID();
  /** Kinds of tracks last seen at the server; null before it was seen. */
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

  /** Closes without a request to the server, which drops the connection anyway. */
  end(): void {
    this.#isClosed = true;
  }

  /** Compares the connection with the server's state; undefined means that the server does not have it. */
  observe(info: ParticipantInfo | undefined, nowMs: number): Observation {
    if (info === undefined) {
      if (this.#seen === null) return { missingMs: 0, tracks: null };
      this.#missingSinceMs ??= nowMs;
      return { missingMs: Math.max(1, nowMs - this.#missingSinceMs), tracks: null };
    }
    this.#missingSinceMs = null;
    // The state belongs to an older connection that is still closing.
    if (visitOf(info) !== this.#visit) return { missingMs: 0, tracks: null };
    const tracks = tracksOf(info);
    const before = this.#seen;
    this.#seen = new Set(tracks.map(({ kind }) => kind));
    const hasStopped = before !== null && [...before].some((kind) => this.#seen?.has(kind) !== true);
    return { missingMs: 0, tracks: hasStopped ? tracks : null };
  }

  /** Resets the observation after the connection was reported as lost. */
  forget(): void {
    this.#seen = null;
    this.#missingSinceMs = null;
  }
}

interface Observation {
  /** Time since it was lost, at least 1; 0 while it is connected, or never was. */
  missingMs: number;
  /** Current tracks, set when one has stopped. */
  tracks: RoomTrack[] | null;
}
