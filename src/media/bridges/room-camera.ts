import type { Logger } from '../../platform/logger.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { assembleVideoFrames, type FrameAssembler, type MediaFrame } from '../rooms/compose/frames.ts';
import { JitterBuffer } from '../rooms/compose/jitter-buffer.ts';
import type { Box, FrameSize } from '../rooms/compose/layout.ts';
import { parseRtp } from '../rooms/compose/rtp.ts';
import { keyFrameSize } from '../rooms/compose/vp8.ts';
import type { PositionedFrame } from './room-canvas.ts';
import { type CameraShape, VideoDecoder } from './room-decoder.ts';

export interface CameraOptions {
  ffmpeg: FfmpegProgram;
  log: Logger;
  /** Requests a keyframe from the sender. */
  again(): void;
  /** A screen that does not change sends nothing for a while. */
  isScreen: boolean;
}

type Place = Box & { isWhole: boolean };

const PATIENCE = { waitMs: 150, settleMs: 0 };
const CLOCK_RATE = 90_000;
/** Interval between keyframe requests: browsers ignore more frequent ones. */
const AGAIN_MS = 1000;
/** Interval between decoder starts: a camera may change its shape with each frame. */
const BEGIN_MIN_MS = 1000;
/** One size of several is no longer sent. */
const LAYER_OFF_MS = 1000;
const MAX_RECENT_FRAMES = 120;
const MAX_RECENT_BYTES = 2 * 2 ** 20;
/** Time without frames after which a camera or a screen counts as off. */
const OFF_AFTER_MS = { camera: 2500, screen: 12_000 };
/**
 * Relative difference below which shapes count as equal: senders reduce their resolution on a bad network.
 */
const ALIKE = 0.02;

/** One camera or screen: takes its packets and produces frames in the size of its tile. */
export class RoomCamera {
  readonly #options: CameraOptions;
  readonly #layers = new Map<number, Layer>();
  /** The one that is shown. */
  #layer = -1;
  #place: Place | null = null;
  #shape: CameraShape | null = null;
  #degrees: CameraShape['degrees'] = 0;
  #decoder: VideoDecoder | null = null;
  /** Previous decoder, shown until the next one has a frame. */
  #former: VideoDecoder | null = null;
  #isWaiting = true;
  /** Frames since the last keyframe, from which a decoder can start; null when it was too long ago. */
  #recent: Buffer[] | null = null;
  #recentBytes = 0;
  #frameAtMs = Number.NEGATIVE_INFINITY;
  #begunAtMs = Number.NEGATIVE_INFINITY;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: CameraOptions) {
    this.#options = options;
  }

  packet(data: Buffer, number: number, atMs: number): void {
    const rtp = parseRtp(data);
    if (rtp === null) return;
    const layer = this.#layers.get(number) ?? newLayer();
    this.#layers.set(number, layer);
    const ready: Parameters<JitterBuffer['push']>[2] = [];
    layer.order.push({ data, receivedMs: atMs, offset: 0 }, rtp, ready);
    const frames: MediaFrame[] = [];
    for (const packet of ready) layer.make(packet, frames);
    if (frames.length > 0) layer.frameAtMs = atMs;
    layer.sinceMs = frames.length > 0 ? null : (layer.sinceMs ?? atMs);
    for (const frame of frames) this.#choose(number, frame, atMs);
    this.#ask(number, layer, atMs);
  }

  /** Where it is shown; null for nowhere: nothing is decoded then. */
  show(place: Place | null): void {
    const isSame =
      place !== null &&
      this.#place?.width === place.width &&
      this.#place.height === place.height &&
      this.#place.x === place.x &&
      this.#place.y === place.y;
    if (isSame) return;
    this.#place = place;
    this.#isWaiting = true;
    if (place === null) void this.stop();
    else if (this.#recent !== null && this.#shape !== null) {
      this.#begin(this.#shape, place);
      for (const frame of this.#recent) this.#decoder?.frame(frame);
    }
  }

  /** Reports whether it sends frames. */
  isOn(atMs: number): boolean {
    const { isScreen } = this.#options;
    return atMs - this.#frameAtMs < (isScreen ? OFF_AFTER_MS.screen : OFF_AFTER_MS.camera);
  }

  /** Returns the newest frame at its position; null while there is none. */
  picture(): PositionedFrame | null {
    const place = this.#place;
    if (place === null) return null;
    const own = this.#isWaiting ? null : (this.#decoder?.latest ?? null);
    if (own !== null) {
      if (this.#former !== null) void this.#former.stop();
      this.#former = null;
      return own;
    }
    const older = (this.#isWaiting ? this.#decoder?.latest : this.#former?.latest) ?? this.#former?.latest;
    return older == null ? null : { frame: older.frame, at: within(place, older.frame) };
  }

  async stop(): Promise<void> {
    const decoders = [this.#decoder, this.#former];
    [this.#decoder, this.#former] = [null, null];
    await Promise.all(decoders.map((one) => one?.stop()));
  }

  /** Selects the largest layer received; switches only at a keyframe. */
  #choose(number: number, frame: MediaFrame, atMs: number): void {
    const isBetter = number > this.#layer || this.#isOff(atMs);
    if (number !== this.#layer && frame.isKey && isBetter) this.#layer = number;
    if (number !== this.#layer) return;
    this.#frameAtMs = atMs;
    this.#frame(frame, atMs);
  }

  #frame({ isKey, rotation, data }: MediaFrame, atMs: number): void {
    if (rotation !== null) this.#degrees = rotation;
    if (isKey) this.#whole(data, atMs);
    this.#keep(data, isKey);
    // The old decoder continues while the tile changes: its frames are shown until the new size is decoded.
    this.#decoder?.frame(data);
  }

  /** Another decoder begins where the one before is for another shape, or is done. */
  #whole(data: Buffer, atMs: number): void {
    const place = this.#place;
    const size = keyFrameSize(data);
    const shape = size === null ? null : { ...size, degrees: this.#degrees };
    const isNew = shape !== null && (this.#shape === null || !isAlike(shape, this.#shape));
    if (shape !== null) this.#shape = shape;
    const isDue = isNew || this.#isWaiting || this.#decoder?.isBroken === true;
    if (place === null || this.#shape === null || !isDue) return;
    if (atMs - this.#begunAtMs < BEGIN_MIN_MS) {
      // The decoder starts at the first keyframe after that.
      this.#isWaiting = true;
      return;
    }
    this.#begunAtMs = atMs;
    this.#begin(this.#shape, place);
  }

  #keep(data: Buffer, isKey: boolean): void {
    if (isKey) [this.#recent, this.#recentBytes] = [[], 0];
    this.#recent?.push(data);
    this.#recentBytes += data.length;
    const isMuch = this.#recentBytes > MAX_RECENT_BYTES || (this.#recent?.length ?? 0) > MAX_RECENT_FRAMES;
    if (isMuch) this.#recent = null;
  }

  #begin(shape: CameraShape, tile: Place): void {
    const { ffmpeg, log } = this.#options;
    if (this.#former !== null) void this.#former.stop();
    this.#former = this.#decoder;
    this.#decoder = new VideoDecoder({ ffmpeg, shape, tile, log });
    this.#isWaiting = false;
  }

  /** The size that is shown is no longer sent. */
  #isOff(atMs: number): boolean {
    const shownAtMs = this.#layers.get(this.#layer)?.frameAtMs ?? Number.NEGATIVE_INFINITY;
    return atMs - shownAtMs > LAYER_OFF_MS;
  }

  /** Requests a keyframe after a packet, if this layer or any needs one. */
  #ask(number: number, { sinceMs }: Layer, atMs: number): void {
    const isNeeded = this.#place !== null && (this.#isWaiting || this.#decoder?.isBroken === true);
    // Packets arrive, but form no complete frame.
    const isTorn = number >= this.#layer && sinceMs !== null && atMs - sinceMs > AGAIN_MS;
    // A smaller layer takes over only at a keyframe; the camera may not be on screen, so no decoder waits for
    // one.
    const isLeft = number < this.#layer && this.#isOff(atMs);
    if ((!isNeeded && !isTorn && !isLeft) || atMs - this.#askedAtMs < AGAIN_MS) return;
    this.#askedAtMs = atMs;
    this.#options.again();
  }
}

interface Layer {
  order: JitterBuffer;
  make: FrameAssembler;
  frameAtMs: number;
  /**
   * Time since which packets have come without a complete frame; null when the last one completed a frame.
   */
  sinceMs: number | null;
}

function newLayer(): Layer {
  const order = new JitterBuffer(CLOCK_RATE, null, PATIENCE);
  return { order, make: assembleVideoFrames(turnOf), frameAtMs: Number.NEGATIVE_INFINITY, sinceMs: null };
}

/** Returns the largest centered box that keeps the aspect ratio. */
function within(place: Box, { width, height }: FrameSize): Box {
  const scale = Math.min(place.width / width, place.height / height);
  const size = { width: even(width * scale), height: even(height * scale) };
  const [x, y] = [even((place.width - size.width) / 2), even((place.height - size.height) / 2)];
  return { x: place.x + x, y: place.y + y, ...size };
}

const even = (value: number) => 2 * Math.floor(value / 2);

function isAlike(a: CameraShape, b: CameraShape): boolean {
  return a.degrees === b.degrees && Math.abs(a.width / a.height - b.width / b.height) < ALIKE;
}

/**
 * Finds the orientation by its form: Janus does not tell the ID of an extension here. Among the extensions it
 * lets browsers send with video, no other has one byte of such a low value: a media section ID is a letter or
 * a digit.
 */
function turnOf(extensions: ReadonlyMap<number, Buffer>): number | undefined {
  for (const value of extensions.values()) {
    const [first] = value;
    if (value.length === 1 && first !== undefined && first < 0x10) return first;
  }
  return undefined;
}
