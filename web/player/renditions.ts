/** One quality that a viewer can choose. */
export interface Rendition {
  id: string;
  width: number;
  height: number;
  bitrate: number;
}

/**
 * Renditions of a video in the form that media-chrome expects: `video.videoRenditions`, an array-like that
 * dispatches change events. `selectedIndex` -1 lets the player choose.
 */
export class RenditionList extends EventTarget implements Iterable<Rendition> {
  readonly [index: number]: Rendition;
  #items: readonly Rendition[] = [];
  #selected = -1;
  /** Called when a viewer chooses. */
  onSelect: (index: number) => void = () => {};

  get length(): number {
    return this.#items.length;
  }

  get selectedIndex(): number {
    return this.#selected;
  }

  set selectedIndex(index: number) {
    if (index === this.#selected) return;
    this.#selected = index;
    this.onSelect(index);
    this.dispatchEvent(new Event('change'));
  }

  [Symbol.iterator](): Iterator<Rendition> {
    return this.#items[Symbol.iterator]();
  }

  /** Replaces all renditions; the viewer's choice is preserved by size if possible. */
  replace(items: readonly Rendition[]): void {
    const chosen = this.#items[this.#selected];
    for (const index of this.#items.keys()) Reflect.deleteProperty(this, index);
    this.#items = items;
    Object.assign(this, items);
    this.#selected = items.findIndex(({ height }) => height === chosen?.height);
    this.onSelect(this.#selected);
    this.dispatchEvent(new Event('addrendition'));
    this.dispatchEvent(new Event('change'));
  }
}
