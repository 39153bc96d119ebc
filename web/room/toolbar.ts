import { el, type IconName, icon } from './dom.ts';

export type Action =
  | 'microphone'
  | 'camera'
  | 'screen'
  | 'hand'
  | 'chat'
  | 'people'
  | 'view'
  | 'record'
  | 'settings'
  | 'leave';

interface Control {
  icon: IconName;
  on: string;
  off: string;
  key: string;
  /** Opens a panel next to the videos. */
  opens?: boolean;
}

const CONTROLS: Record<Action, Control> = {
  microphone: { icon: 'microphone', on: 'Mute', off: 'Unmute', key: 'm' },
  camera: { icon: 'camera', on: 'Stop camera', off: 'Start camera', key: 'v' },
  screen: { icon: 'screen', on: 'Stop sharing', off: 'Share screen', key: 's' },
  hand: { icon: 'hand', on: 'Lower hand', off: 'Raise hand', key: 'h' },
  chat: { icon: 'chat', on: 'Chat', off: 'Chat', key: 'c', opens: true },
  people: { icon: 'people', on: 'People', off: 'People', key: 'p', opens: true },
  view: { icon: 'speaker', on: 'Grid view', off: 'Speaker view', key: 'g' },
  record: { icon: 'record', on: 'Stop recording', off: 'Record', key: '' },
  settings: { icon: 'settings', on: 'Settings', off: 'Settings', key: '' },
  leave: { icon: 'leave', on: 'Leave', off: 'Leave', key: '' },
};

const ACTIONS: readonly Action[] = [
  'microphone',
  'camera',
  'screen',
  'hand',
  'chat',
  'people',
  'view',
  'record',
  'settings',
  'leave',
];
/** A device that is off is struck through. */
const STRUCK: readonly Action[] = ['microphone', 'camera'];

export interface ActionState {
  isOn?: boolean;
  /** Omitted from the toolbar, and its shortcut is disabled. */
  isHidden?: boolean;
  /** Number of new items since it was last open. */
  count?: number;
}

/** Buttons below the videos, and their shortcuts. */
export class Toolbar {
  readonly element = el('div', { class: 'toolbar', role: 'group', 'aria-label': 'Controls' });
  /** Whether single-key shortcuts are enabled; they are while no text is being entered. */
  hasKeys = true;
  readonly #buttons = new Map<Action, HTMLButtonElement>();
  readonly #act: (action: Action) => void;
  readonly #stop = new AbortController();

  constructor(act: (action: Action) => void) {
    this.#act = act;
    for (const action of ACTIONS) {
      const { key, opens } = CONTROLS[action];
      const button = el('button', { type: 'button', class: 'control', 'data-action': action });
      if (key !== '') button.setAttribute('aria-keyshortcuts', key);
      if (opens) button.setAttribute('aria-controls', 'side');
      button.addEventListener('click', () => act(action));
      this.#buttons.set(action, button);
      this.element.append(button);
      this.set(action, {});
    }
    document.addEventListener('keydown', (event) => this.#onKey(event), { signal: this.#stop.signal });
  }

  close(): void {
    this.#stop.abort();
  }

  focus(action: Action): void {
    this.#buttons.get(action)?.focus();
  }

  set(action: Action, { isOn = false, isHidden = false, count = 0 }: ActionState): void {
    const button = this.#buttons.get(action);
    if (button === undefined) return;
    const { on, off, key, opens, icon: name } = CONTROLS[action];
    button.hidden = isHidden;
    const words = isOn ? on : off;
    const state = `${words} ${isOn} ${count}`;
    if (button.dataset.state === state) return;
    button.dataset.state = state;
    button.toggleAttribute('data-on', isOn);
    if (opens) button.setAttribute('aria-expanded', String(isOn));
    button.title = key === '' ? words : `${words} (${key.toUpperCase()})`;
    const label = el('span', { class: 'control-words' }, words);
    const shown = action === 'view' && isOn ? icon('grid') : icon(name, STRUCK.includes(action) && !isOn);
    button.replaceChildren(shown, label);
    button.setAttribute('aria-label', count > 0 ? `${words}, ${count} new` : words);
    if (count > 0) button.append(el('span', { class: 'count' }, String(count)));
  }

  #onKey(event: KeyboardEvent): void {
    const { target, key } = event;
    if (!this.hasKeys || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (target instanceof Element && target.closest('input, textarea, select, dialog') !== null) return;
    const action = ACTIONS.find((one) => CONTROLS[one].key === key.toLowerCase());
    if (action === undefined || this.#buttons.get(action)?.hidden !== false) return;
    event.preventDefault();
    this.#act(action);
  }
}
