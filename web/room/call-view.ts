import type { RoomState } from './client/room-state.ts';
import { announce, el, part } from './dom.ts';

const NOTICE_MS = 6000;

/** Frame of the room: its name, badges, status line and the containers of its parts. */
export class CallView {
  readonly #root: HTMLElement;
  readonly #title = el('h1', { tabindex: '-1' });
  readonly #recording = el('span', { class: 'badge', 'data-badge': 'live', hidden: true }, 'Recording');
  readonly #count = el('span', { class: 'call-count' });
  readonly #banner = el('div', { class: 'banner', role: 'status', hidden: true });
  readonly #news = el('p', { class: 'news', 'aria-live': 'polite' });
  readonly #consent = el('div', { class: 'banner consent', role: 'alert', hidden: true });
  readonly #broadcast = el(
    'div',
    { class: 'banner', role: 'status', hidden: true },
    'This room is being broadcast. Viewers of the stream see and hear you.',
  );
  readonly #sound = el(
    'button',
    { type: 'button', class: 'button main start-sound', hidden: true },
    'Turn on audio',
  );
  #newsTimer: ReturnType<typeof setTimeout> | undefined;
  #banners = '';

  constructor(root: HTMLElement, parts: { stage: HTMLElement; side: HTMLElement; toolbar: HTMLElement }) {
    this.#root = root;
    const head = el('div', { class: 'call-head' }, this.#title, this.#recording, this.#count);
    root.replaceChildren(
      head,
      this.#banner,
      this.#broadcast,
      this.#consent,
      el(
        'div',
        { class: 'call-body' },
        el('div', { class: 'call-stage' }, parts.stage, this.#sound, this.#news),
        parts.side,
      ),
      parts.toolbar,
    );
  }

  /** Takes the window for itself. */
  open(): void {
    if (!this.#root.hidden) return;
    this.#root.hidden = false;
    document.body.toggleAttribute('data-in-call', true);
    this.#title.focus();
  }

  close(): void {
    clearTimeout(this.#newsTimer);
    this.#root.hidden = true;
    document.body.removeAttribute('data-in-call');
  }

  show({ welcome, participants, recording, broadcast }: RoomState): void {
    const name = welcome?.room.name ?? '';
    announce(this.#title, name);
    this.#title.dir = 'auto';
    document.title = name;
    this.#recording.hidden = !recording;
    this.#broadcast.hidden = !broadcast;
    const people = [...participants.values()].filter(({ bridgeId }) => bridgeId == null).length;
    announce(this.#count, people === 1 ? 'Only you are here' : `${people} people`);
  }

  /** Shows a persistent line of text; '' clears it. `again` offers an immediate retry. */
  warn(text: string, again?: () => void): void {
    if (this.#banners === text) return;
    this.#banners = text;
    this.#banner.hidden = text === '';
    this.#banner.replaceChildren(text);
    if (again === undefined) return;
    const button = el('button', { type: 'button', class: 'button small' }, 'Try now');
    button.addEventListener('click', again);
    this.#banner.append(' ', button);
  }

  /** Shows a line of text for a few seconds and announces it to screen readers; '' clears it. */
  tell(text: string): void {
    if (text === '') return;
    announce(this.#news, text);
    this.#news.toggleAttribute('data-shown', true);
    clearTimeout(this.#newsTimer);
    this.#newsTimer = setTimeout(() => this.#news.removeAttribute('data-shown'), NOTICE_MS);
  }

  /** Asks for consent when a recording begins, and on joining a room that is being recorded. */
  askConsent(onLeave: () => void): void {
    const stay = el('button', { type: 'button', class: 'button small' }, 'I agree');
    const leave = el('button', { type: 'button', class: 'button small' }, 'Leave');
    stay.addEventListener('click', () => this.dropConsent());
    leave.addEventListener('click', onLeave);
    this.#consent.replaceChildren(
      'This room is being recorded, including video, audio and shared screens. By staying, you consent to the recording. ',
      stay,
      ' ',
      leave,
    );
    this.#consent.hidden = false;
  }

  dropConsent(): void {
    this.#consent.hidden = true;
    this.#consent.replaceChildren();
  }

  /** Offers to start audio, which the browser has blocked until a click. */
  offerSound(start: () => void): void {
    this.#sound.hidden = false;
    this.#sound.onclick = () => {
      this.#sound.hidden = true;
      start();
    };
  }
}

/** The choice of devices while one is in the room, and whether single keys work. */
export function openSettings(
  picker: HTMLElement,
  keys: { isOn: boolean; set(isOn: boolean): void },
): Promise<void> {
  const box = el('input', { type: 'checkbox', name: 'keys' });
  box.checked = keys.isOn;
  box.addEventListener('change', () => keys.set(box.checked));
  const dialog = el(
    'dialog',
    { class: 'dialog', 'aria-labelledby': 'settings-heading' },
    el('h2', { id: 'settings-heading' }, 'Settings'),
    picker,
    el(
      'label',
      { class: 'check' },
      box,
      'Shortcuts: M microphone, V camera, S screen, H hand, C chat, P people, G view',
    ),
    el('form', { method: 'dialog' }, el('button', { class: 'button' }, 'Done')),
  );
  document.body.append(dialog);
  dialog.showModal();
  part(dialog, 'button', HTMLElement).focus();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve();
    });
  });
}
