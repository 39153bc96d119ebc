import * as log from '../../../events/stream-log.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db } from '../../../platform/db/index.ts';
import { type Positions, parsePositionId, positionId } from './position.ts';
import { type Follower, type StreamLogReader, type TailEntry, toRead } from './reader.ts';
import type { StateFollower, StateTicker, StreamState } from './states.ts';

export interface TailEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: string;
}

/** Connection of a tail. */
export interface TailOut {
  readonly lastEventId: string | null;
  readonly over: Promise<void>;
  readonly lifetimeSec: number;
  readonly serverTime: string;
  /** Sends without waiting. A client that is too slow loses events and is notified of the loss. */
  push(event: TailEvent): void;
  /** Resolves when the client can take more. */
  send(event: TailEvent): Promise<void>;
  bye(reason: 'STREAM_DELETED', reconnect: false): void;
}

export interface FollowOptions {
  streamId: string;
  /** Time at which the stream was created. */
  createdAt: Date;
  /** Name of the tail in `ready`. */
  name: string;
  logs: readonly log.LoggedTail[];
  states: readonly (keyof StreamState)[];
  /** Returns the first events of a tail that does not resume. */
  snapshot?: () => Promise<{ event: string; body: object }[]>;
}

interface Deps {
  db: Db;
  clock: Clock;
  reader: StreamLogReader;
  ticker: StateTicker;
}

type Resync = 'UNKNOWN_ID' | 'EXPIRED';

/** Entries that wait while a tail catches up; beyond, it reads them itself. */
const MAX_HELD = 256;

/** One tail: it reads missed entries itself, and gets new ones from the shared readers. */
export class StreamTail implements Follower, StateFollower {
  readonly #deps: Deps;
  readonly #options: FollowOptions;
  readonly #out: TailOut;
  /** Positions up to which all entries were sent. */
  readonly #sent = new Map<log.LoggedTail, log.LogPosition>();
  /** Entries received before the tail has caught up; null afterwards. */
  #held: { tail: log.LoggedTail; entry: TailEntry }[] | null = [];
  #leave: (() => void)[] = [];

  constructor(deps: Deps, options: FollowOptions, out: TailOut) {
    this.#deps = deps;
    this.#options = options;
    this.#out = out;
  }

  async begin(): Promise<void> {
    const { streamId, createdAt, logs, states } = this.#options;
    const createdAtMs = createdAt.getTime();
    // Subscribed before the first await, so that a deletion in between ends the tail.
    this.#leave.push(this.#deps.ticker.follow(streamId, states, this));
    const places = logs.map((tail) => ({ streamId, tail, createdAtMs }));
    const { positions, leave } = await this.#deps.reader.follow(places, this);
    this.#leave.push(leave);
    const resumed = await this.#resume(positions);
    const isResumed = resumed !== null && typeof resumed !== 'string';
    for (const [tail, position] of isResumed ? resumed : positions) this.#sent.set(tail, position);
    this.#hello(isResumed);
    if (typeof resumed === 'string') this.#resync(resumed, null);
    if (!isResumed) await this.#snapshot();
    await this.#catchUp(positions);
    for (const event of await this.#deps.ticker.now(streamId, states)) this.#state(event);
    await this.#goOn();
  }

  end(): void {
    for (const leave of this.#leave) leave();
    this.#leave = [];
  }

  take(tail: log.LoggedTail, entry: TailEntry): void {
    if (this.#held !== null) {
      // One entry beyond the maximum marks that all must be read again.
      if (this.#held.length <= MAX_HELD) this.#held.push({ tail, entry });
      return;
    }
    if (this.#moveTo(tail, entry)) this.#out.push(this.#placed(entry.event));
  }

  show(event: TailEvent): void {
    if (this.#held === null) this.#state(event);
  }

  gone(): void {
    this.#out.bye('STREAM_DELETED', false);
  }

  #state(event: TailEvent): void {
    // A tail with a log uses the log position as its ID, so a state has none.
    this.#out.push(this.#options.logs.length === 0 ? event : { event: event.event, data: event.data });
  }

  /** @returns whether the entry must be sent: it is newer than the last one and was not removed. */
  #moveTo(
    tail: log.LoggedTail,
    entry: TailEntry,
  ): entry is TailEntry & { event: NonNullable<TailEntry['event']> } {
    const before = this.#sent.get(tail)?.seq ?? 0;
    if (entry.seq <= before) return false;
    // Entries are removed after the retention, so a client that could not read for that time has missed them.
    if (entry.seq > before + 1) this.#resync('EXPIRED', entry.seq - before - 1);
    this.#sent.set(tail, { seq: entry.seq, atMs: entry.atMs });
    return entry.event !== null;
  }

  /**
   * Events of a single log are shared by all its tails; with several logs, each event carries the position in
   * all of them.
   */
  #placed(event: TailEvent): TailEvent {
    return this.#options.logs.length === 1 ? event : { ...event, id: positionId(this.#sent) };
  }

  /**
   * Returns the position to resume from: null when the client sent none, a resync reason when it cannot
   * resume.
   */
  async #resume(positions: Positions): Promise<Positions | Resync | null> {
    const { logs } = this.#options;
    const { lastEventId } = this.#out;
    if (lastEventId === null) return null;
    // A state is sent as it is, whatever the position of the client.
    if (logs.length === 0) return new Map();
    const wanted = parsePositionId(lastEventId, logs);
    if (wanted === null) return 'UNKNOWN_ID';
    for (const [tail, position] of wanted) {
      const word = await this.#refusal(tail, position, positions.get(tail));
      if (word !== null) return word;
    }
    return wanted;
  }

  async #refusal(
    tail: log.LoggedTail,
    wanted: log.LogPosition,
    head: log.LogPosition | undefined,
  ): Promise<Resync | null> {
    if (wanted.seq === head?.seq && wanted.atMs === head.atMs) return null;
    const { streamId, createdAt } = this.#options;
    const { entries, ageMs } = log.LOG_RETENTION[tail];
    if (head !== undefined && head.seq - wanted.seq > entries) return 'EXPIRED';
    const since = this.#deps.clock.ms() - ageMs;
    // Reads the entry itself, to verify that it belongs to this stream, and the first missed one.
    const place = { streamId, tail, seq: Math.max(0, wanted.seq - 1) };
    const rows = await log.entriesAfter(this.#deps.db, [place], 2);
    const knownAtMs =
      wanted.seq === 0 ? createdAt.getTime() : rows.find(({ seq }) => seq === wanted.seq)?.atMs;
    if (knownAtMs !== wanted.atMs) return wanted.atMs < since ? 'EXPIRED' : 'UNKNOWN_ID';
    const next = rows.find(({ seq }) => seq === wanted.seq + 1);
    return next !== undefined && next.atMs < since ? 'EXPIRED' : null;
  }

  #hello(isResumed: boolean): void {
    const { streamId, name } = this.#options;
    const { serverTime, lifetimeSec } = this.#out;
    const hello = { streamId, tail: name, serverTime, resumed: isResumed, lifetimeSec };
    this.#out.push({ event: 'ready', ...this.#place(), data: JSON.stringify(hello) });
  }

  #resync(reason: Resync, droppedAtLeast: number | null): void {
    this.#out.push({ event: 'resync', ...this.#place(), data: JSON.stringify({ reason, droppedAtLeast }) });
  }

  #place(): { id?: string } {
    return this.#sent.size === 0 ? {} : { id: positionId(this.#sent) };
  }

  async #snapshot(): Promise<void> {
    for (const { event, body } of (await this.#options.snapshot?.()) ?? [])
      this.#out.push({ event, ...this.#place(), data: JSON.stringify(body) });
  }

  /**
   * Sends all entries between the positions of the client and of the reader, as fast as the client accepts
   * them.
   */
  async #catchUp(positions: Positions): Promise<void> {
    for (const [tail, { seq }] of [...this.#sent])
      if (seq < (positions.get(tail)?.seq ?? 0)) await this.#read(tail, seq);
  }

  async #read(tail: log.LoggedTail, seq: number): Promise<void> {
    const place = { streamId: this.#options.streamId, tail, seq };
    for (const row of await log.entriesAfter(this.#deps.db, [place], log.LOG_RETENTION[tail].entries)) {
      const entry = toRead(row);
      if (this.#moveTo(tail, entry)) await this.#out.send(this.#placed(entry.event));
    }
  }

  /** Switches to the shared readers, which deliver everything from here on. */
  async #goOn(): Promise<void> {
    while (this.#held !== null && this.#held.length > MAX_HELD) {
      this.#held = [];
      for (const [tail, { seq }] of [...this.#sent]) await this.#read(tail, seq);
    }
    const held = this.#held ?? [];
    this.#held = null;
    for (const { tail, entry } of held) this.take(tail, entry);
  }
}
