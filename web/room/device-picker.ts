import { announce, el, icon } from './dom.ts';
import { Levels } from './levels.ts';
import type { LocalMedia } from './local-media.ts';
import type { Device } from './messages.ts';

const WORDS = {
  CAMERA: { on: 'Turn on the camera', off: 'Turn off the camera', choice: 'Camera', icon: 'camera' },
  MICROPHONE: {
    on: 'Turn on the microphone',
    off: 'Turn off the microphone',
    choice: 'Microphone',
    icon: 'microphone',
  },
} as const;

const DEVICES: readonly Device[] = ['CAMERA', 'MICROPHONE'];

/** Selects camera and microphone, and shows the microphone level and device problems. */
export class DevicePicker {
  readonly element = el('div', { class: 'devices' });
  readonly #media: LocalMedia;
  readonly #levels: Levels;
  readonly #meter = el('meter', {
    'aria-label': 'Microphone level',
    min: 0,
    max: 1,
    low: 0.35,
    high: 0.95,
    optimum: 0.6,
  });
  readonly #rows = new Map<Device, Row>();

  constructor(media: LocalMedia) {
    this.#media = media;
    this.#levels = new Levels((levels) => {
      this.#meter.value = levels.get('own') ?? 0;
    });
    for (const device of DEVICES) {
      const row = makeRow(device, media);
      this.#rows.set(device, row);
      this.element.append(row.element);
    }
    this.#rows.get('MICROPHONE')?.element.append(this.#meter);
    media.onChange((source) => {
      if (source !== 'SCREEN') this.#show();
      if (source === 'MICROPHONE') this.#levels.watch('own', media.track('MICROPHONE'));
    });
    this.#show();
  }

  /** Stops metering the microphone, which may stay in use. */
  close(): void {
    this.#levels.close();
  }

  #show(): void {
    for (const [device, row] of this.#rows) showRow(row, device, this.#media);
    this.#meter.hidden = this.#media.track('MICROPHONE') === null;
  }
}

interface Row {
  element: HTMLElement;
  button: HTMLButtonElement;
  words: HTMLElement;
  picture: HTMLElement;
  choice: HTMLElement;
  select: HTMLSelectElement;
  problem: HTMLElement;
}

function makeRow(device: Device, media: LocalMedia): Row {
  const words = el('span');
  const picture = el('span', { class: 'icon-place' });
  const button = el('button', { type: 'button', class: 'button' }, picture, words);
  const select = el('select');
  const choice = el('label', { class: 'field' }, WORDS[device].choice, select);
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true });
  button.addEventListener('click', async () => {
    if (media.track(device) !== null) return media.turnOff(device);
    button.disabled = true;
    await media.turnOn(device);
    button.disabled = false;
    button.focus();
  });
  select.addEventListener('change', () => void media.turnOn(device, select.value));
  const element = el('div', { class: 'device' }, button, choice, problem);
  return { element, button, words, picture, choice, select, problem };
}

function showRow({ words, picture, choice, select, problem }: Row, device: Device, media: LocalMedia): void {
  const isOn = media.track(device) !== null;
  announce(words, isOn ? WORDS[device].off : WORDS[device].on);
  picture.replaceChildren(icon(WORDS[device].icon, !isOn));
  const choices = media.choices(device);
  choice.hidden = choices.length === 0;
  select.replaceChildren(
    ...choices.map(({ deviceId, label }, index) =>
      el('option', { value: deviceId }, label === '' ? `${WORDS[device].choice} ${index + 1}` : label),
    ),
  );
  select.value = media.chosen(device);
  announce(problem, media.problem(device));
  problem.hidden = media.problem(device) === '';
}
