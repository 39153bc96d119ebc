import { randomInt, randomUUID } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../platform/logger.ts';
import { JanusClient, type JanusHandle, listOf, type PluginEvent } from './client.ts';
import { type JanusLink, readLink } from './link-file.ts';
import { isRoom } from './room-request.ts';
import { readDescription, type Source } from './sources.ts';

type Json = Record<string, unknown>;

/** Track sent into a room. */
export interface TappedTrack {
  identity: string;
  source: Source;
  kind: 'AUDIO' | 'VIDEO';
}

export interface RoomTapOptions {
  linkFile: string;
  room: string;
  onTrack(track: TappedTrack): void;
  onGone(track: TappedTrack): void;
  /**
   * Receives one RTP packet (RFC 3550), in a buffer of its own.
   *
   * @param layer of a simulcast camera: 0 is the smallest.
   */
  onPacket(track: TappedTrack, packet: Buffer, layer: number): void;
  /** Called when a participant begins or stops speaking. */
  onSpeech(identity: string, speaks: boolean): void;
  log: Logger;
}

/** Tap of all media sent into one room, as encoded by the browsers (docs/decisions/bridges.md#rooms). */
export interface RoomTap {
  /** Requests a keyframe from the sender. */
  again(track: TappedTrack): void;
  /** Returns the time since which Janus is unreachable; `performance.now()`, null while it is reachable. */
  lostSince(): number | null;
  stop(): Promise<void>;
}

/** Interval of checks for the room, which the first participant creates. */
const LOOK_MS = 300;
const LOOPBACK = '127.0.0.1';
const RECEIVE_BYTES = 2 ** 20;
const SSRC_AT = 8;
/** Maximum simulcast layers of a camera. */
const LAYERS = 3;
/** Keyframe request (PLI, RFC 4585, section 6.3.1): Janus identifies the sender by the destination port. */
const PICTURE_LOSS = Buffer.from('81ce00020000000000000000', 'hex');

interface Tapped {
  track: TappedTrack;
  feed: string;
  mid: string;
  /** SSRC of each layer. */
  ssrcs: readonly number[];
  /** IDs of the forwarders in Janus; empty before its response. */
  forwarders: number[];
  /** Port on which Janus accepts keyframe requests; null before its response, and for audio. */
  askPort: number | null;
  /** Resolves when Janus forwards the track, or it is gone. */
  work: Promise<void>;
}

/** Connection for requests about a room. */
interface Place {
  handle: JanusHandle;
  link: JanusLink;
}

export async function openRoomTap(options: RoomTapOptions): Promise<RoomTap> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(0, LOOPBACK, () => {
      socket.off('error', reject);
      resolve();
    });
  });
  socket.on('error', (error) => options.log.warn({ err: error }, 'a room cannot be read'));
  socket.setRecvBufferSize(RECEIVE_BYTES);
  return new JanusTap(options, socket);
}

class JanusTap implements RoomTap {
  readonly #options: RoomTapOptions;
  readonly #socket: Socket;
  readonly #tapped = new Set<Tapped>();
  readonly #bySsrc = new Map<number, { tapped: Tapped; layer: number }>();
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;
  #lostSince: number | null = performance.now();

  constructor(options: RoomTapOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
    socket.on('message', (packet) => {
      if (packet.length <= SSRC_AT + 4) return;
      const from = this.#bySsrc.get(packet.readUInt32BE(SSRC_AT));
      if (from !== undefined) options.onPacket(from.tapped.track, packet, from.layer);
    });
    this.#running = this.#run();
  }

  again(track: TappedTrack): void {
    for (const tapped of this.#tapped) if (tapped.track === track) this.#askForPicture(tapped);
  }

  lostSince(): number | null {
    return this.#lostSince;
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
    this.#socket.close();
  }

  /** Set while it is in the room. */
  #janus: Place | null = null;

  async #run(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        await this.#visit(signal);
      } catch (error) {
        this.#options.log.debug({ err: error, room: this.#options.room }, 'a room cannot be read yet');
      }
      this.#forget(() => true);
      await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Taps the room until this Janus is gone. */
  async #visit(signal: AbortSignal): Promise<void> {
    const link = await readLink(this.#options.linkFile);
    if (link === null) {
      this.#lostSince ??= performance.now();
      return;
    }
    const client = await JanusClient.connect(link).catch((error: unknown) => {
      this.#lostSince ??= performance.now();
      throw error;
    });
    this.#lostSince = null;
    const gone = Promise.withResolvers<void>();
    client.onClose(() => {
      this.#lostSince = performance.now();
      gone.resolve();
    });
    const leave = () => gone.resolve();
    signal.addEventListener('abort', leave, { once: true });
    try {
      while (!signal.aborted && this.#lostSince === null) {
        await this.#stay(client, link, gone.promise);
        await Promise.race([gone.promise, sleep(LOOK_MS)]);
      }
    } finally {
      signal.removeEventListener('abort', leave);
      client.close();
    }
  }

  /** Taps the room while it exists. */
  async #stay(client: JanusClient, link: JanusLink, gone: Promise<void>): Promise<void> {
    const { room, log } = this.#options;
    const over = Promise.withResolvers<void>();
    let isDestroyed = false;
    const handle = await client.attach({
      onEvent: (event) => {
        isDestroyed ||= event.data.videoroom === 'destroyed';
        if (isDestroyed) over.resolve();
        else this.#take(event);
      },
      onTrickle: () => {},
      onPeer: () => {},
      onDetached: () => over.resolve(),
    });
    const place = { handle, link };
    this.#janus = place;
    try {
      // Joining a missing room would log an error in Janus, several times a second.
      if (!(await isRoom(handle, room))) return;
      const joined = await handle.send({ request: 'join', ptype: 'publisher', room, id: randomUUID() });
      this.#take(joined);
      await Promise.race([over.promise, gone]);
    } catch (error) {
      log.debug({ err: error, room }, 'the room is not there yet');
    } finally {
      this.#janus = null;
      const left = this.#forget(() => true);
      // Stops the forwarders: otherwise packets would go to a port that another process may use by then.
      if (!isDestroyed) await Promise.all(left.map((tapped) => this.#handBack(place, tapped)));
      await handle.detach();
    }
  }

  #take({ data }: PluginEvent): void {
    for (const one of listOf(data.publishers)) {
      if (typeof one.id === 'string') this.#published(one.id, listOf(one.streams), one.talking === true);
    }
    for (const feed of [data.unpublished, data.leaving, data.kicked]) {
      if (typeof feed === 'string') this.#forget((tapped) => tapped.feed === feed);
    }
    const speaks = data.videoroom === 'talking';
    if (!speaks && data.videoroom !== 'stopped-talking') return;
    for (const { feed, track } of this.#tapped) {
      if (feed === data.id && track.source === 'MICROPHONE') this.#options.onSpeech(track.identity, speaks);
    }
  }

  /** Updates the streams of a feed. @param speaks whether its participant is speaking. */
  #published(feed: string, streams: readonly Json[], speaks: boolean): void {
    const there = streams.flatMap((stream) => {
      const known = readDescription(stream.description);
      const { mid, disabled, type } = stream;
      if (known === null || typeof mid !== 'string' || disabled === true) return [];
      return [{ mid, ...known, kind: type === 'audio' ? ('AUDIO' as const) : ('VIDEO' as const) }];
    });
    const place = this.#janus;
    const former = this.#forget(
      (tapped) =>
        tapped.feed === feed &&
        !there.some(({ mid, source }) => mid === tapped.mid && source === tapped.track.source),
    );
    for (const tapped of former) if (place !== null) void this.#handBack(place, tapped);
    for (const { mid, ...track } of there) {
      const isKnown = [...this.#tapped].some((one) => one.feed === feed && one.mid === mid);
      if (isKnown) continue;
      const layers = track.kind === 'VIDEO' ? LAYERS : 1;
      const ssrcs = Array.from({ length: layers }, () => randomInt(1, 2 ** 32));
      const work = Promise.resolve();
      const tapped: Tapped = { track, feed, mid, ssrcs, forwarders: [], askPort: null, work };
      this.#tapped.add(tapped);
      for (const [layer, ssrc] of ssrcs.entries()) this.#bySsrc.set(ssrc, { tapped, layer });
      this.#options.onTrack(track);
      if (place !== null) tapped.work = this.#handOn(place, tapped);
      // There is no further event for a participant who is already speaking until they stop.
      if (speaks && track.source === 'MICROPHONE') this.#options.onSpeech(track.identity, true);
    }
  }

  /** Retries until Janus forwards the track, or it is gone. Never rejects. */
  async #handOn(place: Place, tapped: Tapped): Promise<void> {
    const { log, room } = this.#options;
    while (this.#tapped.has(tapped)) {
      try {
        if (await this.#forward(place, tapped)) break;
      } catch (error) {
        log.debug({ err: error, room }, 'a track cannot be read yet');
      }
      await sleep(LOOK_MS);
    }
    // Earlier frames are lost, and Janus does not request a keyframe by itself.
    if (this.#tapped.has(tapped)) this.#askForPicture(tapped);
  }

  /** @returns whether Janus forwards it. */
  async #forward({ handle, link }: Place, tapped: Tapped): Promise<boolean> {
    const { port } = this.#socket.address();
    const [ssrc, second, third] = tapped.ssrcs;
    const layers = { rtcp_port: port, port_2: port, ssrc_2: second, port_3: port, ssrc_3: third };
    const more = tapped.track.kind === 'VIDEO' ? layers : {};
    const streams = [{ mid: tapped.mid, host: LOOPBACK, port, ssrc, ...more }];
    const of = { admin_key: link.adminKey, room: this.#options.room, publisher_id: tapped.feed };
    const { data } = await handle.send({ request: 'rtp_forward', ...of, host: LOOPBACK, streams });
    for (const { stream_id: id, local_rtcp_port: askPort } of listOf(data.forwarders)) {
      if (typeof id === 'number') tapped.forwarders.push(id);
      if (typeof askPort === 'number') tapped.askPort = askPort;
    }
    return tapped.forwarders.length > 0;
  }

  /** Stops the forwarders of a stream that is no longer needed. Never rejects. */
  async #handBack({ handle, link }: Place, tapped: Tapped): Promise<void> {
    await tapped.work;
    const of = { admin_key: link.adminKey, room: this.#options.room, publisher_id: tapped.feed };
    for (const stream_id of tapped.forwarders.splice(0)) {
      await handle.send({ request: 'stop_rtp_forward', ...of, stream_id }).catch(() => {});
    }
  }

  #askForPicture({ askPort }: Tapped): void {
    if (askPort !== null) this.#socket.send(PICTURE_LOSS, askPort, LOOPBACK, () => {});
  }

  #forget(isGone: (tapped: Tapped) => boolean): Tapped[] {
    const gone = [...this.#tapped].filter(isGone);
    for (const tapped of gone) {
      this.#tapped.delete(tapped);
      for (const ssrc of tapped.ssrcs) this.#bySsrc.delete(ssrc);
      this.#options.onGone(tapped.track);
    }
    return gone;
  }
}
