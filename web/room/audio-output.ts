import type { TrackSource } from './client/media-engine.ts';

/** Plays the audio of the other participants. */
export class AudioOutput {
  readonly #players = new Map<string, HTMLAudioElement>();
  readonly #onBlocked: () => void;

  /** @param onBlocked called when the browser requires a click before audio: call `start` from one. */
  constructor(onBlocked: () => void) {
    this.#onBlocked = onBlocked;
  }

  /** @param track null: the track has ended. */
  set(identity: string, source: TrackSource, track: MediaStreamTrack | null): void {
    const key = `${source} ${identity}`;
    this.#players.get(key)?.remove();
    this.#players.delete(key);
    if (track === null) return;
    const player = document.createElement('audio');
    player.autoplay = true;
    player.dataset.identity = identity;
    player.srcObject = new MediaStream([track]);
    this.#players.set(key, player);
    document.body.append(player);
    this.#play(player);
  }

  start(): void {
    for (const player of this.#players.values()) this.#play(player);
  }

  close(): void {
    for (const player of this.#players.values()) {
      player.srcObject = null;
      player.remove();
    }
    this.#players.clear();
  }

  #play(player: HTMLAudioElement): void {
    player.play().catch((error: unknown) => {
      if (error instanceof DOMException && error.name === 'NotAllowedError') this.#onBlocked();
    });
  }
}
