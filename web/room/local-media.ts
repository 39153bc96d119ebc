import type { TrackSource } from './client/media-engine.ts';
import { type Device, deviceProblem } from './messages.ts';

const VIDEO_CONSTRAINTS = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };
const DEVICES_STORAGE_KEY = 'marquee-room-devices';

const KINDS = { CAMERA: 'videoinput', MICROPHONE: 'audioinput' } as const;

/** Camera, microphone and screen of this visitor. Devices are requested only by `turnOn` and `share`. */
export class LocalMedia {
  readonly #tracks = new Map<Device, MediaStreamTrack>();
  readonly #problems = new Map<Device, string>();
  readonly #chosen: Partial<Record<Device, string>> = readChoice();
  readonly #listeners = new Set<(source: TrackSource) => void>();
  #screen: MediaStreamTrack[] = [];
  #devices: MediaDeviceInfo[] = [];

  constructor() {
    navigator.mediaDevices?.addEventListener('devicechange', () => void this.#list());
  }

  /** Called for every changed track, problem and device. */
  onChange(listener: (source: TrackSource) => void): void {
    this.#listeners.add(listener);
  }

  track(device: Device): MediaStreamTrack | null {
    return this.#tracks.get(device) ?? null;
  }

  get screen(): readonly MediaStreamTrack[] {
    return this.#screen;
  }

  /** Returns the problem with its remedy; empty if there is none. */
  problem(device: Device): string {
    return this.#problems.get(device) ?? '';
  }

  /** Returns the devices of a kind. They have no names until one of them has been allowed. */
  choices(device: Device): MediaDeviceInfo[] {
    return this.#devices.filter(({ kind, deviceId }) => kind === KINDS[device] && deviceId !== '');
  }

  chosen(device: Device): string {
    return this.track(device)?.getSettings().deviceId ?? this.#chosen[device] ?? '';
  }

  /** Turns the device on, or switches to another one. @returns whether it is on now. */
  async turnOn(device: Device, deviceId?: string): Promise<boolean> {
    if (deviceId !== undefined) this.#choose(device, deviceId);
    this.#problems.delete(device);
    try {
      const track = await this.#open(device);
      this.#tracks.get(device)?.stop();
      this.#tracks.set(device, track);
      track.addEventListener('ended', () => this.#lost(device, track));
    } catch (error) {
      this.#problems.set(device, deviceProblem(device, error));
    }
    await this.#list();
    this.#tell(device);
    return this.#tracks.has(device);
  }

  turnOff(device: Device): void {
    this.#tracks.get(device)?.stop();
    this.#tracks.delete(device);
    this.#tell(device);
  }

  /** @returns the error message; empty on success, and if the visitor canceled. */
  async share(): Promise<string> {
    let stream: MediaStream;
    try {
      stream = await askForScreen();
    } catch (error) {
      const isChosen = error instanceof DOMException && error.name === 'NotAllowedError';
      return isChosen ? '' : 'The browser could not share the screen. Try again, or choose another window.';
    }
    this.unshare();
    this.#screen = stream.getTracks();
    for (const track of this.#screen) {
      if (track.kind !== 'video') continue;
      track.contentHint = 'detail';
      // The browser shows its own button to stop sharing.
      track.addEventListener('ended', () => this.unshare());
    }
    this.#tell('SCREEN');
    return '';
  }

  unshare(): void {
    for (const track of this.#screen) track.stop();
    this.#screen = [];
    this.#tell('SCREEN');
  }

  stop(): void {
    for (const track of this.#tracks.values()) track.stop();
    this.#tracks.clear();
    this.unshare();
  }

  async #open(device: Device): Promise<MediaStreamTrack> {
    const chosen = this.#chosen[device];
    try {
      return await ask(device, chosen);
    } catch (error) {
      const isGone = error instanceof DOMException && error.name === 'OverconstrainedError';
      if (!isGone || chosen === undefined) throw error;
      return ask(device, undefined);
    }
  }

  #lost(device: Device, track: MediaStreamTrack): void {
    if (this.#tracks.get(device) !== track) return;
    this.#tracks.delete(device);
    this.#problems.set(device, deviceProblem(device, new DOMException('', 'NotFoundError')));
    this.#tell(device);
  }

  #choose(device: Device, deviceId: string): void {
    this.#chosen[device] = deviceId;
    try {
      localStorage.setItem(DEVICES_STORAGE_KEY, JSON.stringify(this.#chosen));
    } catch {
      // Storage is unavailable: the choice is lost when the page is left.
    }
  }

  async #list(): Promise<void> {
    this.#devices = (await navigator.mediaDevices?.enumerateDevices().catch(() => [])) ?? [];
    this.#tell('CAMERA');
  }

  #tell(source: TrackSource): void {
    for (const listener of this.#listeners) listener(source);
  }
}

/** Requests the screen, with its audio if the system supports it. */
async function askForScreen(): Promise<MediaStream> {
  const video = { frameRate: { ideal: 15 } };
  try {
    return await navigator.mediaDevices.getDisplayMedia({ video, audio: true });
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'NotReadableError') throw error;
    return navigator.mediaDevices.getDisplayMedia({ video });
  }
}

async function ask(device: Device, deviceId: string | undefined): Promise<MediaStreamTrack> {
  const choice = deviceId === undefined ? {} : { deviceId: { exact: deviceId } };
  const stream = await navigator.mediaDevices.getUserMedia(
    device === 'CAMERA'
      ? { video: { ...VIDEO_CONSTRAINTS, ...choice } }
      : { audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, ...choice } },
  );
  const [track] = stream.getTracks();
  if (track === undefined) throw new DOMException('', 'NotFoundError');
  return track;
}

function readChoice(): Partial<Record<Device, string>> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(DEVICES_STORAGE_KEY) ?? '{}');
    if (typeof kept !== 'object' || kept === null) return {};
    const choice: Partial<Record<Device, string>> = {};
    if ('CAMERA' in kept && typeof kept.CAMERA === 'string') choice.CAMERA = kept.CAMERA;
    if ('MICROPHONE' in kept && typeof kept.MICROPHONE === 'string') choice.MICROPHONE = kept.MICROPHONE;
    return choice;
  } catch {
    return {};
  }
}
