/** media-chrome hands labels on in a list that spaces and colons divide. */
export const writeLabel = encodeURIComponent;

/** What `writeLabel` was given; a label of somebody else as it is. */
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
 * The sounds of a video in the form in which media-chrome looks for them: `video.audioTracks`, which few browsers have.
 * An array-like that tells of changes; one of them is enabled.
 */
export class AudioTrackList extends EventTarget implements Iterable<AudioTrack> {
  readonly [index: number]: AudioTrack;
  #items: readonly AudioTrack[] = [];
  #enabled = -1;
  /** Told when a viewer chooses. */
  onSelect: (index: number) => void = () => {};

  get length(): number {
    return this.#items.length;
  }

  [Symbol.iterator](): Iterator<AudioTrack> {
    return this.#items[Symbol.iterator]();
  }

  /** Takes the place of what was there. */
  replace(items: readonly Omit<AudioTrack, 'enabled' | 'id'>[], enabled: number): void {
    for (const index of this.#items.keys()) Reflect.deleteProperty(this, index);
    this.#items = items.map((item, index) => this.#track(item, index));
    Object.assign(this, this.#items);
    this.#enabled = enabled;
    this.dispatchEvent(new Event('addtrack'));
  }

  /** What plays now, whoever has chosen it. */
  show(index: number): void {
    if (index === this.#enabled) return;
    this.#enabled = index;
    this.dispatchEvent(new Event('change'));
  }

  #track(item: Omit<AudioTrack, 'enabled' | 'id'>, index: number): AudioTrack {
    const isEnabled = () => this.#enabled === index;
    // Whoever enables one disables the others before or after: that is no choice.
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
