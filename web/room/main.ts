import './room.css';
import { Call } from './call.ts';
import type { EngineLoaders } from './client/media-engine.ts';
import { part } from './dom.ts';
import { JoinTokens } from './join-token.ts';
import { Lobby } from './lobby.ts';
import { LocalMedia } from './local-media.ts';
import { ConfirmDialog } from './screen.ts';

/** The engines that this page can speak to; each is loaded when a room has it. */
const engines: EngineLoaders = {
  janus: async () => (await import('./client/janus.ts')).createJanus,
  livekit: async () => (await import('./client/livekit.ts')).createLivekit,
  mesh: async () => (await import('./client/mesh.ts')).createMesh,
};

function start(root: HTMLElement): void {
  const { room = '', gateway = '', pass = '' } = root.dataset;
  const passes = new JoinTokens(room, pass);
  const media = new LocalMedia();
  const screen = new ConfirmDialog(part(root, '[data-screen]', HTMLElement));
  const address = new URL(gateway, location.href);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  const lobby = new Lobby(part(root, '[data-lobby]', HTMLElement), passes, media, (given) => {
    lobby.close();
    new Call({
      root: part(root, '[data-call]', HTMLElement),
      screen,
      media,
      url: address.href,
      pass: given,
      engines,
      renew: async (name) => {
        const answer = await passes.ask(name);
        return typeof answer === 'string' ? null : answer.token;
      },
      onPass: (kept) => passes.keep(kept),
    }).start();
  });
}

// Another link to this room was opened in this tab.
window.addEventListener('hashchange', () => {
  if (location.hash.startsWith('#token=')) location.reload();
});

const root = document.querySelector<HTMLElement>('[data-room]');
if (root !== null) start(root);
