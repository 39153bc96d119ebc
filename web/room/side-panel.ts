import { appendText } from '../chat/links.ts';
import type { ChatLine, Moderation, Participant, Waiting } from './client/protocol.ts';
import type { RoomState } from './client/room-state.ts';
import { announce, el, icon } from './dom.ts';
import { nameOf } from './messages.ts';

export type SideName = 'chat' | 'people';

const CHAT_MAX = 300;
const TEXT_MAX = 1000;
/** Distance from the end, in pixels, beyond which new messages do not scroll the list. */
const AT_END_PX = 60;

/** Media that a host can mute, with the labels for both directions. */
const MUTES = [
  ['AUDIO', 'audio', 'Mute', 'Allow microphone'],
  ['VIDEO', 'video', 'Stop camera', 'Allow camera'],
  ['SCREEN', 'screen', 'Stop screen', 'Allow screen'],
] as const;

interface SideOptions {
  onChat(text: string): void;
  onModerate(moderation: Moderation): void;
  /** Called to remove a participant, after confirmation. */
  onRemove(participant: Participant): void;
  onClose(): void;
}

/** Panel next to the videos: chat or participant list. At most one of the two is open. */
export class SidePanel {
  readonly element = el('aside', { class: 'side', id: 'side', hidden: true });
  readonly #options: SideOptions;
  readonly #heading = el('h2', { tabindex: '-1' });
  readonly #chat = el('div', { class: 'side-chat' });
  readonly #lines = el('div', { class: 'chat-list', role: 'log', 'aria-label': 'Messages', tabindex: '0' });
  readonly #text = el('textarea', { rows: 2, maxlength: TEXT_MAX, 'aria-label': 'Message everyone' });
  readonly #people = el('div', { class: 'side-people' });
  readonly #waiting = el('ul', { class: 'people', 'aria-label': 'Waiting room' });
  readonly #waitingPart: HTMLElement;
  readonly #list = el('ul', { class: 'people', 'aria-label': 'In the room' });
  /** Participants muted by this host, by identity and kind, until unmuted. */
  readonly #muted = new Set<string>();
  #open: SideName | null = null;

  constructor(options: SideOptions) {
    this.#options = options;
    const close = el('button', { type: 'button', class: 'plain', 'aria-label': 'Close' }, icon('close'));
    close.addEventListener('click', () => options.onClose());
    const form = el(
      'form',
      { class: 'chat-row' },
      this.#text,
      el('button', { type: 'submit', class: 'button' }, 'Send'),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#send();
    });
    this.#text.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    this.#chat.append(this.#lines, form);
    this.#waitingPart = el('div', { hidden: true }, el('h3', {}, 'Waiting to be admitted'), this.#waiting);
    this.#people.append(this.#waitingPart, this.#list);
    this.element.append(el('div', { class: 'side-head' }, this.#heading, close), this.#chat, this.#people);
  }

  get open(): SideName | null {
    return this.#open;
  }

  set open(name: SideName | null) {
    this.#open = name;
    this.element.hidden = name === null;
    this.#chat.hidden = name !== 'chat';
    this.#people.hidden = name !== 'people';
    announce(this.#heading, name === 'people' ? 'People' : 'Chat');
    if (name === 'chat') {
      this.#lines.scrollTop = this.#lines.scrollHeight;
      this.#text.focus();
    } else if (name === 'people') this.#heading.focus();
  }

  /** Whether this participant may write; reading is always possible. */
  set mayWrite(may: boolean) {
    this.#text.disabled = !may;
    this.#text.placeholder = may ? '' : 'You can read messages, but not post.';
  }

  add({ identity, name, text, at }: ChatLine): void {
    const isAtEnd = this.#lines.scrollHeight - this.#lines.scrollTop - this.#lines.clientHeight < AT_END_PX;
    const said = el('span', { class: 'chat-text', dir: 'auto' });
    appendText(said, text);
    const time = new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
    const by = el(
      'span',
      { class: 'chat-by' },
      el('bdi', { class: 'chat-author' }, nameOf({ identity, name })),
      ` ${time}`,
    );
    this.#lines.append(el('div', {}, by, said));
    while (this.#lines.childElementCount > CHAT_MAX) this.#lines.firstElementChild?.remove();
    if (isAtEnd) this.#lines.scrollTop = this.#lines.scrollHeight;
  }

  show({ participants, waitingRoom, welcome }: RoomState): void {
    const self = welcome?.self.identity;
    const isHost = welcome?.self.role === 'HOST';
    this.#waitingPart.hidden = !isHost || waitingRoom.length === 0;
    keepFocus(
      this.#waiting,
      waitingRoom.map((person) => this.#waitingRow(person)),
    );
    const raised = [...participants.values()].toSorted((a, b) => Number(b.hand) - Number(a.hand));
    keepFocus(
      this.#list,
      raised.map((person) => this.#row(person, person.identity === self, isHost)),
    );
  }

  #send(): void {
    const text = this.#text.value.trim();
    if (text === '') return;
    this.#options.onChat(text);
    this.#text.value = '';
  }

  #waitingRow(person: Waiting): HTMLElement {
    const name = nameOf(person);
    const act = (action: 'admit' | 'deny', words: string) =>
      this.#button(`${person.identity} ${action}`, words, `${words}: ${name}`, () =>
        this.#options.onModerate({ action, identity: person.identity }),
      );
    return el(
      'li',
      {},
      el('bdi', {}, name),
      el('span', { class: 'people-acts' }, act('admit', 'Admit'), act('deny', 'Deny')),
    );
  }

  #row(person: Participant, isSelf: boolean, isHost: boolean): HTMLElement {
    const { identity, role, audio, video, screen, hand } = person;
    const name = nameOf(person);
    const facts = [
      isSelf ? 'you' : '',
      role === 'HOST' ? 'host' : role === 'VIEWER' ? 'watching' : '',
      hand ? 'hand raised' : '',
      screen ? 'shares the screen' : '',
      role === 'VIEWER' ? '' : audio ? 'microphone on' : 'microphone off',
      video ? 'camera on' : '',
    ].filter((fact) => fact !== '');
    const acts = el('span', { class: 'people-acts' });
    if (isHost && !isSelf) acts.append(...this.#acts(person, name));
    return el(
      'li',
      { 'data-identity': identity },
      el('span', { class: 'people-name' }, el('bdi', {}, name), el('small', {}, facts.join(', '))),
      acts,
    );
  }

  #acts(person: Participant, name: string): HTMLElement[] {
    const { identity } = person;
    const mutes = ([kind, isSent, stop, allow]: (typeof MUTES)[number]) => {
      const key = `${identity} ${kind}`;
      const on = person[isSent];
      if (!on && !this.#muted.has(key)) return [];
      const words = on ? stop : allow;
      const act = () => {
        if (on) this.#muted.add(key);
        else this.#muted.delete(key);
        this.#options.onModerate({ action: 'mute', identity, kind, on });
      };
      return [this.#button(key, words, `${words}: ${name}`, act)];
    };
    const remove = () => this.#options.onRemove(person);
    return [...MUTES.flatMap(mutes), this.#button(`${identity} kick`, 'Remove', `Remove: ${name}`, remove)];
  }

  #button(key: string, words: string, label: string, act: () => void): HTMLElement {
    const attributes = { type: 'button', class: 'button small', 'data-key': key, 'aria-label': label };
    const button = el('button', attributes, words);
    button.addEventListener('click', act);
    return button;
  }
}

/** Replaces the rows; the button that had the focus has it again. */
function keepFocus(list: HTMLElement, rows: HTMLElement[]): void {
  const focused = document.activeElement;
  const key = focused instanceof HTMLElement && list.contains(focused) ? focused.dataset.key : undefined;
  list.replaceChildren(...rows);
  if (key === undefined) return;
  const again = list.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
  (again ?? list.closest('aside')?.querySelector('h2'))?.focus();
}
