const TICK_MS = 100;
/** Below this (-39 dB) it is quiet: the noise of a room. */
export const SILENCE_THRESHOLD = 0.35;
/** Share of the level that remains after each tick, so that a pause between words does not count. */
const DECAY = 0.8;

interface Watched {
  source: MediaStreamAudioSourceNode;
  analyser: AnalyserNode;
  samples: Float32Array<ArrayBuffer>;
  level: number;
}

/** Loudness of tracks, 0 to 1. Measuring begins after a click, because browsers block audio before one. */
export class Levels {
  #context: AudioContext | null = null;
  readonly #watched = new Map<string, Watched>();
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #onTick: (levels: ReadonlyMap<string, number>) => void;

  /** @param onTick called ten times a second, while any track is watched. */
  constructor(onTick: (levels: ReadonlyMap<string, number>) => void) {
    this.#onTick = onTick;
  }

  /** Watches a track under a name; null stops watching. */
  watch(name: string, track: MediaStreamTrack | null): void {
    this.#watched.get(name)?.source.disconnect();
    this.#watched.delete(name);
    if (track !== null) this.#add(name, track);
    if (this.#watched.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#onTick(new Map());
    } else this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
  }

  /** Resumes the audio context after a click, if the browser had suspended it. */
  resume(): void {
    void this.#context?.resume();
  }

  close(): void {
    for (const name of [...this.#watched.keys()]) this.watch(name, null);
    void this.#context?.close();
    this.#context = null;
  }

  #add(name: string, track: MediaStreamTrack): void {
    this.#context ??= new AudioContext();
    const source = this.#context.createMediaStreamSource(new MediaStream([track]));
    const analyser = this.#context.createAnalyser();
    analyser.fftSize = 1024;
    source.connect(analyser);
    this.#watched.set(name, {
      source,
      analyser,
      samples: new Float32Array(analyser.fftSize),
      level: 0,
    });
  }

  #tick(): void {
    const levels = new Map<string, number>();
    for (const [name, watched] of this.#watched) {
      watched.analyser.getFloatTimeDomainData(watched.samples);
      const loud = loudness(watched.samples);
      watched.level = Math.max(loud, watched.level * DECAY);
      levels.set(name, watched.level);
    }
    this.#onTick(levels);
  }
}

/** Root mean square on a scale of decibels: -60 dB and less is 0, full is 1. */
function loudness(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  const decibels = 10 * Math.log10(sum / samples.length + 1e-9);
  return Math.min(1, Math.max(0, (decibels + 60) / 60));
}
