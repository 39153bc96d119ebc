import type { TrackSource } from './client/media-engine.ts';
import type { Participant } from './client/protocol.ts';
import { announce, el, icon } from './dom.ts';
import { SILENCE_THRESHOLD } from './levels.ts';
import { nameOf } from './messages.ts';

export type View = 'grid' | 'speaker';

/** Maximum videos shown; the remaining participants are only heard and counted. */
const TILES_MAX = 25;
/** Time for which a speaker remains in front during short pauses and interjections. */
const HOLD_MS = 1500;
const RATIO = 16 / 9;
const GAP_PX = 8;

/**
 * Videos of all participants: in a grid, or with the speaker in front. A shared screen is always in front.
 */
export class Stage {
  readonly element = el('section', { class: 'stage', 'aria-label': 'Pictures' });
  readonly #front = el('div', { class: 'stage-front', hidden: true });
  readonly #rest = el('div', { class: 'stage-rest' });
  readonly #more = el('p', { class: 'stage-more', hidden: true });
  readonly #tiles = new Map<string, Tile>();
  readonly #pictures = new Map<string, MediaStreamTrack>();
  #people: Participant[] = [];
  #self = '';
  #view: View = 'grid';
  #speaker: string | null = null;
  #speakerSince = 0;

  constructor() {
    this.element.append(this.#front, this.#rest, this.#more);
    new ResizeObserver(() => this.#measure()).observe(this.#rest);
  }

  get view(): View {
    return this.#view;
  }

  set view(view: View) {
    this.#view = view;
    this.#arrange();
  }

  show(participants: Iterable<Participant>, self: string): void {
    this.#people = [...participants];
    this.#self = self;
    this.#arrange();
  }

  /** @param track null: the track has ended. */
  setPicture(identity: string, source: TrackSource, track: MediaStreamTrack | null): void {
    const key = keyOf(identity, source);
    if (track === null) this.#pictures.delete(key);
    else this.#pictures.set(key, track);
    this.#arrange();
  }

  showLevels(levels: ReadonlyMap<string, number>): void {
    let loudest: string | null = null;
    for (const [identity, level] of levels) {
      const tile = this.#tiles.get(keyOf(identity, 'CAMERA'));
      tile?.element.toggleAttribute('data-speaking', level > SILENCE_THRESHOLD);
      if (level <= SILENCE_THRESHOLD || identity === this.#self) continue;
      if (loudest === null || level > (levels.get(loudest) ?? 0)) loudest = identity;
    }
    const now = performance.now();
    if (loudest === null || loudest === this.#speaker) {
      if (loudest !== null) this.#speakerSince = now;
      return;
    }
    if (this.#speaker !== null && now - this.#speakerSince < HOLD_MS) return;
    this.#speaker = loudest;
    this.#speakerSince = now;
    if (this.#view === 'speaker') this.#arrange();
  }

  #arrange(): void {
    const screens = this.#people.filter(({ identity }) => this.#pictures.has(keyOf(identity, 'SCREEN')));
    const front = this.#inFront(screens.at(-1));
    const keys = [
      ...screens.map(({ identity }) => keyOf(identity, 'SCREEN')),
      ...this.#ranked().map(({ identity }) => keyOf(identity, 'CAMERA')),
    ];
    const shown = new Set(keys.slice(0, TILES_MAX));
    if (front !== null) shown.add(front);
    for (const [key, tile] of this.#tiles) {
      if (shown.has(key)) continue;
      tile.element.remove();
      this.#tiles.delete(key);
    }
    for (const person of this.#people) {
      this.#place(person, 'SCREEN', shown, front);
      this.#place(person, 'CAMERA', shown, front);
    }
    this.#front.hidden = front === null;
    this.element.toggleAttribute('data-front', front !== null);
    const hidden = keys.length - shown.size;
    this.#more.hidden = hidden <= 0;
    announce(this.#more, `${hidden} more`);
    this.#measure();
  }

  #place(person: Participant, source: 'CAMERA' | 'SCREEN', shown: Set<string>, front: string | null): void {
    const key = keyOf(person.identity, source);
    if (!shown.has(key)) return;
    const tile = this.#tiles.get(key) ?? new Tile();
    this.#tiles.set(key, tile);
    tile.show(person, source, person.identity === this.#self, this.#pictures.get(key) ?? null);
    const home = key === front ? this.#front : this.#rest;
    if (tile.element.parentElement !== home) home.append(tile.element);
  }

  #inFront(screen: Participant | undefined): string | null {
    if (screen !== undefined) return keyOf(screen.identity, 'SCREEN');
    if (this.#view === 'grid' || this.#people.length < 2) return null;
    const isThere = this.#people.some(({ identity }) => identity === this.#speaker);
    const other = this.#people.find(({ identity }) => identity !== this.#self);
    const identity = isThere ? this.#speaker : other?.identity;
    return identity === undefined || identity === null ? null : keyOf(identity, 'CAMERA');
  }

  /** Returns the participants in display order. If not all fit, those who send video or speak come first. */
  #ranked(): Participant[] {
    if (this.#people.length <= TILES_MAX) return this.#people;
    const rank = ({ video, audio }: Participant) => (video ? 2 : 0) + (audio ? 1 : 0);
    return this.#people.toSorted((a, b) => rank(b) - rank(a));
  }

  /** Chooses the number of columns with the largest videos. */
  #measure(): void {
    const count = this.#rest.childElementCount;
    const { clientWidth: width, clientHeight: height } = this.#rest;
    if (count === 0 || width === 0) return;
    let best = { columns: 1, size: 0 };
    for (let columns = 1; columns <= count; columns += 1) {
      const rows = Math.ceil(count / columns);
      const size = Math.min(
        (width - GAP_PX * (columns - 1)) / columns,
        ((height - GAP_PX * (rows - 1)) / rows) * RATIO,
      );
      if (size > best.size) best = { columns, size };
    }
    this.#rest.style.setProperty('--columns', String(best.columns));
    this.#rest.style.setProperty('--tile', `${Math.floor(best.size)}px`);
  }
}

class Tile {
  readonly element = el('figure', { class: 'tile' });
  readonly #video = el('video', { autoplay: true, playsinline: true });
  readonly #initial = el('span', { class: 'tile-initial', 'aria-hidden': 'true' });
  readonly #name = el('bdi');
  readonly #marks = el('span', { class: 'tile-marks' });

  constructor() {
    // Audio is played separately.
    this.#video.muted = true;
    const caption = el('figcaption', {}, this.#marks, this.#name);
    this.element.append(this.#initial, this.#video, caption);
  }

  show(
    person: Participant,
    source: 'CAMERA' | 'SCREEN',
    isSelf: boolean,
    track: MediaStreamTrack | null,
  ): void {
    const name = nameOf(person);
    const isScreen = source === 'SCREEN';
    this.element.dataset.identity = person.identity;
    this.element.dataset.source = source;
    this.element.toggleAttribute('data-self', isSelf);
    announce(this.#name, isScreen ? `${name}: screen` : isSelf ? `${name} (you)` : name);
    announce(this.#initial, [...name][0]?.toUpperCase() ?? '?');
    const marks = [
      ...(isScreen || person.audio ? [] : [mark('microphone', true, 'Microphone off')]),
      ...(person.hand && !isScreen ? [mark('hand', false, 'Hand raised')] : []),
    ];
    this.#marks.replaceChildren(...marks);
    // A video that has been turned off would leave its last frame behind.
    const shown = isScreen || isSelf || person.video ? track : null;
    this.#video.hidden = shown === null;
    const current =
      this.#video.srcObject instanceof MediaStream ? this.#video.srcObject.getTracks()[0] : null;
    if (current !== shown) this.#video.srcObject = shown === null ? null : new MediaStream([shown]);
    this.#video.setAttribute('aria-label', isScreen ? `${name}’s screen` : `${name}’s video`);
  }
}

function mark(name: 'microphone' | 'hand', isOff: boolean, words: string): HTMLElement {
  return el('span', { class: 'mark' }, icon(name, isOff), el('span', { class: 'unseen' }, words));
}

function keyOf(identity: string, source: TrackSource): string {
  return `${source} ${identity}`;
}
