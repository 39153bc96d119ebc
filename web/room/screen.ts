import { announce, el, part } from './dom.ts';

interface Choice {
  words: string;
  isMain?: boolean;
  act(): void;
}

/** Full-page message: joining, waiting, the end. The heading takes the focus. */
export class ConfirmDialog {
  readonly #root: HTMLElement;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  hide(): void {
    this.#root.hidden = true;
  }

  show(heading: string, text: string, choices: Choice[], isOff = false): void {
    const title = part(this.#root, 'h1', HTMLElement);
    const isNew = this.#root.hidden || title.textContent !== heading;
    this.#root.hidden = false;
    part(this.#root, '.bulbs', HTMLElement).toggleAttribute('data-off', isOff);
    announce(title, heading);
    announce(part(this.#root, 'p', HTMLElement), text);
    if (!isNew) return;
    part(this.#root, '.links', HTMLElement).replaceChildren(
      ...choices.map(({ words, isMain, act }) => {
        const button = el('button', { type: 'button', class: isMain ? 'button main' : 'button' }, words);
        button.addEventListener('click', act);
        return el('li', {}, button);
      }),
    );
    title.focus();
  }
}

/** Asks for confirmation of an irreversible action. Resolves with the value of the choice; '' if canceled. */
export function ask(
  heading: string,
  text: string,
  choices: { words: string; value: string }[],
): Promise<string> {
  const dialog = el('dialog', { class: 'dialog', 'aria-labelledby': 'dialog-heading' });
  const form = el('form', { method: 'dialog', class: 'links' });
  for (const { words, value } of [...choices, { words: 'Cancel', value: '' }]) {
    form.append(el('button', { class: 'button', value }, words));
  }
  dialog.append(el('h2', { id: 'dialog-heading' }, heading), el('p', {}, text), form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}
