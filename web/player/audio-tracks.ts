/** media-chrome hands labels on in a list that spaces and colons divide. */
export const writeLabel = encodeURIComponent;

/** Decodes a label of `writeLabel`; returns other labels unchanged. */
export function readLabel(label: string): string {
  try {
    return decodeURIComponent(label);
  } catch {
    return label;
  }
}

/** One sound that a viewer can choose, as `AudioTrack` of HTML has it. */
export interface AudioTrack {
  readonly id: string;
  readonly kind: string;
  /** By `writeLabel`. */
  readonly label: string;
  readonly language: string;
  enabled: boolean;
}

/**
 * Audio tracks of a video in the form that media-chrome expects: `video.audioTracks`, which few browsers
 * implement. An array-like that dispatches change events; one track is enabled.
 */
export class AudioTrackList extends EventTarget implements Iterable<AudioTrack> {
  readonly [index: number]: AudioTrack;
  #items: readonly AudioTrack[] = [];
  #enabled = -1;
  /** Called when a viewer chooses. */
  onSelect: (index: number) => void = () => {};

  get length(): number {
    return this.#items.length;
  }

  [Symbol.iterator](): Iterator<AudioTrack> {
    return this.#items[Symbol.iterator]();
  }

  /** Replaces all tracks. */
  replace(items: readonly Omit<AudioTrack, 'enabled' | 'id'>[], enabled: number): void {
    for (const index of this.#items.keys()) Reflect.deleteProperty(this, index);
    this.#items = items.map((item, index) => this.#track(item, index));
    Object.assign(this, this.#items);
    this.#enabled = enabled;
    this.dispatchEvent(new Event('addtrack'));
  }

  /** Marks a track as playing, whether the viewer or the player chose it. */
  show(index: number): void {
    if (index === this.#enabled) return;
    this.#enabled = index;
    this.dispatchEvent(new Event('change'));
  }

  #track(item: Omit<AudioTrack, 'enabled' | 'id'>, index: number): AudioTrack {
    const isEnabled = () => this.#enabled === index;
    // Enabling one track also disables the others, before or after it; only enabling is a choice.
    const choose = () => {
      this.show(index);
      this.onSelect(index);
    };
    return {
      ...item,
      id: String(index),
      get enabled() {
        return isEnabled();
      },
      set enabled(wanted) {
        if (wanted && !isEnabled()) choose();
      },
    };
  }
}
