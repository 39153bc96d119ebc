import type { Logger } from '../../platform/logger.ts';
import type { RoomView } from '../contract/index.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { READ_BUDGETS, ReadMeter } from '../read-budget.ts';
import { PushError } from '../restream/failure.ts';
import type { VisibleParticipants } from '../rooms/compose/layout.ts';
import { tilesOf } from '../rooms/compose/layout.ts';
import { openRoomTap, type RoomTap, type TappedTrack } from '../rooms/janus/tap.ts';
import { LiveLane } from './live-playout.ts';
import { AudioInputs } from './room-audio-inputs.ts';
import { RoomCamera } from './room-camera.ts';
import { bytesOf, composeFrame, type PositionedFrame } from './room-canvas.ts';
import { FPS, FRAME_SIZE, type RoomMixer, startRoomMixer } from './room-mixer.ts';
import { createStillPainter, type NamedTile } from './room-overlay.ts';
import { type BridgeLayout, participantsInFrame, type VisibleParticipant } from './room-scene.ts';
import type { SourceContext } from './source.ts';

export interface RoomSourceOptions {
  roomId: string;
  layout: BridgeLayout;
  /** Returns the current participants; null when the room has ended. */
  view(): Promise<RoomView | null>;
  ffmpeg: FfmpegProgram;
  /** File with the connection data of Janus. */
  linkFile: string;
  /** Directory for names, which a program reads. */
  dir: string;
  log: Logger;
}

const TICK_MS = 20;
const LOOK_MS = 250;
const VIEW_MS = 1000;
const JANUS_AWAY_MS = 20_000;
/** Time for which a speaker stays large. */
const SPEAKER_MS = 2500;
const FRAME_MS = 1000 / FPS;

/** Composes a room into one video and one audio track, until it ends (docs/decisions/bridges.md#rooms). */
export async function runRoom(
  options: RoomSourceOptions,
  { begin, grant, signal }: Pick<SourceContext, 'begin' | 'grant' | 'signal'>,
): Promise<void> {
  const first = await options.view();
  if (first === null || signal.aborted) return;
  const lane = new LiveLane(begin);
  try {
    await carryRoom(options, { first, lane, signal, keyframeSec: grant.latencyMode === 'LOW' ? 1 : 2 });
  } finally {
    lane.end();
  }
}

interface Carried {
  first: RoomView;
  lane: LiveLane;
  signal: AbortSignal;
  keyframeSec: number;
}

async function carryRoom(
  options: RoomSourceOptions,
  { first, lane, signal, keyframeSec }: Carried,
): Promise<void> {
  const { ffmpeg, log } = options;
  const mixer = await startRoomMixer(
    { ffmpeg, log, keyframeSec },
    (tag) => lane.tag(tag),
    () => lane.flush(),
  );
  const stage = new Stage(options, mixer, first);
  try {
    await stage.open();
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
    });
    await Promise.race([stage.over, aborted, lane.silence, mixer.failed]);
  } finally {
    await Promise.all([stage.close(), mixer.stop()]);
  }
}

/** Participants of the room, the tracks they send, and the frame composed of them. */
class Stage {
  /** Resolves when the room has ended; rejects when it can no longer be read. */
  readonly over: Promise<void>;
  readonly #options: RoomSourceOptions;
  readonly #mixer: RoomMixer;
  readonly #end = Promise.withResolvers<void>();
  readonly #cameras = new Map<TappedTrack, RoomCamera>();
  readonly #voices = new AudioInputs();
  /** Meters of the bytes each track sends. */
  readonly #meters = new Map<TappedTrack, ReadMeter>();
  readonly #bornMs = performance.now();
  #view: RoomView;
  #tap: RoomTap | null = null;
  #still: Buffer = Buffer.alloc(bytesOf(FRAME_SIZE), 128);
  #shown: RoomCamera[] = [];
  /** Key of the scene the frame was laid out for. */
  #laidOut = '';
  #isPainting = false;
  #speaker: { identity: string; sinceMs: number } | null = null;
  #speaking = new Map<string, number>();
  #lastPicture = -1;
  #timers: NodeJS.Timeout[] = [];

  constructor(options: RoomSourceOptions, mixer: RoomMixer, view: RoomView) {
    this.#options = options;
    this.#mixer = mixer;
    this.#view = view;
    this.over = this.#end.promise;
    this.over.catch(() => {});
  }

  async open(): Promise<void> {
    const { ffmpeg, dir, log, linkFile, roomId } = this.#options;
    const painter = await createStillPainter({ ffmpeg, dir, log }, FRAME_SIZE);
    const look = () => this.#look(painter.paint);
    await look();
    this.#tap = await openRoomTap({
      ...{ linkFile, room: roomId, log },
      onTrack: (track) => this.#add(track),
      onGone: (track) => this.#remove(track),
      onPacket: (track, packet, layer) => this.#packet(track, packet, layer),
      onSpeech: (identity, speaks) => this.#speech(identity, speaks),
    });
    this.#timers = [
      setInterval(() => this.#tick(), TICK_MS),
      setInterval(() => void look(), LOOK_MS),
      setInterval(() => void this.#ask(), VIEW_MS),
    ];
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([this.#tap?.stop(), ...[...this.#cameras.values()].map((camera) => camera.stop())]);
  }

  get #nowMs(): number {
    return performance.now() - this.#bornMs;
  }

  #add(track: TappedTrack): void {
    this.#meters.set(track, new ReadMeter(READ_BUDGETS.roomTrack));
    if (track.kind === 'AUDIO') {
      this.#voices.add(track);
      return;
    }
    const { ffmpeg, log } = this.#options;
    const isScreen = track.source === 'SCREEN';
    const again = () => this.#tap?.again(track);
    this.#cameras.set(track, new RoomCamera({ ffmpeg, log, again, isScreen }));
  }

  #remove(track: TappedTrack): void {
    this.#meters.delete(track);
    this.#voices.remove(track);
    const camera = this.#cameras.get(track);
    this.#cameras.delete(track);
    this.#shown = this.#shown.filter((one) => one !== camera);
    void camera?.stop();
  }

  /** Drops packets beyond the budget of their track, like a lossy network. */
  #packet(track: TappedTrack, packet: Buffer, layer: number): void {
    const waitMs = this.#meters.get(track)?.add(1, packet.length) ?? 0;
    if (waitMs > 0) return;
    if (track.kind === 'AUDIO') this.#voices.packet(track, packet, this.#nowMs);
    else this.#cameras.get(track)?.packet(packet, layer, this.#nowMs);
  }

  #speech(identity: string, speaks: boolean): void {
    if (!speaks) return void this.#speaking.delete(identity);
    this.#speaking.set(identity, this.#nowMs);
    this.#voices.speaks(identity, this.#nowMs);
  }

  async #ask(): Promise<void> {
    const lostMs = this.#tap?.lostSince() ?? null;
    if (lostMs !== null && performance.now() - lostMs > JANUS_AWAY_MS) {
      this.#end.reject(new PushError('normal', 'The room engine Janus is not running.'));
    }
    try {
      const view = await this.#options.view();
      if (view === null) this.#end.resolve();
      else this.#view = view;
    } catch (error) {
      // The room continues unchanged.
      this.#options.log.warn({ err: error }, 'the participants of a room could not be read');
    }
  }

  /** Updates the layout when the scene has changed. Never rejects. */
  async #look(paint: (tiles: readonly NamedTile[]) => Promise<Buffer | null>): Promise<void> {
    if (this.#isPainting) return;
    const { cast, key } = this.#cast();
    if (key === this.#laidOut) return;
    this.#isPainting = true;
    const tiles = tilesOf(cast, FRAME_SIZE);
    const named = tiles.map((tile) => ({ ...tile, isSeen: tile.camera !== null }));
    const card = tilesOf(
      { people: [{ name: this.#view.name, camera: null }], screen: null, speaker: null },
      FRAME_SIZE,
    );
    const still = await paint(named.length > 0 ? named : card.map((tile) => ({ ...tile, isSeen: false })));
    this.#isPainting = false;
    // Tried again with the next look.
    if (still === null) return;
    this.#still = still;
    this.#laidOut = key;
    const seen = tiles.flatMap((tile) => (tile.camera === null ? [] : [{ tile, camera: tile.camera }]));
    this.#shown = seen.map(({ camera }) => camera);
    for (const camera of this.#cameras.values()) {
      camera.show(seen.find((one) => one.camera === camera)?.tile ?? null);
    }
  }

  #cast(): { cast: VisibleParticipants<RoomCamera>; key: string } {
    const now = this.#nowMs;
    const on = [...this.#cameras].filter(([, camera]) => camera.isOn(now));
    const of = (identity: string, isScreen: boolean) =>
      on.findLast(([track]) => track.identity === identity && (track.source === 'SCREEN') === isScreen) ??
      null;
    const people = this.#view.people.map(({ identity, name }): VisibleParticipant<RoomCamera> => {
      const [camera, screen] = [of(identity, false), of(identity, true)];
      return { identity, name, camera: camera?.[1] ?? null, screen: screen?.[1] ?? null };
    });
    const speaking = this.#whoSpeaks(now);
    const cast = participantsInFrame(people, speaking, this.#options.layout);
    const numbers = [...this.#cameras.values()];
    const number = (camera: RoomCamera | null) => (camera === null ? -1 : numbers.indexOf(camera));
    const key = JSON.stringify([
      cast.people.map(({ name, camera }) => [name, number(camera)]),
      cast.screen && [cast.screen.name, number(cast.screen.camera)],
      cast.speaker,
      this.#view.name,
    ]);
    return { cast, key };
  }

  /** Returns the participant who began to speak last, who stays for a minimum time. */
  #whoSpeaks(now: number): string | null {
    const [newest] = [...this.#speaking].toSorted(([, a], [, b]) => b - a);
    const last = this.#speaker;
    if (
      newest !== undefined &&
      newest[0] !== last?.identity &&
      now - (last?.sinceMs ?? -SPEAKER_MS) >= SPEAKER_MS
    ) {
      this.#speaker = { identity: newest[0], sinceMs: now };
    }
    return this.#speaker?.identity ?? null;
  }

  #tick(): void {
    const due = Math.floor(this.#nowMs / FRAME_MS);
    if (due <= this.#lastPicture) return;
    this.#lastPicture = due;
    const atMs = due * FRAME_MS;
    const picture = this.#mixer.take();
    if (picture !== null) {
      const placed = this.#shown
        .map((camera) => camera.picture())
        .filter((one): one is PositionedFrame => one !== null);
      composeFrame(picture, this.#still, placed);
    }
    this.#mixer.write(atMs, this.#voices.until(atMs), picture);
  }
}
