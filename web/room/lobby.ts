import { DevicePicker } from './device-picker.ts';
import { announce, part } from './dom.ts';
import { type JoinTokens, type Pass, storedName, storeName } from './join-token.ts';
import type { LocalMedia } from './local-media.ts';

const NAME_MAX = 80;

/** The device check and the name, before the room. */
export class Lobby {
  readonly #root: HTMLElement;
  readonly #passes: JoinTokens;
  readonly #media: LocalMedia;
  readonly #picker: DevicePicker;
  readonly #name: HTMLInputElement;
  readonly #problem: HTMLElement;
  readonly #submit: HTMLButtonElement;
  readonly #onPass: (pass: Pass) => void;
  #pass: Pass | null;

  constructor(root: HTMLElement, passes: JoinTokens, media: LocalMedia, onPass: (pass: Pass) => void) {
    this.#root = root;
    this.#passes = passes;
    this.#media = media;
    this.#onPass = onPass;
    this.#picker = new DevicePicker(media);
    part(root, '[data-devices]', HTMLElement).replaceWith(this.#picker.element);
    this.#name = part(root, '[name=name]', HTMLInputElement);
    this.#problem = part(root, '.form .problem', HTMLElement);
    this.#submit = part(root, '[type=submit]', HTMLButtonElement);
    this.#name.value = storedName();
    this.#pass = passes.fromAddress() ?? passes.kept();
    this.#showForm();
    this.#submit.disabled = false;
    media.onChange(() => this.#preview());
    part(root, 'form', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#join();
    });
  }

  close(): void {
    this.#picker.close();
    this.#root.hidden = true;
  }

  /** A link with a name needs no form. */
  #showForm(): void {
    const isNamed = this.#pass !== null;
    for (const element of this.#root.querySelectorAll<HTMLElement>('[data-guest]')) element.hidden = isNamed;
    this.#name.required = !isNamed;
    announce(this.#submit, isNamed ? 'Join' : 'Ask to join');
  }

  #preview(): void {
    const video = part(this.#root, 'video', HTMLVideoElement);
    const track = this.#media.track('CAMERA');
    video.hidden = track === null;
    part(this.#root, '[data-no-preview]', HTMLElement).hidden = track !== null;
    const shown = video.srcObject instanceof MediaStream ? video.srcObject.getTracks()[0] : undefined;
    if (shown === (track ?? undefined)) return;
    video.srcObject = track === null ? null : new MediaStream([track]);
  }

  async #join(): Promise<void> {
    this.#complain('');
    this.#submit.disabled = true;
    const hasBegun = await this.#hasBegun();
    this.#submit.disabled = false;
    if (hasBegun) {
      this.#complain('This room is now being broadcast. Press the button again if you agree.');
      return this.#submit.focus();
    }
    if (this.#pass !== null) return this.#onPass(this.#pass);
    const name = this.#name.value.trim();
    if (name === '' || [...name].length > NAME_MAX) {
      this.#complain(`Enter your name (at most ${NAME_MAX} characters).`);
      this.#name.focus();
      return;
    }
    storeName(name);
    this.#submit.disabled = true;
    const answer = await this.#passes.ask(name);
    this.#submit.disabled = false;
    if (typeof answer === 'string') this.#complain(answer);
    else this.#onPass(answer);
  }

  /** Reports whether a broadcast has begun since the page was last checked, by loading the page again. */
  async #hasBegun(): Promise<boolean> {
    const fact = part(this.#root, '[data-broadcast]', HTMLElement);
    if (!fact.hidden) return false;
    // If the request fails, consent is asked in the room.
    const page = await fetch(location.pathname).then(
      (answer) => answer.text(),
      () => '',
    );
    const now = new DOMParser().parseFromString(page, 'text/html').querySelector('[data-broadcast]');
    fact.hidden = now === null || now.hasAttribute('hidden');
    return !fact.hidden;
  }

  #complain(text: string): void {
    announce(this.#problem, text);
    this.#problem.hidden = text === '';
    this.#name.setAttribute('aria-invalid', String(text !== ''));
  }
}
