import { randomUUID } from 'node:crypto';
import { SdpError } from '../../protocols/sdp/session-description.ts';
import type { EngineConnection, RoomPeer, RoomTrack, RoomTrackKind, Signal } from '../engine.ts';
import { InvalidSignalError } from '../engine.ts';
import { type JanusClient, JanusError, type JanusHandle, listOf, type PluginEvent } from './client.ts';
import { Receiver } from './receiver.ts';
import { readRoomAnswer, readRoomOffer } from './room-sdp.ts';
import {
  isMuted,
  isPermitted,
  isSource,
  kindOf,
  readDescription,
  type Source,
  type StreamInfo,
} from './sources.ts';

type Json = Record<string, unknown>;

interface Options {
  client: JanusClient;
  room: string;
  peer: RoomPeer;
  send(signal: Signal): void;
  /** Tracks of this identity that a host has muted. */
  muted: ReadonlySet<RoomTrackKind>;
  onTracks(tracks: RoomTrack[]): void;
  /** Called when Janus has dropped the whole room or only this participant. */
  onGone(what: 'room' | 'participant'): void;
  onError(error: unknown): void;
}

/**
 * Connection of one browser to a room: a handle that publishes in one peer connection, and a {@link
 * Receiver}.
 *
 * The browser sends `{op: 'hello'}` (asks to receive all streams), `{op: 'publish', sdp, sources}` (an offer;
 * `sources` is `{<mid>: <source>}`), `{op: 'sending', sources}` (the sources switched on now), `{op:
 * 'answer', sdp}`, `{op: 'candidate', pc: 'send'|'receive', candidate}`, `{op: 'restart'}` (the receiving
 * side, with new ICE credentials) and `{op: 'again'}` (in a new peer connection). It gets `{op: 'open',
 * visit}` first, `{op: 'ready', visit}` for its hello, `{op: 'answer', sdp}`, `{op: 'offer', sdp, streams:
 * [{mid, identity, source}]}`, `{op: 'candidate', pc, candidate}` and `{op: 'lost', pc}`.
 */
export class JanusConnection implements EngineConnection {
  /** ID of the participant in Janus. */
  readonly feed = randomUUID();
  readonly #options: Options;
  #handle: JanusHandle | null = null;
  #receiver: Receiver | null = null;
  #sending = new Set<Source>();
  #isPublishing = false;
  /** Kinds and mids of the sections of the last offer. */
  #sections: readonly string[] = [];
  /** Streams of this feed listed by Janus, by mid. */
  #streams = new Map<string, OwnStream>();
  #isClosed = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /** @throws {JanusError} when the room does not exist, or Janus is gone. */
  async open(): Promise<void> {
    const { client, room, peer, onError } = this.#options;
    const send = (signal: Signal) => this.#send(signal);
    this.#handle = await client.attach({
      onEvent: (event) => this.#take(event),
      onTrickle: (candidate) => send({ op: 'candidate', pc: 'send', candidate }),
      onPeer: (state) => this.#peer(state),
      onDetached: () => this.#gone('participant'),
    });
    const joined = await this.#handle.send({
      request: 'join',
      ptype: 'publisher',
      room,
      id: this.feed,
      display: peer.identity,
    });
    const privateId = typeof joined.data.private_id === 'number' ? joined.data.private_id : 0;
    if (peer.permissions.canSubscribe)
      this.#receiver = new Receiver({ client, room, privateId, send, onError });
    this.#take(joined);
    send({ op: 'open', visit: this.feed });
  }

  async signal(message: Signal): Promise<void> {
    if (this.#isClosed) return;
    const work = this.#work.then(() => this.#obey(message));
    this.#work = work.catch(() => {});
    try {
      await work;
    } catch (error) {
      if (error instanceof SdpError) throw new InvalidSignalError(error.message);
      if (!(error instanceof JanusError)) throw error;
      throw new InvalidSignalError(`The media server rejected the request: ${error.message}`);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all([this.#receiver?.close(), this.#handle?.detach()]);
  }

  /**
   * Applies a host's mutes to every stream that Janus lists.
   *
   * @throws {Error} when Janus does not confirm it. The connection is closed then, and muted after a
   *   reconnect.
   */
  async applyMutes(): Promise<void> {
    await this.#moderate();
    this.#tellTracks();
  }

  async #obey(message: Signal): Promise<void> {
    switch (message.op) {
      case 'hello':
        this.#send({ op: 'ready', visit: this.feed });
        return this.#receiver?.again();
      case 'publish':
        return this.#publish(message);
      case 'sending':
        return this.#setSending(message.sources);
      case 'answer':
        return this.#receiver?.answer(readRoomAnswer(message.sdp));
      case 'candidate':
        // Candidates are ignored: the browser's address is learned from its packets (peer-reflexive).
        if (isCandidate(message.candidate)) return;
        if (message.pc === 'send') this.#handle?.trickle(null);
        else this.#receiver?.endCandidates();
        return;
      case 'restart':
        return this.#receiver?.restart();
      case 'again':
        return this.#receiver?.again();
      default:
        throw new InvalidSignalError('Unknown signal type.');
    }
  }

  async #publish({ sdp, sources }: Signal): Promise<void> {
    const { peer } = this.#options;
    const offer = readRoomOffer(sdp, sources, peer, this.#sections);
    const { descriptions } = offer;
    const request = this.#isPublishing ? 'configure' : 'publish';
    const answer = await this.#handle
      ?.send({ request, descriptions }, { type: 'offer', sdp: offer.sdp })
      .catch((error: unknown) => {
        // The streams are unknown when there was no response.
        if (error instanceof JanusError && error.code === 0) this.#gone('participant');
        throw error;
      });
    if (answer?.jsep?.type !== 'answer')
      throw new InvalidSignalError('The media server did not answer the offer.');
    this.#isPublishing = true;
    this.#sections = offer.sections;
    this.#streams = streamsIn(answer, this.#streams);
    await this.#moderate();
    this.#send({ op: 'answer', sdp: answer.jsep.sdp });
  }

  async #moderate(): Promise<void> {
    const { room, muted } = this.#options;
    try {
      for (const [mid, stream] of this.#streams) {
        const mute = isMuted(stream, muted);
        if (stream.isMuted === mute) continue;
        stream.isMuted = mute;
        await this.#handle?.send({ request: 'moderate', room, id: this.feed, mid, mute });
      }
    } catch (error) {
      this.#gone('participant');
      throw error;
    }
  }

  #setSending(given: unknown): void {
    const list = Array.isArray(given) ? given.filter(isSource) : [];
    this.#sending = new Set(list.filter((source) => isPermitted(source, this.#options.peer.permissions)));
    this.#tellTracks();
  }

  #tellTracks(): void {
    const kinds = new Set([...this.#sending].map(kindOf));
    this.#options.onTracks([...kinds].map((kind) => ({ kind, muted: this.#options.muted.has(kind) })));
  }

  #take({ data }: PluginEvent): void {
    if (data.videoroom === 'destroyed') this.#gone('room');
    else if (data.leaving === 'ok') this.#gone('participant');
    for (const one of Array.isArray(data.publishers) ? data.publishers : []) {
      const { id, streams } = publisherOf(one);
      if (id !== this.feed) this.#receiver?.published(id, streams);
    }
    for (const feed of [data.unpublished, data.leaving, data.kicked]) {
      if (typeof feed === 'string' && feed !== 'ok') this.#receiver?.gone(feed);
    }
  }

  #peer(state: 'up' | 'hangup'): void {
    if (state === 'up') return;
    this.#isPublishing = false;
    this.#sections = [];
    this.#streams.clear();
    this.#send({ op: 'lost', pc: 'send' });
  }

  #gone(what: 'room' | 'participant'): void {
    if (this.#isClosed) return;
    void this.close();
    this.#options.onGone(what);
  }

  #send(signal: Signal): void {
    if (!this.#isClosed) this.#options.send(signal);
  }
}

/** Stream of this connection. */
interface OwnStream extends StreamInfo {
  /** Last mute state sent to Janus. */
  isMuted: boolean;
}

/** @param former streams of the previous response; Janus keeps their mutes. */
function streamsIn(
  { data: { streams } }: PluginEvent,
  former: ReadonlyMap<string, OwnStream>,
): Map<string, OwnStream> {
  const found = new Map<string, OwnStream>();
  for (const { mid, type, description } of listOf(streams)) {
    if (typeof mid !== 'string') continue;
    const source = readDescription(description)?.source ?? null;
    found.set(mid, { isAudio: type === 'audio', source, isMuted: former.get(mid)?.isMuted === true });
  }
  return found;
}

function publisherOf(value: unknown): { id: string; streams: string[] } {
  const { id, streams }: Json = { id: '', streams: [], ...(typeof value === 'object' ? value : {}) };
  const mids = (Array.isArray(streams) ? streams : []).flatMap((stream: Json) =>
    typeof stream.mid === 'string' && stream.disabled !== true ? [stream.mid] : [],
  );
  return { id: typeof id === 'string' ? id : '', streams: mids };
}

const CANDIDATE_MAX = 2000;

/**
 * @returns false for the end of candidates. @throws {InvalidSignalError} for a value that is not the result
 *   of RTCIceCandidate.toJSON().
 */
function isCandidate(value: unknown): boolean {
  if (value === null) return false;
  const { candidate }: Json = typeof value === 'object' ? { ...value } : {};
  if (typeof candidate !== 'string' || candidate.length > CANDIDATE_MAX)
    throw new InvalidSignalError('candidate is required: the ICE candidate line.');
  return candidate !== '';
}
