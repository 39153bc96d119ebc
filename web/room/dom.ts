type Attributes = Record<string, string | number | boolean>;
type Child = Node | string | null;

/** An element. An attribute that is true is there without a value, one that is false is not there. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** The part of the page that the script cannot do without. @throws {Error} when it is not there. */
export function part<T extends Element>(root: ParentNode, selector: string, type: new () => T): T {
  const found = root.querySelector(selector);
  if (found instanceof type) return found;
  throw new Error(`the page has no ${selector}`);
}

/** Changes the text only if it differs, so that it is not announced twice. */
export function announce(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

const PATHS = {
  microphone:
    'M12 15a3.5 3.5 0 0 0 3.5-3.5v-5a3.5 3.5 0 1 0-7 0v5A3.5 3.5 0 0 0 12 15Zm6-4a6 6 0 0 1-12 0M12 17v4',
  camera:
    'M3.5 6.5h11a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1Zm12 4 6-3.5v10l-6-3.5',
  screen: 'M3 4.5h18v12H3zM8 20.5h8M12 13.5v-6m-2.5 2.5L12 7.5l2.5 2.5',
  hand: 'M8 12V5.5a1.5 1.5 0 0 1 3 0V11m0-6.5a1.5 1.5 0 0 1 3 0V11m0-4a1.5 1.5 0 0 1 3 0v7a7 7 0 0 1-7 7c-3 0-4.4-1.5-5.7-4L2.8 13.5a1.5 1.5 0 0 1 2.5-1.6L8 15',
  chat: 'M4 4.5h16a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1h-8.5L7 20.5v-4H4a1 1 0 0 1-1-1v-10a1 1 0 0 1 1-1Z',
  people:
    'M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20a6.5 6.5 0 0 1 13 0M16 4.7a3.5 3.5 0 0 1 0 6.6M18 14a6.5 6.5 0 0 1 3.5 6',
  grid: 'M4 4h6.5v6.5H4zM13.5 4H20v6.5h-6.5zM4 13.5h6.5V20H4zM13.5 13.5H20V20h-6.5z',
  speaker: 'M3 4h18v11H3zM3 18h5v2.5H3zM10 18h5v2.5h-5zM17 18h4v2.5h-4z',
  settings: 'M4 7h9m5 0h2M4 17h2m5 0h9M13 4.5v5M8.5 14.5v5',
  record: 'M12 19a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm0-4.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z',
  leave: 'M10 4H5a1 1 0 0 0-1 1v14a1 1 0 0 0 1 1h5M15 8l4 4-4 4m4-4H9',
  close: 'M6 6l12 12M18 6 6 18',
  off: 'M4 3.5l16.5 17',
} as const;

export type IconName = Exclude<keyof typeof PATHS, 'off'>;

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Creates an icon that is hidden from screen readers, as its button has a label. `isOff` strikes it through.
 */
export function icon(name: IconName, isOff = false): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('class', 'icon');
  for (const d of isOff ? [PATHS[name], PATHS.off] : [PATHS[name]]) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', d);
    svg.append(path);
  }
  return svg;
}
