import { relativeTime } from '../player/messages.ts';
import { appendText } from './links.ts';
import { type ChatMessage, createReader } from './reader.ts';

const SHOWN_MAX = 200;
const TIMES_MS = 30_000;
/** Distance from the end, in pixels, beyond which new messages do not scroll the list. */
const AT_END_PX = 60;

interface Settings {
  chatMode: string;
  slowModeSec: number;
}

interface Guest {
  session: string;
  name: string;
}

/** Chat panel next to the player: joins the chat, shows its messages and sends new ones. */
class ChatPanel {
  readonly #root: HTMLElement;
  readonly #list: HTMLElement;
  readonly #notice: HTMLElement;
  readonly #nameForm: HTMLFormElement;
  readonly #writeForm: HTMLFormElement;
  readonly #name: HTMLInputElement;
  readonly #text: HTMLTextAreaElement;
  readonly #address: string;
  readonly #suffix: string;
  #settings: Settings;
  #guest: Guest | null;
  #waitTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#list = part(root, '.chat-list', HTMLElement);
    this.#notice = part(root, '.chat-notice', HTMLElement);
    this.#nameForm = part(root, '.chat-name', HTMLFormElement);
    this.#writeForm = part(root, '.chat-write', HTMLFormElement);
    this.#name = part(root, '[name=name]', HTMLInputElement);
    this.#text = part(root, '[name=text]', HTMLTextAreaElement);
    this.#address = root.dataset.chat ?? '';
    this.#suffix = root.dataset.suffix ?? '';
    this.#settings = { chatMode: root.dataset.mode ?? 'OPEN', slowModeSec: Number(root.dataset.slow) };
    this.#guest = this.#remembered();
  }

  start(): void {
    for (const element of this.#list.querySelectorAll<HTMLElement>('.chat-text')) {
      const text = element.textContent ?? '';
      element.textContent = '';
      appendText(element, text);
    }
    this.#showTimes();
    setInterval(() => this.#showTimes(), TIMES_MS);
    this.#list.scrollTop = this.#list.scrollHeight;
    this.#nameForm.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#join();
    });
    this.#writeForm.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#send();
    });
    this.#text.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#writeForm.requestSubmit();
    });
    part(this.#root, '.chat-rename', HTMLElement).addEventListener('click', () => this.#rename());
    this.#showForms();
    createReader({
      address: this.#address,
      suffix: this.#suffix,
      eventId: this.#root.dataset.eventId ?? '',
      onMessage: (message) => this.#show(message),
      onDeleted: (id) => this.#find(id)?.remove(),
      onCleared: () => this.#list.replaceChildren(),
      onSettings: (settings) => {
        this.#settings = settings;
        this.#showForms();
      },
    });
  }

  #showTimes(): void {
    for (const time of this.#list.querySelectorAll('time'))
      time.textContent = relativeTime(new Date(time.dateTime), new Date());
  }

  #find(id: string): Element | null {
    return this.#list.querySelector(`[data-id="${CSS.escape(id)}"]`);
  }

  #show(message: ChatMessage): void {
    const { id, kind, text, deletedAt } = message;
    if (deletedAt !== null || this.#find(id) !== null) return;
    const isAtEnd = this.#list.scrollHeight - this.#list.scrollTop - this.#list.clientHeight < AT_END_PX;
    const item = document.createElement('div');
    item.dataset.id = id;
    if (kind === 'SYSTEM') item.className = 'chat-system';
    else {
      item.dataset.author = message.author.id ?? '';
      item.append(byLine(message));
    }
    const said = element('span', 'chat-text');
    said.dir = 'auto';
    appendText(said, text);
    item.append(said);
    this.#list.append(item);
    while (this.#list.children.length > SHOWN_MAX) this.#list.firstElementChild?.remove();
    if (isAtEnd) this.#list.scrollTop = this.#list.scrollHeight;
  }

  #showForms(): void {
    const { chatMode } = this.#settings;
    const creator = this.#root.dataset.creator ?? '';
    const entitledModes = (this.#root.dataset.entitled ?? '').split(' ');
    const isOpen = chatMode === 'OPEN' || entitledModes.includes(chatMode);
    this.#nameForm.hidden = !isOpen || this.#guest !== null;
    this.#writeForm.hidden = !isOpen || this.#guest === null;
    part(this.#root, '.chat-me', HTMLElement).textContent = this.#guest?.name ?? '';
    // The server renders the same text (`panel.views.ts`).
    if (isOpen) this.#say('');
    else if (chatMode === 'FOLLOWERS') this.#say(`Only followers of ${creator} can post messages.`);
    else if (chatMode === 'TIER') this.#say(`Only members of ${creator} can post messages.`);
    else this.#say('Chat is disabled.');
  }

  #say(text: string): void {
    this.#notice.hidden = text === '';
    this.#notice.textContent = text;
  }

  #rename(): void {
    this.#name.value = this.#guest?.name ?? '';
    this.#nameForm.hidden = false;
    this.#writeForm.hidden = true;
    this.#name.focus();
  }

  async #join(): Promise<void> {
    const name = this.#name.value;
    const session = this.#guest?.session;
    const answer = await this.#post('/guest', session === undefined ? { name } : { name, session });
    if (answer === null) return;
    const { author } = answer;
    this.#guest = { session: String(answer.session), name: String(Object(author).displayName) };
    try {
      localStorage.setItem(this.#key, JSON.stringify(this.#guest));
    } catch {
      // Storage is unavailable: the name is lost when the page is left.
    }
    this.#showForms();
    this.#text.focus();
  }

  async #send(): Promise<void> {
    const text = this.#text.value.trim();
    if (text === '' || this.#guest === null) return;
    const clientId = crypto.getRandomValues(new Uint32Array(2)).join('-');
    this.#text.disabled = true;
    const answer = await this.#post('', { session: this.#guest.session, text, clientId });
    this.#text.disabled = false;
    this.#text.focus();
    if (answer === null) return;
    this.#text.value = '';
    this.#list.scrollTop = this.#list.scrollHeight;
    if (isMessage(answer)) this.#show(answer);
    if (this.#settings.slowModeSec > 0) this.#wait(this.#settings.slowModeSec);
  }

  /** @returns null when the request was rejected; the reason is shown. */
  async #post(path: string, body: object): Promise<Record<string, unknown> | null> {
    const response = await fetch(`${this.#address}${path}${this.#suffix}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).catch(() => null);
    if (response === null) return this.#refuse('No connection. Try again.');
    const answer = await response.json().catch(() => ({}));
    if (response.ok) {
      this.#say('');
      return answer.data;
    }
    if (response.status === 429) {
      this.#wait(Number(response.headers.get('retry-after') ?? '5'));
      return null;
    }
    if (answer.error?.field === 'session') this.#forget();
    return this.#refuse(String(answer.error?.message ?? 'Something went wrong.'));
  }

  #refuse(text: string): null {
    this.#say(text);
    return null;
  }

  #wait(seconds: number): void {
    const button = part(this.#writeForm, '[type=submit]', HTMLButtonElement);
    const until = performance.now() + seconds * 1000;
    clearTimeout(this.#waitTimer);
    const tick = () => {
      const left = Math.ceil((until - performance.now()) / 1000);
      button.disabled = left > 0;
      button.textContent = left > 0 ? `${left} s` : 'Send';
      if (left > 0) this.#waitTimer = setTimeout(tick, 1000);
    };
    tick();
  }

  get #key(): string {
    return `marquee-chat:${this.#root.dataset.stream}`;
  }

  #remembered(): Guest | null {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(this.#key) ?? 'null');
      if (typeof kept !== 'object' || kept === null || !('session' in kept) || !('name' in kept)) return null;
      return { session: String(kept.session), name: String(kept.name) };
    } catch {
      return null;
    }
  }

  #forget(): void {
    this.#guest = null;
    try {
      localStorage.removeItem(this.#key);
    } catch {
      // Storage is unavailable, so there is nothing to remove.
    }
    this.#showForms();
  }
}

function isMessage(answer: Record<string, unknown>): answer is Record<string, unknown> & ChatMessage {
  return typeof answer.id === 'string' && typeof answer.author === 'object';
}

/** Renders the author and time of a message. */
function byLine({ author, createdAt }: ChatMessage): HTMLElement {
  const by = element('span', 'chat-by');
  const name = element('bdi', 'chat-author');
  name.textContent = author.displayName;
  by.append(name);
  if (author.badges.includes('CREATOR')) {
    const badge = element('span', 'badge');
    badge.textContent = 'Creator';
    by.append(' ', badge);
  }
  const time = document.createElement('time');
  time.dateTime = createdAt;
  time.dataset.style = 'relative';
  time.textContent = relativeTime(new Date(createdAt), new Date());
  by.append(' ', time);
  return by;
}

function element(tag: 'span' | 'bdi', className: string): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  return made;
}

function part<T extends Element>(root: Element, selector: string, type: new () => T): T {
  const found = root.querySelector(selector);
  if (found instanceof type) return found;
  throw new Error(`the chat has no ${selector}`);
}

/** Starts the chat on pages that have one. */
export function startChat(): void {
  const root = document.querySelector<HTMLElement>('[data-chat]');
  if (root !== null) new ChatPanel(root).start();
}
