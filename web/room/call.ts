import { AudioOutput } from './audio-output.ts';
import { CallView, openSettings } from './call-view.ts';
import type { EngineLoaders, TrackSource } from './client/media-engine.ts';
import type { MediaKind, Participant } from './client/protocol.ts';
import { RoomClient } from './client/room-client.ts';
import type { Phase, RoomListener, RoomState } from './client/room-state.ts';
import { DevicePicker } from './device-picker.ts';
import type { Pass } from './join-token.ts';
import { Levels } from './levels.ts';
import type { LocalMedia } from './local-media.ts';
import { type Device, endingOf, leaveMessage, MUTED_MESSAGES, nameOf } from './messages.ts';
import { Presence } from './presence.ts';
import { ask, type ConfirmDialog } from './screen.ts';
import { type SideName, SidePanel } from './side-panel.ts';
import { Stage } from './stage.ts';
import { type Action, Toolbar } from './toolbar.ts';

interface CallOptions {
  root: HTMLElement;
  screen: ConfirmDialog;
  media: LocalMedia;
  /** `wss://…/rtc/rooms/{id}` */
  url: string;
  pass: Pass;
  engines: EngineLoaders;
  /** Returns another token for a guest; null if there is none. */
  renew(name: string): Promise<string | null>;
  /** null: it is of no more use. */
  onPass(pass: Pass | null): void;
}

/** Call from the click on "Join" to the last screen. */
export class Call implements RoomListener {
  readonly #options: CallOptions;
  readonly #client: RoomClient;
  readonly #stage = new Stage();
  readonly #sound: AudioOutput;
  readonly #levels: Levels;
  readonly #side: SidePanel;
  readonly #toolbar: Toolbar;
  readonly #view: CallView;
  readonly #presence = new Presence();
  #isMuted = false;
  #unread = 0;
  #hasConsent = false;
  #isLive = false;

  constructor(options: CallOptions) {
    this.#options = options;
    const { root, media, pass } = options;
    this.#sound = new AudioOutput(() => this.#view.offerSound(() => this.#startSound()));
    this.#levels = new Levels((levels) => this.#stage.showLevels(levels));
    this.#side = new SidePanel({
      onChat: (text) => this.#client.chat(text),
      onModerate: (moderation) => this.#client.moderate(moderation),
      onRemove: (participant) => void this.#remove(participant),
      onClose: () => this.#openSide(null),
    });
    this.#toolbar = new Toolbar((action) => void this.#act(action));
    this.#view = new CallView(root, {
      stage: this.#stage.element,
      side: this.#side.element,
      toolbar: this.#toolbar.element,
    });
    this.#side.element.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') this.#openSide(null);
    });
    this.#client = new RoomClient({
      url: options.url,
      token: pass.token,
      ...(pass.resumeToken === '' ? {} : { resumeToken: pass.resumeToken }),
      engines: options.engines,
      listener: this,
      ...(pass.name === '' ? {} : { renew: () => options.renew(pass.name) }),
      onTokens: (tokens) => options.onPass({ ...tokens, name: pass.name }),
    });
    media.onChange((source) => void this.#sync(source));
  }

  start(): void {
    this.#client.connect();
    for (const source of ['CAMERA', 'MICROPHONE'] as const) void this.#sync(source);
    this.onChange(this.#client.state);
  }

  onChange(state: RoomState): void {
    const { phase, welcome } = state;
    this.#showPhase(phase, state);
    if (welcome === null || phase.name === 'over') return;
    const { identity, role, hand } = state.participants.get(welcome.self.identity) ?? welcome.self;
    const may = welcome.self.permissions;
    const canPublish = may?.canPublish ?? role !== 'VIEWER';
    this.#stage.show(state.participants.values(), identity);
    this.#stage.setPicture(identity, 'CAMERA', this.#options.media.track('CAMERA'));
    this.#side.show(state);
    this.#side.mayWrite = may?.canPublishData ?? true;
    this.#view.show(state);
    this.#askConsent(state.recording);
    const { media } = this.#options;
    const isSharing = media.screen.length > 0;
    const canShare = canPublish && (may?.canScreenShare ?? true) && hasScreens();
    this.#toolbar.set('microphone', { isOn: this.#isHeard(), isHidden: !canPublish });
    this.#toolbar.set('camera', { isOn: media.track('CAMERA') !== null, isHidden: !canPublish });
    this.#toolbar.set('screen', { isOn: isSharing, isHidden: !canShare });
    this.#toolbar.set('hand', { isOn: hand });
    this.#toolbar.set('record', {
      isOn: state.recording,
      isHidden: role !== 'HOST' || welcome.engine === 'mesh' || welcome.canRecord === false,
    });
    this.#toolbar.set('settings', { isHidden: !canPublish });
    this.#toolbar.set('view', { isOn: this.#stage.view === 'speaker' });
    this.#toolbar.set('chat', { isOn: this.#side.open === 'chat', count: this.#unread });
    const waiting = role === 'HOST' ? state.waitingRoom.length : 0;
    this.#toolbar.set('people', { isOn: this.#side.open === 'people', count: waiting });
  }

  onTrack(identity: string, source: TrackSource, track: MediaStreamTrack): void {
    if (track.kind === 'video') {
      this.#stage.setPicture(identity, source, track);
      return;
    }
    this.#sound.set(identity, source, track);
    if (source === 'MICROPHONE') this.#levels.watch(identity, track);
  }

  onTrackGone(identity: string, source: TrackSource): void {
    this.#stage.setPicture(identity, source, null);
    this.#sound.set(identity, source, null);
    if (source === 'MICROPHONE') this.#levels.watch(identity, null);
  }

  onChat(line: Parameters<RoomListener['onChat']>[0]): void {
    this.#side.add(line);
    if (this.#side.open === 'chat') return;
    this.#unread += 1;
    this.#view.tell(`${nameOf(line)}: ${line.text}`);
    this.onChange(this.#client.state);
  }

  onMuted(kind: MediaKind, muted: boolean): void {
    const { media } = this.#options;
    this.#view.tell(MUTED_MESSAGES[kind][muted ? 'muted' : 'lifted']);
    if (!muted) return;
    if (kind === 'AUDIO') void this.#mute(true);
    if (kind === 'VIDEO') media.turnOff('CAMERA');
    if (kind === 'SCREEN') media.unshare();
  }

  onPresence(participant: Participant, reason: string | null): void {
    const name = nameOf(participant);
    if (participant.identity === this.#client.state.welcome?.self.identity) return;
    this.#view.tell(reason === null ? `${name} joined.` : leaveMessage(name, reason));
  }

  onRefused(_code: string, message: string): void {
    this.#view.tell(message);
  }

  #showPhase(phase: Phase, state: RoomState): void {
    const { screen } = this.#options;
    const leave = { words: 'Leave', act: () => this.#client.leave() };
    if (phase.name === 'over') {
      this.#end(phase);
      return;
    }
    if (phase.name === 'waiting') {
      this.#view.close();
      screen.show('Waiting to be admitted', 'The host knows you are waiting. Stay on this page.', [leave]);
      return;
    }
    if (state.welcome === null) {
      const text =
        phase.name === 'connecting'
          ? 'One moment.'
          : 'Cannot reach the server. Retrying… Check your connection.';
      screen.show('Joining…', text, [leave]);
      return;
    }
    screen.hide();
    if (!this.#isLive) this.#presence.start();
    this.#isLive = true;
    this.#view.open();
    if (phase.name === 'reconnecting') {
      this.#view.warn('Connection lost. Reconnecting…', () => this.#client.retry());
    } else
      this.#view.warn(
        state.hasMedia ? '' : 'Audio and video are interrupted. They will resume automatically.',
      );
  }

  #end({ outcome, words }: Extract<Phase, { name: 'over' }>): void {
    const { screen, media, pass } = this.#options;
    this.#presence.end();
    this.#toolbar.close();
    this.#levels.close();
    this.#sound.close();
    this.#view.close();
    media.stop();
    const wasIn = this.#client.state.welcome !== null;
    const { heading, text, again } = endingOf(outcome, words, wasIn);
    const isSpent = again === null || outcome === 'TOKEN';
    this.#options.onPass(isSpent ? null : { ...pass, resumeToken: '' });
    const choices = again === null ? [] : [{ words: again, isMain: true, act: () => location.reload() }];
    screen.show(heading, text, choices, true);
  }

  /** Publishes exactly the tracks of the devices. */
  async #sync(source: TrackSource): Promise<void> {
    const { media } = this.#options;
    const { phase } = this.#client.state;
    if (phase.name === 'over') return;
    const tracks = (source === 'SCREEN' ? [...media.screen] : [media.track(source)]).filter(
      (track) => track !== null,
    );
    if (source === 'MICROPHONE') {
      for (const track of tracks) track.enabled = !this.#isMuted;
    }
    await this.#client.publish(source, tracks);
    if (source === 'MICROPHONE' && this.#isMuted) await this.#client.setMuted(source, true);
    const self = this.#client.state.welcome?.self.identity;
    if (self !== undefined && source === 'SCREEN') {
      const picture = tracks.find(({ kind }) => kind === 'video') ?? null;
      this.#stage.setPicture(self, 'SCREEN', picture);
    }
    if (self !== undefined && source === 'MICROPHONE') this.#levels.watch(self, tracks[0] ?? null);
    this.onChange(this.#client.state);
  }

  async #act(action: Action): Promise<void> {
    const { media } = this.#options;
    const { state } = this.#client;
    switch (action) {
      case 'microphone':
        if (!this.#isHeard() && this.#isRefused('AUDIO')) break;
        if (media.track('MICROPHONE') === null) await this.#start('MICROPHONE');
        else await this.#mute(!this.#isMuted);
        break;
      case 'camera':
        if (media.track('CAMERA') === null && this.#isRefused('VIDEO')) break;
        if (media.track('CAMERA') === null) await this.#start('CAMERA');
        else media.turnOff('CAMERA');
        break;
      case 'screen':
        if (media.screen.length > 0) media.unshare();
        else if (!this.#isRefused('SCREEN')) this.#view.tell(await media.share());
        break;
      case 'hand':
        this.#client.raiseHand(!state.participants.get(state.welcome?.self.identity ?? '')?.hand);
        break;
      case 'chat':
      case 'people':
        this.#openSide(this.#side.open === action ? null : action);
        break;
      case 'view':
        this.#stage.view = this.#stage.view === 'grid' ? 'speaker' : 'grid';
        this.#view.tell(this.#stage.view === 'grid' ? 'Showing everyone.' : 'Showing the active speaker.');
        break;
      case 'record':
        this.#client.moderate({ action: 'record', on: !state.recording });
        break;
      case 'settings':
        return this.#settings();
      case 'leave':
        return this.#leave();
    }
    this.onChange(state);
  }

  async #start(device: Device): Promise<void> {
    const { media } = this.#options;
    if (device === 'MICROPHONE') this.#isMuted = false;
    if (!(await media.turnOn(device))) this.#view.tell(media.problem(device));
  }

  async #mute(isMuted: boolean): Promise<void> {
    this.#isMuted = isMuted;
    await this.#client.setMuted('MICROPHONE', isMuted);
    this.onChange(this.#client.state);
  }

  /** Reports whether a host has muted this kind of media, and shows a message if so. */
  #isRefused(kind: MediaKind): boolean {
    const isRefused = this.#client.state.mutedByHost.has(kind);
    if (isRefused) this.#view.tell(`${MUTED_MESSAGES[kind].muted} Raise your hand to ask.`);
    return isRefused;
  }

  #isHeard(): boolean {
    return this.#options.media.track('MICROPHONE') !== null && !this.#isMuted;
  }

  #openSide(name: SideName | null): void {
    const before = this.#side.open;
    this.#side.open = name;
    if (name === 'chat') this.#unread = 0;
    if (name === null && before !== null) this.#toolbar.focus(before);
    this.onChange(this.#client.state);
  }

  async #settings(): Promise<void> {
    const picker = new DevicePicker(this.#options.media);
    const toolbar = this.#toolbar;
    await openSettings(picker.element, {
      isOn: toolbar.hasKeys,
      set: (isOn) => {
        toolbar.hasKeys = isOn;
      },
    });
    picker.close();
    toolbar.focus('settings');
  }

  async #leave(): Promise<void> {
    if (this.#client.state.welcome?.self.role !== 'HOST') return this.#client.leave();
    const choice = await ask(
      'Leave the room?',
      'Leave and let the others continue, or end the room for everyone.',
      [
        { words: 'Leave', value: 'leave' },
        { words: 'End for everyone', value: 'end' },
      ],
    );
    if (choice === 'leave') this.#client.leave();
    if (choice === 'end') this.#client.moderate({ action: 'end' });
  }

  async #remove(participant: Participant): Promise<void> {
    const name = nameOf(participant);
    const text = 'They are removed from the room immediately and cannot rejoin.';
    const choice = await ask(`Remove ${name}?`, text, [{ words: 'Remove', value: 'kick' }]);
    if (choice === 'kick') this.#client.moderate({ action: 'kick', identity: participant.identity });
  }

  #startSound(): void {
    this.#sound.start();
    this.#levels.resume();
  }

  #askConsent(isRecording: boolean): void {
    if (isRecording && !this.#hasConsent) this.#view.askConsent(() => this.#client.leave());
    if (!isRecording && this.#hasConsent) {
      this.#view.dropConsent();
      this.#view.tell('The recording has ended.');
    }
    this.#hasConsent = isRecording;
  }
}

function hasScreens(): boolean {
  return navigator.mediaDevices !== undefined && 'getDisplayMedia' in navigator.mediaDevices;
}
