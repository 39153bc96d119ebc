import { JitterBuffer } from '../rooms/compose/jitter-buffer.ts';
import { parseRtp } from '../rooms/compose/rtp.ts';
import type { VoiceBlock } from './room-matroska.ts';

/** Voices audible concurrently; beyond that, those who spoke most recently. */
export const MAX_ACTIVE_SPEAKERS = 12;
/** Duration of a packet of silence, used to fill gaps. */
const STEP_MS = 20;
/** 20 ms of silence in stereo (RFC 6716, section 3.1: CELT, full band). */
const SILENCE = Buffer.of(0xfc, 0xff, 0xfe);
const PATIENCE = { waitMs: 60, settleMs: 0 };
/** Audio buffered before it is played: packets arrive unevenly. */
const HELD_MS = 60;
/** Most audio buffered; more would be permanent delay, caused by clock drift and network bursts. */
const MAX_HELD_MS = 300;
const MAX_MISSED_MS = 5000;
const MAX_PACKET_BYTES = 16 * 1024;
const CLOCK_RATE = 48_000;

interface Voice {
  identity: string;
  order: JitterBuffer;
  queue: { packet: Buffer; ms: number }[];
  heldMs: number;
  isPlaying: boolean;
  slot: number | null;
  /** Time of the last speech. */
  spokeMs: number;
}

interface Slot {
  voice: Voice | null;
  /** Up to where it is filled. */
  atMs: number;
}

/** Mixer inputs: maps voices that join, leave and stall to a fixed number of tracks without gaps. */
export class AudioInputs {
  readonly #slots: Slot[] = Array.from({ length: MAX_ACTIVE_SPEAKERS }, () => ({ voice: null, atMs: 0 }));
  readonly #voices = new Map<object, Voice>();

  add(track: { identity: string }): void {
    const order = new JitterBuffer(CLOCK_RATE, null, PATIENCE);
    const voice: Voice = {
      identity: track.identity,
      order,
      queue: [],
      heldMs: 0,
      isPlaying: false,
      slot: null,
      spokeMs: 0,
    };
    this.#voices.set(track, voice);
    this.#seat(voice);
  }

  remove(track: object): void {
    const voice = this.#voices.get(track);
    this.#voices.delete(track);
    if (voice === undefined || voice.slot === null) return;
    const slot = this.#slots[voice.slot];
    if (slot !== undefined) slot.voice = null;
    for (const one of this.#voices.values()) if (one.slot === null) this.#seat(one);
  }

  /** @param atMs now. */
  packet(track: object, data: Buffer, atMs: number): void {
    const voice = this.#voices.get(track);
    const rtp = parseRtp(data);
    if (voice === undefined || rtp === null || rtp.payload.length > MAX_PACKET_BYTES) return;
    const ready: Parameters<JitterBuffer['push']>[2] = [];
    voice.order.push({ data, receivedMs: atMs, offset: 0 }, rtp, ready);
    if (voice.slot === null) return;
    for (const {
      rtp: { payload },
    } of ready) {
      const ms = durationOf(payload);
      if (ms === null) continue;
      voice.queue.push({ packet: payload, ms });
      voice.heldMs += ms;
    }
    while (voice.heldMs > MAX_HELD_MS) voice.heldMs -= voice.queue.shift()?.ms ?? voice.heldMs;
  }

  /** Gives a speaker without a slot that of the participant who has been silent longest. */
  speaks(identity: string, atMs: number): void {
    const theirs = [...this.#voices.values()].filter((voice) => voice.identity === identity);
    for (const voice of theirs) voice.spokeMs = atMs;
    for (const voice of theirs.filter(({ slot }) => slot === null)) this.#takePlace(voice);
  }

  #takePlace(voice: Voice): void {
    const [quietest] = [...this.#voices.values()]
      .filter(({ slot }) => slot !== null)
      .toSorted((a, b) => a.spokeMs - b.spokeMs);
    if (quietest?.slot == null) return;
    const slot = this.#slots[quietest.slot];
    Object.assign(quietest, { slot: null, queue: [], heldMs: 0, isPlaying: false });
    if (slot !== undefined) slot.voice = null;
    this.#seat(voice);
  }

  /** Returns the audio blocks of all slots up to the given time. */
  until(toMs: number): VoiceBlock[] {
    const blocks: VoiceBlock[] = [];
    for (const [index, slot] of this.#slots.entries()) {
      // The mixer was paused for too long: the missed time is skipped.
      if (toMs - slot.atMs > MAX_MISSED_MS) slot.atMs = toMs - STEP_MS;
      while (slot.atMs < toMs) {
        const { packet, ms } = next(slot.voice);
        blocks.push({ slot: index, atMs: slot.atMs, packet });
        slot.atMs += ms;
      }
    }
    return blocks;
  }

  #seat(voice: Voice): void {
    const index = this.#slots.findIndex((slot) => slot.voice === null);
    const slot = this.#slots[index];
    if (slot === undefined) return;
    slot.voice = voice;
    voice.slot = index;
  }
}

function next(voice: Voice | null): { packet: Buffer; ms: number } {
  const silence = { packet: SILENCE, ms: STEP_MS };
  if (voice === null) return silence;
  if (!voice.isPlaying && voice.heldMs < HELD_MS) return silence;
  voice.isPlaying = true;
  const first = voice.queue.shift();
  if (first === undefined) {
    voice.isPlaying = false;
    return silence;
  }
  voice.heldMs -= first.ms;
  return first;
}

const SILK_MS = [10, 20, 40, 60];
const CELT_MS = [2.5, 5, 10, 20];

/**
 * Returns the duration of a packet (RFC 6716, section 3.1); null for an invalid one, and for fractions of a
 * millisecond.
 */
function durationOf(packet: Buffer): number | null {
  const [head, count = 0] = packet;
  if (head === undefined) return null;
  const config = head >> 3;
  const frameMs = config < 12 ? SILK_MS[config & 3] : config < 16 ? SILK_MS[config & 1] : CELT_MS[config & 3];
  const code = head & 3;
  const frames = code === 0 ? 1 : code === 3 ? count & 0x3f : 2;
  const ms = (frameMs ?? 0) * frames;
  return ms > 0 && ms <= 120 && Number.isInteger(ms) ? ms : null;
}
